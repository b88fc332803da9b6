"""Behaviour of the doctor: what is broken is said and shows in the exit code; the rest is still looked at."""

import shutil

from typer.testing import CliRunner

from grader import doctor
from grader.cli import app
from grader.doctor import Finding, examine

RUNNER = CliRunner()


def test_a_machine_that_runs_these_tests_has_all_that_is_needed():
    assert [finding for finding in examine() if finding.state == "broken"] == []


def test_something_broken_is_named_and_makes_exit_code_1(monkeypatch):
    monkeypatch.setattr(doctor, "examine", lambda: [Finding("kernel", "broken", "no kernel started")])
    result = RUNNER.invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "✗ kernel: no kernel started" in result.output
    assert "Broken: kernel." in result.output


def test_something_that_only_some_need_is_said_and_is_no_failure(monkeypatch):
    monkeypatch.setattr(doctor, "examine", lambda: [Finding("git", "missing", "apt install git")])
    result = RUNNER.invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert "· git: apt install git" in result.output


def test_an_error_in_one_look_does_not_keep_us_from_the_others(monkeypatch):
    def broken():
        raise ZeroDivisionError("a mistake of ours")

    assert doctor._safely(broken) == Finding("broken", "broken", "ZeroDivisionError: a mistake of ours")


def test_without_bubblewrap_the_doctor_says_what_that_means(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    finding = doctor._isolation()
    assert finding.state == "missing"
    assert "--no-sandbox" in finding.text


def test_a_full_disk_is_broken(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(100, 99, 1))
    assert doctor._disk().state == "broken"
