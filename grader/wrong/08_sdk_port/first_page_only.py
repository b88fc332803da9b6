# %% [markdown]
# Mistake: the first page is taken for the whole list.


# %% id="task2"
async def list_all(client):
    return [tool.name for tool in (await client.list_tools()).tools]
