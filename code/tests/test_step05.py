"""The small client after lesson 5: a bounded start, a trie, names that no order changes."""

import itertools
import random
import sys
from pathlib import Path

import main
from mcp_harness import namespace
from steps import step01_namespace as step01
from steps import step05_hundred_servers as step

SERVERS = Path(main.__file__).parent / "servers"
AWKWARD = ["a", "_a", "a_", "a__b", "b", "b__c", "a.b", "a/b", "a b", "1st", "-", "ünï", "x" * 90, "x" * 91]


def test_servers_are_ready_in_the_given_order_and_failures_stand_apart():
    kinds = ("notes", "broken", "files", "github")
    commands = {kind: [sys.executable, str(SERVERS / f"{kind}.py")] for kind in kinds} | {"absent": ["no-such-program"]}
    ready, failed = step.connect_all(commands, at_once=2)
    try:
        assert list(ready) == ["notes", "files", "github"]
        assert {name: type(error).__name__ for name, error in failed.items()} == {
            "broken": "ServerDied",
            "absent": "FileNotFoundError",
        }
        assert step.counts(step01.merge(ready), [*ready, "absent"]) == {
            "notes": 2,
            "files": 2,
            "github": 3,
            "absent": 0,
        }
    finally:
        step.close_all(ready)
    assert {connection.popen.returncode is not None for connection in ready.values()} == {True}


def test_a_trie_answers_as_a_scan_does():
    source = random.Random(5)
    names = ["".join(source.choices("ab/", k=source.randrange(1, 7))) for _ in range(200)]
    trie = step.Trie(names)
    for prefix in ["", "a", "ab", "b/", "abba", "zzz", *names[:20]]:
        expected = sorted({name for name in names if name.startswith(prefix)})
        assert (trie.under(prefix), trie.count(prefix), prefix in trie) == (expected, len(expected), prefix in names)


def test_did_you_mean_gives_the_names_that_share_the_longest_beginning():
    trie = step.Trie(["files/read", "files/rename", "notes/search"])
    assert trie.near("files/raed") == ["files/read", "files/rename"]
    assert trie.near("files/read") == ["files/read"]


def test_a_model_name_is_legal_and_plain_where_the_real_clients_is():
    for pair in itertools.product(AWKWARD, AWKWARD):
        name, real = step.model_name(*pair), namespace.model_name(*pair)
        assert step.LEGAL_NAME.fullmatch(name), pair
        assert (name == "__".join(pair)) == (real == "__".join(pair)), pair


def test_no_two_pairs_share_a_model_name():
    pairs = list(itertools.product(AWKWARD, AWKWARD))
    assert len({step.model_name(*pair) for pair in pairs}) == len(pairs)
