# %% [markdown]
# Mistake: `_meta` is written into the dict that was given, which the caller may use again.


# %% id="task1" answer=true
def with_meta(params, capabilities):
    """The params of a request in revision 2026-07-28; what was given stays as it is."""
    meta = {KEY + "protocolVersion": VERSION, KEY + "clientInfo": {"name": "exercise", "version": "9"}}
    meta[KEY + "clientCapabilities"] = capabilities
    params["_meta"] = meta
    return params
