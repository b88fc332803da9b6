"""What builds, checks, runs and scores this course.

A student's notebook imports `grader.checks` and nothing else of this package. So this file
and `checks.py` need the standard library only; every other module may use what the extra
`grader` of pyproject.toml installs, and is imported only by the command that needs it.
"""
