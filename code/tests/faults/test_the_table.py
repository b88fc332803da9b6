"""The table itself: every kind has tests, and the fault server says what it can play."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FAULTY = TESTS.parent / "servers" / "faulty.py"


def kinds():
    rows = [
        line.split("|") for line in (TESTS / "faults" / "README.md").read_text("utf-8").splitlines() if line[:2] == "| "
    ]
    return [cells[1].strip() for cells in rows[1:]]


@pytest.mark.parametrize("kind", kinds())
def test_every_kind_in_the_table_has_a_test(kind, fault_tests):
    assert fault_tests[kind] > 0


def test_the_fault_server_lists_its_modes_with_a_sentence_each():
    listing = subprocess.run([sys.executable, FAULTY, "--list"], capture_output=True, text=True, check=True).stdout
    lines = listing.splitlines()
    assert len(lines) > 30
    assert all(len(line.split(maxsplit=1)) == 2 and line.endswith(".") for line in lines)


def test_every_mode_of_the_fault_server_is_used_by_a_test():
    listing = subprocess.run([sys.executable, FAULTY, "--list"], capture_output=True, text=True, check=True).stdout
    source = "".join(path.read_text("utf-8") for path in TESTS.rglob("test_*.py"))
    assert [line.split()[0] for line in listing.splitlines() if f'"{line.split()[0]}"' not in source] == []
