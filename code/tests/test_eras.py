"""Protocol revisions: what opens a session, on a peer that is only a list of answers."""

import pytest
from mcp_harness import ConfigError, HandshakeError, RpcError, eras


class Peer:
    """Answers each request with the next of `answers` and keeps what was said."""

    server, capabilities = "files", {"roots": {}}

    def __init__(self, *answers):
        self.answers, self.said = list(answers), []

    def request(self, method, params, deadline):
        self.said.append((method, params))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def notify(self, method, params=None):
        self.said.append((method, params))


@pytest.mark.parametrize("era", ["auto", "2025-11-25"])
def test_initialize_comes_first_and_is_acknowledged(era):
    peer = Peer({"protocolVersion": "2025-11-25"})
    eras.choose("files", era).open(peer, 1.0)
    (method, params), acknowledged = peer.said
    assert method == "initialize"
    assert (params["protocolVersion"], params["capabilities"]) == ("2025-11-25", {"roots": {}})
    assert params["clientInfo"]["name"]
    assert acknowledged == ("notifications/initialized", None)


@pytest.mark.parametrize("version", ["2025-06-18", "2025-03-26", "2024-11-05"])
def test_a_server_of_an_older_revision_is_accepted(version):
    peer = Peer({"protocolVersion": version})
    eras.choose("files", "auto").open(peer, 1.0)
    assert len(peer.said) == 2


@pytest.mark.parametrize("version", ["2026-07-28", "1.0", None, 5, [], {}])
def test_a_version_that_we_do_not_speak_ends_the_session_unacknowledged(version):
    peer = Peer({"protocolVersion": version})
    with pytest.raises(HandshakeError, match="'files'"):
        eras.choose("files", "auto").open(peer, 1.0)
    assert len(peer.said) == 1


def test_a_refusal_is_a_handshake_error_with_the_servers_words():
    peer = Peer(RpcError("files", -32600, "not today"))
    with pytest.raises(HandshakeError, match="not today"):
        eras.choose("files", "auto").open(peer, 1.0)


def test_a_revision_that_is_not_built_yet_is_named():
    with pytest.raises(ConfigError, match=r"'files'.*2026-07-28"):
        eras.choose("files", "2026-07-28")
