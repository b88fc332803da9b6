"""The sample class graded once, for all tests and all workers that look at it."""

import fcntl
import json

import psutil

from grader.grade import grade
from grader.report import report
from grader.run import Limits
from grader.sample_class.make_class import make_class
from grader.tests.class_room import options, small_root, snapshot

LIMITS = Limits(cell_seconds=15, notebook_seconds=120)


def graded_class(tmp_path_factory):
    """The folder with root, submissions and root/grader/work; facts.json says what grading left behind."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if base.name.startswith("popen-") else base  # shared by the workers of one test run
    folder = base / "sample-class"
    with open(base / "sample-class.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "facts.json").exists():
            _grade(folder)
    return folder


def _grade(folder):
    course = small_root(folder / "root")
    make_class(folder / "submissions", course)
    before = snapshot(folder / "submissions"), snapshot(course.root)
    work = folder / "work"
    summary = grade(course, options(folder / "submissions", work, jobs=2, limits=LIMITS))
    report(course, work)
    facts = {
        "changed": (snapshot(folder / "submissions"), snapshot(course.root)) != before,
        "alive": [p.pid for p in psutil.process_iter(["cmdline"]) if "86399" in " ".join(p.info["cmdline"] or [])],
        "failed": summary.failed,
    }
    (folder / "facts.json").write_text(json.dumps(facts))
