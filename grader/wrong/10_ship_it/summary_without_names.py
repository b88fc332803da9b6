# %% [markdown]
# Mistake: the summary has numbers only, and nobody learns which server is missing.


# %% id="task4" answer=true
class Harness:
    """Many servers behind one table of tools."""

    def __init__(self, document, allowed, policy="prefix"):
        self.names = list(document["mcpServers"])
        if policy not in ("prefix", "reject"):
            raise ValueError(f"unknown policy {policy!r}: use 'prefix' or 'reject'")
        commands, refused = plan(document, allowed)
        self.servers, failed = start_all(commands)
        self.reasons = {**refused, **failed}
        self.table = main.merge(self.servers, main.Policy[policy.upper()])

    def tools(self):
        """The dispatch table: canonical name → entry."""
        return self.table

    def call(self, name, arguments, timeout=10.0):
        """Route one call; what goes wrong is an error result."""
        return call(self.table, self.servers, name, arguments, timeout)

    def status(self):
        """Every server of the document → "ready", or why it is not."""
        status = {}
        for name in self.names:
            server = self.servers.get(name)
            if server is None:
                status[name] = self.reasons[name]
            else:
                status[name] = "ready" if server.alive else f"{server.state}: {server.reason}"
        return status

    def summary(self):
        """One line: servers ready, tools, and who is missing."""
        status = self.status()
        absent = [f"{name} ({reason})" for name, reason in status.items() if reason != "ready"]
        line = f"{len(status) - len(absent)} of {len(status)} servers ready, {len(self.table)} tools"
        return line

    def close(self):
        """End all servers."""
        for server in self.servers.values():
            server.close()
