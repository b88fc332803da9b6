# %% [markdown]
# Mistake: the server's list decides: its first revision is used, whether the client speaks it or not.


# %% id="task2" answer=true
def open_session(discover, initialize, speaks):
    """Find out which revision the server speaks: the revision to use."""

    def again(error):
        version = error.data["supported"][0]
        discover(version)
        return version

    try:
        result = discover(speaks[0])
    except RpcError as error:
        if error.code == UNSUPPORTED_VERSION:
            return again(error)
        return initialize()["protocolVersion"]
    except TimeoutError:
        try:
            return initialize()["protocolVersion"]
        except RpcError as error:
            if error.code == UNSUPPORTED_VERSION:
                return again(error)
            raise
    return result["supportedVersions"][0]
