# %% [markdown]
# Mistake: the reason is the text of the outermost group, which says nothing of what happened.


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
        server.reason = str(error)
    finally:
        server.client = None
        server.ready.set()
