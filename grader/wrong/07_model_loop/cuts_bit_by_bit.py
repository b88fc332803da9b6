# %% [markdown]
# Mistake: the middle is taken out character by character, and the whole text is counted again each time.


# %% id="task3" answer=true
def cap(text, limit):
    """Head and tail of a text, with a note between them of how many bytes are missing."""
    if len(text.encode("utf-8")) <= limit:
        return text
    head, tail, size = text, text, len(text.encode("utf-8"))
    while len(head.encode("utf-8")) > limit // 2:
        head = head[:-1]
    while len(tail.encode("utf-8")) > limit // 2:
        tail = tail[1:]
    return f"{head}\n[… {size - len(head.encode()) - len(tail.encode())} bytes cut …]\n{tail}"


def mark(text, draw):
    """The text between two lines with a random word that does not occur in it."""
    word = draw()
    while word in text:
        word = draw()
    return f"<<<untrusted {word}\n{text}\n<<<end of untrusted {word}"
