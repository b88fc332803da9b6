# %% [markdown]
# Mistake: it cleans and cuts, but a server called 7zip still gives a name that begins with a digit.

# %% id="task4" answer=true
LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")


def digest(server, tool):
    """Twelve hexadecimal digits for a pair; another pair gives others."""
    return hashlib.sha256(f"{len(server)}:{server}{tool}".encode()).hexdigest()[:12]


def model_name(server, tool):
    """The name of a tool for a model: legal, unique, and a function of the pair alone."""
    plain = f"{server}__{tool}"
    clear = all("__" not in part and part == part.strip("_") for part in (server, tool))
    if clear and LEGAL.fullmatch(plain):
        return plain
    first, second = (re.sub(r"[^A-Za-z0-9-]+", "_", part).strip("_") for part in (server, tool))
    return f"{first[:18]}__{second[:26]}__{digest(server, tool)}"
