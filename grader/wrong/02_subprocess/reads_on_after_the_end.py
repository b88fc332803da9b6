# %% [markdown]
# Mistake: the end of the pipe is taken for a silent server, so the client reads on for ever.


# %% id="task3" answer=true
class Stub:
    """A process in the place of a server function: message in, reply out."""

    def __init__(self, process, session):
        self.process, self.session = process, session

    def __call__(self, message):
        try:
            send(self.process, message)
        except OSError:
            self.session.alive = False
            raise RuntimeError("has died") from None
        while "id" in message:
            line = self.process.stdout.readline()
            if line.strip():
                reply = json.loads(line)
                if reply.get("id") == message["id"]:
                    return reply
