"""Processes that submissions leave behind: found by a mark in their environment, or as orphans.

`run.py` ends what one notebook started. Here we end what got away from it: a process that
dropped its environment and its session still comes back to us when its parent dies, because
we ask Linux for such orphans.
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

import psutil

from grader.run import kill_marked

SET_CHILD_SUBREAPER = 36  # of prctl(2)


def kill_marked_by(variable: str, mark: str) -> None:
    """Kill every process with this mark; ourselves never, for the mark is not in our environment."""
    kill_marked(mark, variable)


@contextlib.contextmanager
def adopted() -> Iterator[None]:
    """Become the parent of orphans for a while; at the end, kill and reap all that came."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    asked = _subreaper(True)
    try:
        yield
    finally:
        if asked:
            for _ in range(10):
                left = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
                for child in left:
                    with contextlib.suppress(psutil.Error):
                        child.kill()
                for child in left:
                    with contextlib.suppress(OSError):
                        os.waitpid(child.pid, 0 if _is_zombie(child) else os.WNOHANG)
                psutil.wait_procs(left, timeout=1)
                if not left:
                    break
            _subreaper(False)


def _is_zombie(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _subreaper(wanted: bool) -> bool:
    """Ask Linux for orphans, or no longer; False where that is not possible."""
    if sys.platform != "linux":
        return False
    try:
        return ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False
