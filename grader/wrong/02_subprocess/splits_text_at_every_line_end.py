# %% [markdown]
# Mistake: the bytes become text and are cut by splitlines, which also cuts at U+2028, and in the middle of a letter.


# %% id="task1" answer=true
def encode(message):
    """One message as one line of bytes."""
    return json.dumps(message).encode() + b"\n"


def split_lines(buffer):
    """The complete lines in these bytes, and the rest: ([bytes, …], bytes)."""
    pieces = [piece.encode() for piece in buffer.decode("utf-8", "ignore").splitlines(keepends=True)]
    rest = b"" if not pieces or pieces[-1].endswith(b"\n") else pieces.pop()
    return [piece.rstrip(b"\n") for piece in pieces], rest
