# %% [markdown]
# Mistake: every shared word counts one, so a word that all tools have decides as much as a rare one.


# %% id="task5" answer=true
def choose(tools, query, k):
    """The k tools that fit the query best, the best first."""
    wanted = words(query)

    def points(tool):
        return len(wanted & words(f"{tool.local_name} {tool.definition['description']}"))

    return sorted(tools, key=points, reverse=True)[:k]
