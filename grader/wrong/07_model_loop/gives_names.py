# %% [markdown]
# Mistake: the names of the tools come back, and the tools themselves are lost.


# %% id="task5" answer=true
def choose(tools, query, k):
    """The k tools that fit the query best, the best first."""
    known = {tool.canonical_name: words(f"{tool.local_name} {tool.definition['description']}") for tool in tools}
    worth = {word: len(tools) + 1 - sum(word in its for its in known.values()) for word in words(query)}

    def points(name):
        return sum(worth[word] for word in worth if word in known[name])

    return sorted(known, key=points, reverse=True)[:k]
