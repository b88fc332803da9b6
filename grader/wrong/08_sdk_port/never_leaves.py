# %% [markdown]
# Mistake: the clients are entered by hand and never left, so their servers live on.


# %% id="task3"
class Hub:
    def __init__(self, commands):
        self.commands, self.clients, self.registry = commands, {}, {}

    async def __aenter__(self):
        async with contextlib.AsyncExitStack() as stack:
            await self.connect(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *error):
        await self._stack.aclose()

    async def connect(self, stack):
        for server, command in self.commands.items():
            client = await Client(transport(command)).__aenter__()
            self.clients[server] = client
            for tool in (await client.list_tools()).tools:
                canonical = tool.name if tool.name not in self.registry else f"{server}/{tool.name}"
                self.registry[canonical] = (server, tool.name)

    async def call(self, name, arguments):
        server, local = self.registry[name]
        result = await self.clients[server].call_tool(local, arguments)
        return result.content[0].text
