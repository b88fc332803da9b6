# %% [markdown]
# Mistake: a second pair with the same text gets _2: who is asked first has the shorter name, so names depend on order.

# %% id="task4" answer=true
LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")


def digest(server, tool):
    """Twelve hexadecimal digits for a pair; another pair gives others."""
    return hashlib.sha256(f"{len(server)}:{server}{tool}".encode()).hexdigest()[:12]


GIVEN = {}


def model_name(server, tool):
    """The name of a tool for a model: legal, unique, and a function of the pair alone."""
    pair, name = (server, tool), re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}__{tool}")[:60]
    name = name if LEGAL.fullmatch(name) else f"s{name}"
    wanted, number = name, 1
    while GIVEN.setdefault(name, pair) != pair:
        number += 1
        name = f"{wanted}_{number}"
    return name
