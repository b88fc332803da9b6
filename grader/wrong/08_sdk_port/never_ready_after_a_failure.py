# %% [markdown]
# Mistake: a server that cannot be started is never ready, so whoever waits for it waits for ever.


# %% id="task4"
class Server:
    def __init__(self, command):
        self.command, self.client, self.reason = command, None, None
        self.ready, self.stop = asyncio.Event(), asyncio.Event()

    async def start(self):
        self.task = asyncio.create_task(own(self))
        ready = asyncio.create_task(self.ready.wait())
        await asyncio.wait([self.task, ready], return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self.task.done():
            self.task.result()

    async def close(self):
        self.stop.set()
        await self.task


async def own(server):
    try:
        async with Client(transport(server.command)) as client:
            server.client = client
            server.ready.set()
            await server.stop.wait()
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        server.reason = str(error)
    finally:
        server.client = None
