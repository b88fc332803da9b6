# %% [markdown]
# Mistake: the call is not awaited, so nothing is sent and the result is a coroutine.


# %% id="task1" answer=true
async def ask(command, tool, arguments):
    """Start a server, call one of its tools, return the text of the result."""
    async with Client(transport(command)) as client:
        result = client.call_tool(tool, arguments)
        return result.content[0].text
