# %% [markdown]
# Mistake: only the beginning is kept; the end of a log, where the error stands, is lost.


# %% id="task3" answer=true
def cap(text, limit):
    """Head and tail of a text, with a note between them of how many bytes are missing."""
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text
    head = data[:limit].decode("utf-8", "ignore")
    return f"{head}\n[… {len(data) - len(head.encode())} bytes cut …]\n"


def mark(text, draw):
    """The text between two lines with a random word that does not occur in it."""
    word = draw()
    while word in text:
        word = draw()
    return f"<<<untrusted {word}\n{text}\n<<<end of untrusted {word}"
