# %% [markdown]
# Mistake: `clientCapabilities` is always empty, whatever the client can do.


# %% id="task1" answer=true
def with_meta(params, capabilities):
    """The params of a request in revision 2026-07-28; what was given stays as it is."""
    meta = {KEY + "protocolVersion": VERSION, KEY + "clientInfo": {"name": "exercise", "version": "9"}}
    meta[KEY + "clientCapabilities"] = {}
    return {**params, "_meta": meta}
