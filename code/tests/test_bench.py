"""The benchmark's logic: medians, ratios round by round, verdicts, tables. No client is measured here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from bench import plan, report, run
from bench.stats import Spread, Target, judge, paired, spread

CODE = Path(__file__).resolve().parents[1]
AT_MOST = Target("latency to theirs", "echo", "ms", "theirs", 0.5)


def results(ours, theirs, value="ms"):
    return {"echo": {"ours": {value: ours}, "theirs": {value: theirs}}}


def test_a_ratio_is_taken_within_each_round():
    # a load that doubles both sides in the second round leaves the ratio alone
    assert paired([1.0, 2.0, 1.0], [4.0, 8.0, 4.0]) == Spread(0.25, 0.25, 0.25)


def test_one_odd_round_moves_the_spread_and_not_the_median():
    assert paired([1.0, 1.0, 50.0], [2.0, 2.0, 2.0]) == Spread(0.5, 0.5, 25.0)


def test_a_round_that_failed_on_one_side_counts_for_nothing():
    assert paired([1.0, None, 3.0], [2.0, 2.0, None]) == Spread(0.5, 0.5, 0.5)


def test_nothing_measured_gives_no_median():
    assert spread([None, None]) is None


@pytest.mark.parametrize(("ours", "reached"), [([1.0], True), ([1.01], False)])
def test_a_limit_from_above_is_kept_up_to_the_limit_itself(ours, reached):
    assert judge(AT_MOST, results(ours, [2.0])).reached is reached


@pytest.mark.parametrize(("ours", "reached"), [([5.0], True), ([4.9], False)])
def test_a_limit_from_below_is_kept_from_the_limit_on(ours, reached):
    target = Target("throughput to theirs", "echo", "per_s", "theirs", 2.5, at_least=True)
    assert judge(target, results(ours, [2.0], "per_s")).reached is reached


def test_a_target_without_a_peer_judges_the_value_itself():
    assert judge(Target("latency", "echo", "ms", None, 1.0), results([0.9], [])).reached


def test_what_was_not_measured_is_not_reached():
    assert not judge(AT_MOST, {}).reached
    assert not judge(AT_MOST, results([], [])).reached
    assert report.measured(judge(AT_MOST, {})) == "not measured"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.034312, "0.0343"), (1.0749, "1.07"), (24.449, "24.4"), (123.4, "123"), (21956.8, "21957")],
)
def test_numbers_have_three_digits_that_count_and_no_exponent(value, text):
    assert report.three_digits(value) == text


def test_each_round_begins_with_another_client():
    peers = ("a", "b", "c")
    orders = [run.turns(peers, number) for number in range(4)]
    assert [order[0] for order in orders] == ["a", "b", "c", "a"]
    assert all(sorted(order) == list(peers) for order in orders)


def test_every_client_is_measured_at_everything_that_a_target_asks_of_it():
    measured = {(job.era, job.measure, peer) for job in run.jobs(plan.FULL) for peer in job.peers}
    for target in plan.targets(max(plan.FULL.servers), plan.FULL.big):
        for era in plan.ERAS:
            assert (era, target.measure, plan.OURS) in measured
            assert target.to is None or (era, target.measure, target.to) in measured


def collected(rounds=2):
    """A made-up run in which every client needs 2.0 of everything, and ours half."""
    found = run.Collected()
    for job in run.jobs(plan.QUICK):
        for number in range(rounds):
            for peer in job.peers:
                worth = 1.0 if peer == plan.OURS else 2.0
                values = dict.fromkeys(("ms", "p95_ms", "open_s", "close_s", "mb", "s", "descriptors"), worth)
                found.add(job, peer, number, {**values, "per_s": 4.0 / worth})
    return found


def saved(found):
    size = {"rounds": 2, "servers": plan.QUICK.servers, "big": plan.QUICK.big}
    machine = "1 core"
    run = {"quick": True, "machine": machine, "load": (0.5, 1.5), "size": size}
    return {**run, "results": found.results, "problems": found.problems}


def test_the_page_marks_each_target_by_what_was_measured():
    page = report.page(saved(collected()))
    reached = [line for line in page.splitlines() if line.startswith("| ") and " ✓ " in line]
    missed = [line for line in page.splitlines() if line.startswith("| ") and " ✗ " in line]
    assert len(reached) + len(missed) == len(plan.targets(10, 2**21))
    assert any("ping-pong" in line and "✓ 0.50 (0.50 to 0.50)" in line for line in reached)
    assert any("throughput" in line and "✗ 2.00" in line for line in missed)


BOUND = Target("opening to theirs", "echo", "ms", "theirs", 0.5, bound="floor")


@pytest.mark.parametrize(
    ("ours", "floor", "sign"),
    [
        ([1.0], [1.0], "✓"),  # reached
        ([1.1], [1.0], "✗"),  # the floor keeps to the limit, so a client could
        ([1.1], [1.01], "–"),  # not even the floor does
        ([1.0], [1.01], "✓"),  # reached all the same
        ([1.1], [], "✗"),  # no floor was measured: no excuse
        ([None], [1.01], "✗"),  # we were not measured
    ],
)
def test_a_target_is_out_of_reach_only_if_the_floor_itself_misses_it(ours, floor, sign):
    found = {"echo": {**results(ours, [2.0])["echo"], "floor": {"ms": floor}}}
    assert judge(BOUND, found).sign == sign


def test_a_target_without_a_bound_is_never_out_of_reach():
    found = {"echo": {**results([1.1], [2.0])["echo"], "floor": {"ms": [1.9]}}}
    assert judge(AT_MOST, found).sign == "✗"


def slow_servers():
    """A made-up run in which starting the processes takes nearly all of fastmcp's time, and ours a little more."""
    found = collected()
    for measures in found.results.values():
        measures["many-10"][plan.FLOOR]["open_s"] = [1.8, 1.8]
        measures["many-10"][plan.OURS]["open_s"] = [1.9, 1.9]
    return found


