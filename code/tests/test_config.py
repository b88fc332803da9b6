"""The configuration: what loads can be used, and a mistake names the server and the key."""

import json
import warnings

import pytest
from mcp_harness import ConfigError, ServerConfig, load_config


def one(entry, **environ):
    """The only server of a configuration."""
    (config,) = load_config({"mcpServers": {"notes": entry}}, environ=environ)
    return config


def test_servers_come_in_file_order(tmp_path):
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {name: {"command": "x"} for name in ("z", "a", "m")}}), "utf-8")
    assert [config.name for config in load_config(path)] == ["z", "a", "m"]
    assert [config.name for config in load_config(str(path))] == ["z", "a", "m"]


def test_every_option_arrives():
    entry = {"type": "stdio", "command": "c", "args": ["a b"], "env": {"K": "V"}, "cwd": "/tmp", "start_timeout": 2}
    config = one({**entry, "call_timeout": 0.5, "restart": "never", "era": "2025-11-25"})
    assert config == ServerConfig("notes", "c", ("a b",), {"K": "V"}, "/tmp", 2, 0.5, "never", "2025-11-25")


def test_the_defaults_are_those_of_the_documentation():
    config = ServerConfig("n", "c")
    assert (config.args, config.env, config.cwd) == ((), {}, None)
    assert (config.start_timeout, config.call_timeout, config.restart, config.era) == (30.0, 60.0, "on-failure", "auto")


def test_variables_are_replaced_in_command_args_env_and_cwd():
    entry = {"command": "${A}", "args": ["x${A}y${B}"], "env": {"K": "${A}"}, "cwd": "/${B}"}
    config = one(entry, A="1", B="2")
    assert (config.command, config.args, config.env, config.cwd) == ("1", ("x1y2",), {"K": "1"}, "/2")


@pytest.mark.parametrize(("environ", "expected"), [({}, "d:e"), ({"V": ""}, "d:e"), ({"V": "set"}, "set")])
def test_a_default_stands_in_for_an_unset_or_empty_variable(environ, expected):
    assert one({"command": "${V:-d:e}"}, **environ).command == expected


def test_an_empty_default_is_a_default():
    assert one({"command": "c", "args": ["${V:-}"]}).args == ("",)


def test_what_a_variable_contains_is_not_replaced_again():
    assert one({"command": "${A}"}, A="${B}").command == "${B}"


def test_an_undefined_variable_names_server_key_and_variable():
    with pytest.raises(ConfigError, match=r"'notes'.*'env\.KEY'.*\$\{TOKEN\}"):
        one({"command": "c", "env": {"KEY": "${TOKEN}"}})


def test_unknown_keys_warn_and_are_ignored():
    with pytest.warns(UserWarning, match=r"'notes'.*'autoApprove'"):
        assert one({"command": "c", "autoApprove": []}).command == "c"
    with pytest.warns(UserWarning, match="'theme'"):
        assert load_config({"mcpServers": {}, "theme": 1}) == []


def test_a_url_gives_a_server_that_cannot_be_started_and_spoils_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entries = {"web": {"type": "http", "url": "https://example.org", "headers": {}}, "notes": {"command": "c"}}
        web, notes = load_config({"mcpServers": entries})
    assert "URL" in web.problem
    assert notes.problem is None


@pytest.mark.parametrize(
    "text", ['{"a": {"command": "x"}, "a": {"command": "y"}}', '{"a": {"command": "x", "command": "y"}}']
)
def test_a_key_that_stands_twice_is_an_error(tmp_path, text):
    path = tmp_path / "servers.json"
    path.write_text(f'{{"mcpServers": {text}}}', "utf-8")
    with pytest.raises(ConfigError, match="twice"):
        load_config(path)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"servers": {}}', '{"mcpServers": []}', "[" * 100_000])
def test_a_file_without_servers_is_a_config_error(tmp_path, text):
    path = tmp_path / "servers.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError):
        load_config(path)


def test_a_missing_file_is_a_config_error_with_its_name(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.json"):
        load_config(tmp_path / "nowhere.json")


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "servers.json"
    path.write_text('\ufeff{"mcpServers": {}}', "utf-8")
    assert load_config(path) == []


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("command", {}),
        ("command", {"command": ""}),
        ("command", {"command": ["x"]}),
        ("args", {"command": "c", "args": "-y pkg"}),
        ("args", {"command": "c", "args": [1]}),
        ("env", {"command": "c", "env": {"A": 1}}),
        ("env", {"command": "c", "env": []}),
        ("cwd", {"command": "c", "cwd": 5}),
        ("start_timeout", {"command": "c", "start_timeout": 0}),
        ("start_timeout", {"command": "c", "start_timeout": "5"}),
        ("call_timeout", {"command": "c", "call_timeout": float("inf")}),
        ("call_timeout", {"command": "c", "call_timeout": True}),
        ("restart", {"command": "c", "restart": "always"}),
        ("era", {"command": "c", "era": "2030-01-01"}),
        ("type", {"command": "c", "type": "carrier pigeon"}),
    ],
)
def test_a_mistake_in_an_entry_names_server_and_key(key, entry):
    with pytest.raises(ConfigError, match=rf"'notes'.*'{key}'"):
        one(entry)


@pytest.mark.parametrize("name", ["", "a/b", "a b", "ü", "x" * 33, 5, "a\n"])
def test_a_name_that_is_no_server_name_is_refused(name):
    with pytest.raises(ConfigError, match="letters"):
        ServerConfig(name, "c")


def test_a_config_does_not_change_with_what_it_was_made_from():
    args, env = ["a"], {"A": "1"}
    config = ServerConfig("n", "c", args, env)
    args.append("b")
    env["B"] = "2"
    assert (config.args, config.env) == (("a",), {"A": "1"})
