# %% [markdown]
# Mistake: the sort turns equal tools round, so the choice depends on nothing that can be explained.


# %% id="task5" answer=true
def choose(tools, query, k):
    """The k tools that fit the query best, the best first."""
    known = [words(f"{tool.local_name} {tool.definition['description']}") for tool in tools]
    worth = {word: len(tools) + 1 - sum(word in its for its in known) for word in words(query)}
    points = [sum(worth[word] for word in worth if word in its) for its in known]
    order = sorted(((score, place) for place, score in enumerate(points)), reverse=True)
    return [tools[place] for _, place in order[:k]]