def test_the_page_says_what_was_out_of_reach_and_why():
    found = slow_servers()
    page = report.page(saved(found))
    assert "| at most 0.75 | – 0.95 (0.95 to 0.95) | – 0.95" in page
    assert "0.75 was asked, and the floor took 0.90" in page
    assert "out of reach" not in report.page(saved(collected()))
    missed = report.missed(report.verdicts(found.results, 10, plan.QUICK.big))
    assert missed
    assert not any("connect + list, to fastmcp" in sentence for sentence in missed)


def test_a_failed_run_shows_as_a_gap_and_in_the_list_of_failures():
    found = collected(rounds=1)
    first = next(iter(run.jobs(plan.QUICK)))
    found.add(first, plan.CLIENT, 1, "exit code 1: it broke")
    found.add(first, plan.CLIENT, 2, {"ms": 6.0})
    assert found.results[first.era][first.measure][plan.CLIENT]["ms"] == [2.0, None, 6.0]
    assert "round 2: exit code 1: it broke" in report.page(saved(found))


def test_a_client_that_never_worked_has_a_row_all_the_same():
    found = run.Collected()
    job = next(iter(run.jobs(plan.QUICK)))
    found.add(job, plan.OURS, 0, {"ms": 1.0})
    found.add(job, plan.CLIENT, 0, "it broke")
    lines = report.section(found.results[job.era], job.measure, "Echo", report.LATENCY)
    assert "| mcp Client | – | – |" in lines


def test_a_failure_names_no_folder_of_this_machine():
    assert str(run.install.ROOT) not in run.last_line(f"Traceback\n  {run.install.ROOT}/code: gone\n\n")


@pytest.mark.parametrize("era", plan.ERAS)
def test_the_echo_server_gives_back_what_every_client_needs(era):
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover"},
        {"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "ä"}}},
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "big", "arguments": {"text": ""}}},
    ]
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    command = [sys.executable, str(CODE / "bench" / "echo_server.py"), "--era", era, "--big", "1000"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=True)
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    modern = era == "2026-07-28"
    assert ("result" in replies[1], "result" in replies[2]) == (modern, not modern)
    assert [tool["name"] for tool in replies[3]["result"]["tools"]] == ["echo", "big"]
    assert replies[4]["result"]["content"][0]["text"] == "ä"
    assert len(replies[5]["result"]["content"][0]["text"]) == 1000


@pytest.mark.parametrize("era", plan.ERAS)
def test_the_server_of_shell_gives_back_what_every_client_needs(era):
    requests = [
        '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{}}}',
        '{"method": "initialize", "params": {}, "jsonrpc": "2.0", "id": 2}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":3,"method":"tools/list"}',
        '{"jsonrpc":"2.0","id":"four","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}',
        '{"jsonrpc":"2.0","id":5,"method":"ping"}',
    ]
    command = [*run.SHELL_SERVER, "--era", era, "--name", "s7", "--big", "0", "--ready"]
    done = subprocess.run(command, input="\n".join(requests) + "\n", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr, done.stdout[0]) == (0, "", "!")
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout[1:].splitlines())}
    modern = era == "2026-07-28"
    assert list(replies) == [1, 2, 3, "four", 5]
    assert ("result" in replies[1], "result" in replies[2]) == (modern, not modern)
    for name in (3, "four"):
        assert replies[name]["result"].get("resultType") == ("complete" if modern else None)
    assert [tool["name"] for tool in replies[3]["result"]["tools"]] == ["echo"]
    assert replies["four"]["result"]["content"] == [{"type": "text", "text": "here"}]
    assert replies[5]["error"]["code"] == -32601
