# %% [markdown]
# Mistake: what follows the last newline is thrown away, so a message that comes in two reads is lost.


# %% id="task1" answer=true
def encode(message):
    """One message as one line of bytes."""
    return json.dumps(message).encode() + b"\n"


def split_lines(buffer):
    """The complete lines in these bytes, and the rest: ([bytes, …], bytes)."""
    lines, rest = [line for line in buffer.split(b"\n") if line.endswith(b"}")], b""
    return lines, rest
