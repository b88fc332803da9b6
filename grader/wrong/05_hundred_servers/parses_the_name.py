# %% [markdown]
# Mistake: the server is cut out of the canonical name; a tool whose own name has a slash is counted elsewhere.

# %% id="task1" answer=true
def counts(registry, servers):
    """How many entries each of these servers has: {server name: number}."""
    numbers = dict.fromkeys(servers, 0)
    for name, entry in registry.items():
        numbers[name.split("/")[0] if "/" in name else entry.server_name] += 1
    return numbers
