# %% [markdown]
# Mistake: the table is filled with update, so a later server takes the name of an earlier one in silence.


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
        self.table = {}
        for server in self.servers.values():
            for tool in server.tools:
                self.table[tool["name"]] = main.MergedTool(tool["name"], server.name, tool["name"], "")

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
        return line + (f"; not ready: {', '.join(absent)}" if absent else "")

    def close(self):
        """End all servers."""
        for server in self.servers.values():
            server.close()
