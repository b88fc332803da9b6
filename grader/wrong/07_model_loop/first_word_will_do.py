# %% [markdown]
# Mistake: the first word is taken without a look at the text, so a text that knows it can end the mark.


# %% id="task3" answer=true
def cap(text, limit):
    """Head and tail of a text, with a note between them of how many bytes are missing."""
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text
    head = data[: limit // 2].decode("utf-8", "ignore")
    tail = data[-(limit // 2) :].decode("utf-8", "ignore")
    cut = len(data) - len(head.encode("utf-8")) - len(tail.encode("utf-8"))
    return f"{head}\n[… {cut} bytes cut …]\n{tail}"


def mark(text, draw):
    """The text between two lines with a random word that does not occur in it."""
    word = draw()
    return f"<<<untrusted {word}\n{text}\n<<<end of untrusted {word}"
