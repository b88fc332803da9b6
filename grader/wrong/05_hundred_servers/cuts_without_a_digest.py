# %% [markdown]
# Mistake: what is not allowed becomes _ and the rest is cut at 63; two long names become the same.

# %% id="task4" answer=true
LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")


def digest(server, tool):
    """Twelve hexadecimal digits for a pair; another pair gives others."""
    return hashlib.sha256(f"{len(server)}:{server}{tool}".encode()).hexdigest()[:12]


def model_name(server, tool):
    """The name of a tool for a model: legal, unique, and a function of the pair alone."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}__{tool}")[:63]
    return name if name[0].isalpha() else f"s{name}"[:63]
