# %% [markdown]
# Mistake: the limit counts characters, so a text in another alphabet is several times as long.


# %% id="task3" answer=true
def cap(text, limit):
    """Head and tail of a text, with a note between them of how many bytes are missing."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 2], text[-(limit // 2) :]
    return f"{head}\n[… {len(text) - len(head) - len(tail)} bytes cut …]\n{tail}"


def mark(text, draw):
    """The text between two lines with a random word that does not occur in it."""
    word = draw()
    while word in text:
        word = draw()
    return f"<<<untrusted {word}\n{text}\n<<<end of untrusted {word}"
