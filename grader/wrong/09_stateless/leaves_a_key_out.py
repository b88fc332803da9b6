# %% [markdown]
# Mistake: a client that can do nothing leaves `clientCapabilities` out, as if empty meant absent.


# %% id="task1" answer=true
def with_meta(params, capabilities):
    """The params of a request in revision 2026-07-28; what was given stays as it is."""
    meta = {KEY + "protocolVersion": VERSION, KEY + "clientInfo": {"name": "exercise", "version": "9"}}
    if capabilities:
        meta[KEY + "clientCapabilities"] = capabilities
    return {**params, "_meta": meta}
