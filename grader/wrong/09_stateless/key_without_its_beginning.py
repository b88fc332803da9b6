# %% [markdown]
# Mistake: the third key is written without the beginning that the protocol's own keys have.


# %% id="task1" answer=true
def with_meta(params, capabilities):
    """The params of a request in revision 2026-07-28; what was given stays as it is."""
    meta = {KEY + "protocolVersion": VERSION, KEY + "clientInfo": {"name": "exercise", "version": "9"}}
    meta["clientCapabilities"] = capabilities
    return {**params, "_meta": meta}
