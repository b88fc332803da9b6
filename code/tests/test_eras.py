"""Protocol revisions: what opens a session, on a peer that is only a list of answers."""

import pytest
from mcp_harness import BadReply, HandshakeError, RpcError, eras, probe, wire


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


def test_initialize_comes_first_and_is_acknowledged():
    peer = Peer({"protocolVersion": "2025-11-25"})
    eras.Initialize().open(peer, 1.0)
    (method, params), acknowledged = peer.said
    assert method == "initialize"
    assert (params["protocolVersion"], params["capabilities"]) == ("2025-11-25", {"roots": {}})
    assert params["clientInfo"]["name"]
    assert acknowledged == ("notifications/initialized", None)


@pytest.mark.parametrize("version", ["2025-06-18", "2025-03-26", "2024-11-05"])
def test_a_server_of_an_older_revision_is_accepted(version):
    peer = Peer({"protocolVersion": version})
    eras.Initialize().open(peer, 1.0)
    assert len(peer.said) == 2


@pytest.mark.parametrize("version", ["2026-07-28", "1.0", None, 5, [], {}])
def test_a_version_that_we_do_not_speak_ends_the_session_unacknowledged(version):
    peer = Peer({"protocolVersion": version})
    with pytest.raises(HandshakeError, match="'files'"):
        eras.Initialize().open(peer, 1.0)
    assert len(peer.said) == 1


def test_a_refusal_is_a_handshake_error_with_the_servers_words():
    peer = Peer(RpcError("files", -32600, "not today"))
    with pytest.raises(HandshakeError, match="not today"):
        eras.Initialize().open(peer, 1.0)


# --- 2026-07-28


NEW = "2026-07-28"


def test_discover_tells_what_the_server_can_do_and_nothing_is_acknowledged():
    peer = Peer({"supportedVersions": [NEW], "capabilities": {"tools": {}}})
    assert eras.Stateless({}).open(peer, 1.0)["capabilities"] == {"tools": {}}
    assert peer.said == [("server/discover", None)]


def test_each_request_carries_version_name_and_capabilities():
    dressed = eras.Stateless({"roots": {}}).dress({"name": "echo"})
    assert dressed["name"] == "echo"
    meta = {key.removeprefix(eras.META): value for key, value in dressed["_meta"].items()}
    assert meta == {"protocolVersion": NEW, "clientInfo": eras.CLIENT_INFO, "clientCapabilities": {"roots": {}}}
    assert eras.Initialize().dress({"name": "echo"}) == {"name": "echo"}


@pytest.mark.parametrize("offered", [["2031-01-01"], [], None, "2026-07-28", {NEW: 1}, ["2025-11-25"]])
def test_without_a_version_that_both_speak_the_server_is_given_up(offered):
    with pytest.raises(HandshakeError, match=f"{NEW}"):
        eras.Stateless({}).open(Peer({"supportedVersions": offered}), 1.0)


@pytest.mark.parametrize("code", [-32601, -32602, -32603])
def test_a_refused_discover_never_leads_to_initialize(code):
    peer = Peer(RpcError("files", code, "no"))
    with pytest.raises(HandshakeError, match="no"):
        eras.Stateless({}).open(peer, 1.0)
    assert [method for method, _ in peer.said] == ["server/discover"]


def test_a_capability_that_the_server_needs_is_named():
    error = RpcError("files", -32021, "no", {"requiredCapabilities": {"elicitation": {}}})
    with pytest.raises(HandshakeError, match=r"elicitation.*handler"):
        eras.Stateless({}).open(Peer(error), 1.0)


@pytest.mark.parametrize(("kind", "fits"), [("complete", True), ("input_required", True), ("partial", False)])
def test_a_result_says_what_kind_it_is(kind, fits):
    result = {"resultType": kind, "content": []}
    if fits:
        assert eras.Stateless({}).judge("files", "tools/call", result) is result
    else:
        with pytest.raises(BadReply, match="partial"):
            eras.Stateless({}).judge("files", "tools/call", result)
    assert eras.Initialize().judge("files", "tools/call", result) is result


def test_a_configured_revision_is_chosen_and_auto_is_found_out():
    kinds = [type(probe.choose(era, {})) for era in ("2025-11-25", NEW, "auto")]
    assert kinds == [eras.Initialize, eras.Stateless, probe.Probe]


PARAMS = ({}, {"name": "echo", "arguments": {"text": "ä\n"}}, {"_meta": {"progressToken": 7}}, {"a": {}, "_meta": 1})


@pytest.mark.parametrize("era", [eras.Initialize(), eras.Stateless({"roots": {}}), probe.Probe()])
@pytest.mark.parametrize("params", PARAMS)
def test_a_request_is_encoded_as_its_dressed_message_would_be(era, params):
    message = wire.request(7, 'odd"method', era.dress(params))
    assert era.encode(7, 'odd"method', params) == wire.encode(message)


@pytest.mark.parametrize("params", [[1], "text", {"x": float("nan")}, {"x": {1}}])
def test_parameters_that_are_no_object_of_json_are_refused(params):
    for era in (eras.Initialize(), eras.Stateless({})):
        with pytest.raises((TypeError, ValueError)):
            era.encode(7, "tools/call", params)
