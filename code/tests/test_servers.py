"""The servers of main.py behind a pipe, in both revisions."""

import json
import subprocess
import sys
from pathlib import Path

import main
import pytest
from servers.stateless import META

FOLDER = Path(main.__file__).parent / "servers"
NAMES = ["notes", "files", "github"]
MODERN = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}


def talk(name, *messages, era=None, cwd=None):
    """What a server process answers to these messages (dicts, or bytes as they are), then to the end of stdin."""
    lines = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    command = [sys.executable, FOLDER / f"{name}.py", *(["--era", era] if era else [])]
    run = subprocess.run(command, input=b"\n".join(lines) + b"\n", capture_output=True, timeout=30, cwd=cwd)
    assert run.returncode == 0
    assert run.stderr == b""
    return [json.loads(line) for line in run.stdout.splitlines()]


def ask(method, id=1, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


@pytest.mark.parametrize("name", NAMES)
def test_a_process_answers_as_its_stub_does(name, tmp_path):
    stub = {"notes": main.make_notes_server, "files": main.make_files_server, "github": main.make_github_server}[name]()
    messages = [ask("initialize"), ask("tools/list", 2), ask("tools/call", 3, name="search", arguments={"query": "p"})]
    messages += [ask("server/discover", 4), ask("ping", "five"), ask("tools/call", 6, name="nobody")]
    assert talk(name, *messages, cwd=tmp_path) == [stub(message) for message in messages]


def test_a_notification_and_an_empty_line_get_no_answer():
    assert talk("files", {"jsonrpc": "2.0", "method": "notifications/initialized"}, b"", b"\r") == []


def test_a_line_that_is_no_message_gets_an_error_and_the_next_line_works():
    strange = [b"hello", b"\xff\xfe", b"[1]", b'{"id": 1}', b'{"id": 1, "method": "tools/call", "params": 3}']
    replies = talk("files", *strange, ask("ping", 2))
    codes = [reply.get("error", {}).get("code") for reply in replies]
    assert codes == [-32700, -32700, -32600, -32600, -32603, None]
    assert replies[-1] == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_text_outside_ascii_comes_back_whole():
    create = ask("tools/call", name="create", arguments={"title": "naïve \u2028 日本", "text": "x"})
    find = ask("tools/call", 2, name="search", arguments={"query": "日本"})
    assert talk("notes", create, find)[1]["result"]["content"][0]["text"] == "naïve \u2028 日本"


# --- revision 2026-07-28


def test_discover_gives_versions_capabilities_and_the_name_in_meta():
    (reply,) = talk("notes", ask("server/discover", _meta=MODERN), era="2026-07-28")
    result = reply["result"]
    assert result["resultType"] == "complete"
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["capabilities"]["tools"] == {"listChanged": True}
    assert result["_meta"][META + "serverInfo"]["name"] == "notes-server"
    assert {"ttlMs", "cacheScope"} <= set(result)


@pytest.mark.parametrize("name", NAMES)
def test_a_list_says_how_long_it_may_be_kept_and_a_call_does_not(name):
    call = ask("tools/call", 2, name="search", arguments={"query": "p"}, _meta=MODERN)
    listed, called = talk(name, ask("tools/list", _meta=MODERN), call, era="2026-07-28")
    assert {"tools", "resultType", "ttlMs", "cacheScope"} == set(listed["result"])
    assert {"content", "isError", "resultType"} == set(called["result"])


def test_without_the_required_meta_keys_a_request_is_minus_32602():
    only_version = {META + "protocolVersion": "2026-07-28"}
    replies = talk("files", ask("tools/list"), ask("tools/list", _meta=only_version), era="2026-07-28")
    assert [reply["error"]["code"] for reply in replies] == [-32602, -32602]


def test_another_version_is_minus_32022_with_what_is_supported():
    meta = {**MODERN, META + "protocolVersion": "1900-01-01"}
    (reply,) = talk("files", ask("server/discover", _meta=meta), era="2026-07-28")
    assert reply["error"]["code"] == -32022
    assert reply["error"]["data"] == {"supported": ["2026-07-28"], "requested": "1900-01-01"}


@pytest.mark.parametrize("method", ["initialize", "ping"])
def test_what_the_newer_revision_removed_is_unknown(method):
    (reply,) = talk("files", ask(method, _meta=MODERN), era="2026-07-28")
    assert reply["error"]["code"] == -32601


def test_a_stream_of_changes_is_acknowledged_where_changes_are_declared_and_unknown_elsewhere():
    listen = ask("subscriptions/listen", "L1", notifications={"toolsListChanged": True, "x": 1}, _meta=MODERN)
    (acknowledged,) = talk("notes", listen, era="2026-07-28")
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["_meta"] == {META + "subscriptionId": "L1"}
    assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
    (refused,) = talk("files", listen, era="2026-07-28")
    assert refused["error"]["code"] == -32601
