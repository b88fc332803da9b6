"""nbgrader's settings: its stock commands work at the root of this checkout.

nbgrader reads this file only from the folder it is started in, so start it at the root.
"""

import os
import tempfile
from pathlib import Path

c = get_config()  # noqa: F821  (nbgrader defines it)

root = Path(__file__).resolve().parent
work = root / "grader" / "work"  # git-ignored: what a class hands in, and its marks
work.mkdir(parents=True, exist_ok=True)  # the gradebook needs an existing folder

c.CourseDirectory.root = str(root)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "grader/work/submitted"
c.CourseDirectory.autograded_directory = "grader/work/autograded"
c.CourseDirectory.feedback_directory = "grader/work/feedback"
c.CourseDirectory.db_url = f"sqlite:///{work / 'gradebook.db'}"

c.ClearSolutions.code_stub = {
    "python": '# TODO: your code here\nraise NotImplementedError("this part is yours to write")'
}

# Kernels talk through sockets in the file system: no port is opened, no network is needed.
# The path is absolute because nbgrader and its kernel run in different folders.
c.KernelManager.transport = "ipc"
c.KernelManager.ip = str(Path(tempfile.gettempdir()) / f"course-kernel-{os.getpid()}")

# `nbgrader zip_collect` drops every other file, and the stock setting drops scripts too.
c.FileNameCollectorPlugin.valid_ext = [".ipynb", ".py"]
