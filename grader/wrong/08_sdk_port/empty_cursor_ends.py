# %% [markdown]
# Mistake: `while cursor` ends at an empty cursor, which is a cursor like any other.


# %% id="task2"
async def list_all(client):
    page = await client.list_tools()
    names = [tool.name for tool in page.tools]
    while page.next_cursor:
        page = await client.list_tools(cursor=page.next_cursor)
        names += [tool.name for tool in page.tools]
    return names
