"""A course of one lesson and one exercise, small enough to build in a test, complete enough for every lint."""

from pathlib import Path

from grader.course import Course

SLUG = "someone/small-course"
REAL_ROOT = Path(__file__).resolve().parents[2]
LESSON, PAGE = "01_names", "lessons/01_names.md"
SCRIPT, FIGURES = "solutions/01_names.py", "lessons/figures/01_names.py"
NOTEBOOK, STEP = "notebooks/01_names.ipynb", "code/steps/step01_names.py"
SOLUTION, RELEASE = "solutions/01_names/01_names.ipynb", "exercises/01_names/01_names.ipynb"

FACTS = f"""\
slug = "{SLUG}"
branch = "main"
title = "A small course"
revision = "2025-11-25"

[[lessons]]
slug = "{LESSON}"
title = "Names"
builds = "a greeting"
minutes = 12
difficulty = "easy"
exercise = {{ minutes = 12, difficulty = "easy", points = 6 }}

[[lessons]]
slug = "02_later"
title = "Later"
builds = "nothing yet"
"""

MAIN = '''\
"""The simulation of the small course."""

COURSE = "not yet"
PROTOCOL_VERSION = "2025-11-25"
'''

LESSON_TEXT = """\
# Lesson 1: Names

## It fails <!-- minutes: 2 -->

Without a name nobody is greeted.

![Two boxes, one of them without a name](figures/01_names.svg)

```python id="hello" save
def hello(name):
    return f"hello {name}"


print(hello("you"))
```

```text output
```

## Questions <!-- minutes: 1 -->

1. Who is greeted?

## What you should know <!-- minutes: 1 -->

Functions.

## Your turn <!-- minutes: 1 -->

```python raises="ValueError"
raise ValueError("no name")
```

```console
$ python code/main.py
```

## What the real client adds <!-- minutes: 1 -->

Nothing.

## When it goes wrong <!-- minutes: 1 -->

See [troubleshooting](troubleshooting.md#no-name).

## Design note <!-- minutes: 1 -->

Greet or not?

## Keypoints <!-- minutes: 1 -->

1. You are.

## Key terms <!-- minutes: 1 -->

| what people say | what it is |
|---|---|
| a name | a string |

## Further reading <!-- minutes: 2 -->

The [README](../README.md).
"""


def task(number: int, minutes: int, difficulty: str) -> str:
    """One task of the exercise script, complete."""
    hints = "\n".join(
        f"# <details><summary>Hint {hint}: {what}</summary>\n#\n# Think.\n#\n# </details>\n#"
        for hint, what in enumerate(("a question", "a pointer", "a sketch"), 1)
    )
    return f'''
# %% [markdown] task={number} minutes={minutes} difficulty="{difficulty}"
# ## Task {number}: add {number}
#
# As in [the lesson](../lessons/01_names.md).

# %% [markdown]
{hints}

# %% id="task{number}" answer=true
def add{number}(value):
    ### BEGIN SOLUTION
    return value + {number} * 1
    ### END SOLUTION


# %% id="task{number}_check" points=2
assert add{number}(1) == {number} + 1
### BEGIN HIDDEN TESTS
assert add{number}(1000) == {number} + 1000
### END HIDDEN TESTS
'''


EXERCISE = f"""\
# %% [markdown]
# # Exercise 1: Names
#
# Three small functions.
{task(1, 2, "easy")}{task(2, 5, "medium")}{task(3, 5, "hard")}"""

DRAW = """\
import matplotlib.pyplot as plt


def names():
    figure, axes = plt.subplots(figsize=(3, 1))
    axes.set_title("names")
    return figure


FIGURES = {"01_names": names}
"""

README = """\
# A small course

<!-- map: made by grader build from course.toml -->
<!-- end of map -->
"""

CHECKS = '''\
"""The checks of the small course."""


def hand_in(slug, points):
    print(f"hand in {slug}")
'''


def sources() -> dict[str, str]:
    """Every hand-written file, by path."""
    wrong = [f"mistake{number}" for number in range(4)]
    return {
        "course.toml": FACTS,
        "README.md": README,
        "nbgrader_config.py": (REAL_ROOT / "nbgrader_config.py").read_text(encoding="utf-8"),
        "constraints.txt": (REAL_ROOT / "constraints.txt").read_text(encoding="utf-8"),
        "code/main.py": MAIN,
        "grader/__init__.py": '"""The small course\'s checks."""\n',
        "grader/checks.py": CHECKS,
        PAGE: LESSON_TEXT,
        FIGURES: DRAW,
        "lessons/troubleshooting.md": "# Troubleshooting\n\n## No name\n\nGive one.\n",
        SCRIPT: EXERCISE,
        "solutions/01_names.md": "# The solution\n\nAdd.\n",
        **{f"grader/wrong/{LESSON}/{name}.py": "# %% [markdown]\n# Mistake: it adds nothing.\n" for name in wrong},
        f"grader/wrong/{LESSON}/expected.toml": "".join(f'[{name}]\nmistake = "adds nothing"\n' for name in wrong),
    }


def make(root: Path) -> Course:
    """Write the sources into a folder; nothing is built yet."""
    for path, text in sources().items():
        write(root, path, text)
    return Course.load(root)


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def edit(course: Course, path: str, old: str, new: str) -> None:
    """Replace a text that stands in a file; a test whose text is not there proves nothing."""
    text = course.read(path)
    assert old in text, f"{old!r} is not in {path}"
    write(course.root, path, text.replace(old, new))
