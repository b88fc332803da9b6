"""The skill that the course ships: its page is written by hand, its code comes from a file that is tested."""

import re

from grader.course import Course
from grader.problem import BuildError

PAGE = "outputs/skill-mcp-client-harness.md"
CODE = "code/skill_harness.py"
BLOCK = re.compile(r"(?<=^```python\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def with_code(course: Course) -> str:
    """The page of the skill with the file in its one Python block."""
    text, code = course.read(PAGE), course.read(CODE)
    if len(BLOCK.findall(text)) != 1:
        raise BuildError(PAGE, "It needs exactly one ```python block.", f"leave one; the build fills it from {CODE}")
    return BLOCK.sub(lambda found: code, text)
