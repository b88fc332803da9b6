# %% [markdown]
# Mistake: the cursor is looked at but never sent, so the first page comes again and again.


# %% id="task2"
async def list_all(client):
    names = []
    while True:
        page = await client.list_tools()
        names += [tool.name for tool in page.tools]
        if page.next_cursor is None:
            return names
