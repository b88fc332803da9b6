# %% [markdown]
# Mistake: nextCursor is never followed, so the tools of the second page do not exist.


# %% id="task3" answer=true
def list_all(request):
    """All tools, page by page."""
    result = request("tools/list", {})
    tools = list(result["tools"])
    return tools


def work(inbox, request, session):
    """Keep session.tools fresh until None comes. Runs in a thread of its own."""
    while True:
        batch = [inbox.get()]
        while not inbox.empty():
            batch.append(inbox.get())
        if any(message is not None and message["method"] == lesson.LIST_CHANGED for message in batch):
            session.tools = list_all(request)
        if None in batch:
            return
