"""Each rule of `grader build --check` fires, names the file, and says what mends it."""

import re

import pytest

from grader import build
from grader.course import Course
from grader.tests.small_course import FIGURES, LESSON, PAGE, SCRIPT, SLUG, edit, write


def complaint(course: Course, path: str, words: str) -> str:
    """The one complaint about a path that has these words."""
    found = [str(problem) for problem in build.check(course).problems]
    matching = [sentence for sentence in found if sentence.startswith(path) and words in sentence]
    assert len(matching) == 1, found
    assert re.search(r"To mend it: \S.*\.$", matching[0])
    return matching[0]


def line_of(course: Course, path: str, text: str) -> int:
    return next(number for number, line in enumerate(course.read(path).splitlines(), 1) if text in line)


# --- lessons ---


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("```console", "```bash", "This fence has language 'bash'."),
        ("```console", "```", "This fence has no language."),
        ("```console", '```console id="x"', "A console fence has no option 'id'."),
        ('```python id="hello" save', '```python id="hello" safe', "A python fence has no option 'safe'."),
        ('```python id="hello" save', '```python id="hello" save="yes"', "The option 'save' is not written as"),
        ('```python id="hello" save', "```python id=hello save", "Nobody understands"),
        ("Functions.", "<details>\n\n```python\n1\n```\n\n</details>", "A python fence inside <details>"),
        ("Functions.", "- a list\n\n  ```python\n  1\n  ```", "A python fence inside a list"),
        ("# Lesson 1: Names", "# Lesson 1: Nouns", "Its first line is '# Lesson 1: Nouns'"),
        ("# Lesson 1: Names", "---\ntitle: Names\n---", "It begins with front matter."),
        ("## Design note <!-- minutes: 1 -->\n", "", "The section `## Design note` is missing."),
        ("## What you should know", "## Recall", "The section `## What you should know` is missing."),
        ("## It fails <!-- minutes: 2 -->\n", "", "a lesson begins with a failure"),
        ("1. You are.", "1. You are.\n2. So am I.", "has 1 numbered items and `## Keypoints` 2."),
        ("1. Who is greeted?", "Who is greeted?", "has 0 numbered items"),
        ("See [troubleshooting](troubleshooting.md#no-name).", "Never.", "links no entry of troubleshooting.md"),
        ("|---|---|", "", "`## Key terms` has no table."),
        ("## Design note <!-- minutes: 1 -->", "## Design note", "'Design note' does not say its minutes"),
        (
            "It fails <!-- minutes: 2 -->",
            "It fails <!-- minutes: 5 -->",
            "add up to 15 minutes, but course.toml says 12",
        ),
        ("Functions.", "Functions. <!-- minutes: 1 -->", "This note of minutes is not counted."),
    ],
)
def test_a_lesson_that_breaks_a_rule_is_named(course: Course, old: str, new: str, words: str) -> None:
    edit(course, PAGE, old, new)
    complaint(course, PAGE, words)


def test_a_wrong_fence_is_named_with_its_line(course: Course) -> None:
    edit(course, PAGE, "```console", "```bash")
    place = f"{PAGE}:{line_of(course, PAGE, '```bash')}: "
    assert complaint(course, PAGE, "'bash'").startswith(place)
    assert "use one of: python, py, console, text, json" in complaint(course, PAGE, "'bash'")


def test_sections_in_another_order_are_named(course: Course) -> None:
    edit(course, PAGE, "## Your turn", "## Moved")
    edit(course, PAGE, "## Key terms", "## Your turn")
    edit(course, PAGE, "## Moved", "## Key terms")
    complaint(course, PAGE, "Its sections stand in another order")


def test_later_lessons_begin_with_recall(course: Course) -> None:
    write(course.root, "lessons/02_later.md", "# Lesson 2: Later\n")
    complaint(course, "lessons/02_later.md", "The section `## Recall` is missing.")


# --- links and images ---


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "lessons/troubleshooting.md", "solutions/01_names.md"]
)
def test_a_link_that_leads_nowhere_is_named_with_its_line(course: Course, page: str) -> None:
    text = course.read(page) if course.exists(page) else ""
    write(course.root, page, text + "\n\nSee\n[nothing](no/such/file.md).\n")
    line = line_of(course, page, "no/such/file.md")
    assert complaint(course, page, "'no/such/file.md' does not exist").startswith(f"{page}:{line}:")


def test_an_anchor_without_a_heading_is_named_with_those_there_are(course: Course) -> None:
    edit(course, PAGE, "troubleshooting.md#no-name", "troubleshooting.md#no-fame")
    assert "use one of: no-name, troubleshooting" in complaint(course, PAGE, "There is no heading for #no-fame")


def test_an_anchor_that_github_makes_otherwise_is_refused(course: Course) -> None:
    edit(course, "README.md", "# A small course", f"# A small course\n\n[Design]({PAGE}#design-note)")
    complaint(course, "README.md", "its heading holds a comment")


def test_a_second_heading_of_the_same_words_has_an_anchor_of_its_own(course: Course) -> None:
    write(course.root, "CONTRIBUTING.md", "# Twice\n\n## Twice\n\n[down](#twice-1)\n")
    assert build.check(course).ok


def test_a_link_in_html_is_checked_too(course: Course) -> None:
    edit(course, "README.md", "# A small course", '# A small course\n\n<p><a href="gone.md">gone</a></p>')
    complaint(course, "README.md", "'gone.md' does not exist")


def test_a_link_out_of_the_course_is_refused(course: Course) -> None:
    edit(course, "README.md", "# A small course", "# A small course\n\n[out](../other.md)")
    complaint(course, "README.md", "'../other.md' does not exist")


def test_a_link_to_a_folder_is_fine(course: Course) -> None:
    edit(course, "README.md", "# A small course", "# A small course\n\n[lessons](lessons/)")
    assert build.build(course).ok


def test_an_image_says_what_is_to_be_seen(course: Course) -> None:
    edit(course, PAGE, "Two boxes, one of them without a name", "Two boxes")
    complaint(course, PAGE, "has the alternative text 'Two boxes'")


def test_an_image_in_html_says_what_is_to_be_seen(course: Course) -> None:
    image = '<img src="lessons/figures/01_names.svg">'
    edit(course, "README.md", "# A small course", f"# A small course\n\n{image}")
    complaint(course, "README.md", "has the alternative text ''")


def test_an_image_that_is_missing_is_named(course: Course) -> None:
    image = "![A picture that is not there](lessons/figures/none.svg)"
    edit(course, "README.md", "# A small course", f"# A small course\n\n{image}")
    complaint(course, "README.md", "'lessons/figures/none.svg' does not exist")


# --- exercises ---


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("## Task 2: add 2", "## Second task", "Task 2 begins with '## Second task'."),
        ("task=3", "task=4", "Its tasks have the numbers [1, 2, 4]"),
        ("Hint 2: a pointer", "A pointer", "has the hints ['Hint 1', 'Hint 3'] above its answer"),
        ("    ### BEGIN SOLUTION\n    return value + 2 * 1\n    ### END SOLUTION", "    pass", "no solution in it"),
        ('id="task2" answer=true', 'id="other" answer=true', "Task 2 has no answer cell 'task2'."),
        ('id="task2_check" points=2', 'id="other" points=2', "Task 2 has no check cell 'task2_check'."),
        ('id="task2_check" points=2', 'id="task2_check" points=3', "Its points add up to 7, but course.toml says 6."),
        ("task=2 minutes=5", "task=2 minutes=9", "Its minutes add up to 16, but course.toml says 12."),
        ('difficulty="easy"', 'difficulty="hard"', "The first task is not easy"),
        ("### BEGIN HIDDEN TESTS\nassert add2(1000) == 2 + 1000\n### END HIDDEN TESTS\n", "", "has no hidden part"),
        (
            "assert add2(1) == 2 + 1",
            'with checks.task(2, "add", points=3) as check:\n    pass',
            "but its checks.task(…) says otherwise",
        ),
        ("# Three small functions.", "# Write `return value + 2 * 1`.", "The release shows the solution of the cell"),
        (
            "# Three small functions.",
            "# We try `assert add3(1000) == 3 + 1000` too.",
            "The release shows the hidden checks of the cell 'task3_check'",
        ),
    ],
)  # fmt: skip
def test_an_exercise_that_breaks_a_rule_is_named(course: Course, old: str, new: str, words: str) -> None:
    text = course.read(SCRIPT)
    assert old in text
    write(course.root, SCRIPT, text.replace(old, new, 1))
    complaint(course, SCRIPT, words)


def test_a_first_task_that_takes_long_is_named(course: Course) -> None:
    edit(course, SCRIPT, "task=1 minutes=2", "task=1 minutes=6")
    complaint(course, SCRIPT, "takes more than 5 minutes")


def test_an_exercise_of_two_tasks_is_named(course: Course) -> None:
    text = course.read(SCRIPT)
    write(course.root, SCRIPT, text[: text.index("# %% [markdown] task=3")])
    complaint(course, SCRIPT, "an exercise has 3 to 5 tasks")


def test_a_release_without_its_todo_is_named(course: Course) -> None:
    edit(course, "nbgrader_config.py", "# TODO: your code here", "# yours")
    found = [problem.sentence for problem in build.check(course).problems]
    assert "The release of the answer cell 'task1' has no TODO." in found


def test_an_exercise_without_a_discussed_solution_is_named(course: Course) -> None:
    (course.root / "solutions/01_names.md").unlink()
    complaint(course, "solutions/01_names.md", f"Nobody discusses the solution of {SCRIPT}.")


def test_an_exercise_without_facts_is_named(course: Course) -> None:
    edit(course, "course.toml", 'exercise = { minutes = 12, difficulty = "easy", points = 6 }\n', "")
    complaint(Course.load(course.root), "course.toml", "has no `exercise`")


def test_a_gallery_of_three_mistakes_is_too_small(course: Course) -> None:
    (course.root / f"grader/wrong/{LESSON}/mistake3.py").unlink()
    edit(course, f"grader/wrong/{LESSON}/expected.toml", '[mistake3]\nmistake = "adds nothing"\n', "")
    complaint(course, f"grader/wrong/{LESSON}", "There are 3 wrong answers")


def test_a_mistake_that_nobody_expects_is_named(course: Course) -> None:
    write(course.root, f"grader/wrong/{LESSON}/surprise.py", "# %% [markdown]\n# Mistake.\n")
    complaint(course, f"grader/wrong/{LESSON}/surprise.py", "expected.toml does not name it")


def test_an_expected_mistake_that_is_not_there_is_named(course: Course) -> None:
    (course.root / f"grader/wrong/{LESSON}/mistake3.py").rename(course.root / f"grader/wrong/{LESSON}/other.py")
    complaint(course, f"grader/wrong/{LESSON}/expected.toml", "It names 'mistake3'")


# --- the course as a whole ---


@pytest.mark.parametrize(
    "path",
    [
        "notebooks/99_old.ipynb",
        "exercises/99_old/99_old.ipynb",
        "exercises/01_names/data.txt",
        "solutions/01_names/answers.txt",
        "code/steps/step99_old.py",
        "lessons/figures/99_old.svg",
        "lessons/quizzes/99_old.md",
    ],
)
def test_a_file_without_a_source_is_named(course: Course, path: str) -> None:
    write(course.root, path, "old\n")
    assert f"git rm {path}" in complaint(course, path, "No source makes this file")


def test_files_that_tools_leave_behind_are_no_orphans(course: Course) -> None:
    write(course.root, "notebooks/.ipynb_checkpoints/x-checkpoint.ipynb", "")
    write(course.root, "code/steps/__pycache__/x.pyc", "")
    assert build.check(course).ok


def test_the_files_of_a_broken_source_are_no_orphans(course: Course) -> None:
    edit(course, FIGURES, "FIGURES =", "FIGURE =")
    assert [problem.path for problem in build.check(course).problems] == [FIGURES]


def test_a_package_named_code_is_refused(course: Course) -> None:
    write(course.root, "code/__init__.py", "")
    complaint(course, "code/__init__.py", "hides the standard library's module")


@pytest.mark.parametrize("path", ["grader/__init__.py", "grader/checks.py"])
def test_what_a_student_imports_needs_the_standard_library_only(course: Course, path: str) -> None:
    write(course.root, path, course.read(path) + "\nimport json\n\n\ndef later():\n    import rich.table\n")
    sentence = complaint(course, path, "It imports 'rich.table'")
    assert sentence.startswith(f"{path}:{line_of(course, path, 'rich.table')}:")


@pytest.mark.parametrize("path", ["README.md", PAGE, "code/other.py", ".ci/run", "solutions/01_names.md"])
def test_the_slug_outside_of_its_one_place_is_named(course: Course, path: str) -> None:
    text = course.read(path) if course.exists(path) else ""
    write(course.root, path, f"{text}\ngit clone https://github.com/{SLUG}\n")
    sentence = complaint(course, path, f"It says {SLUG!r}")
    assert sentence.startswith(f"{path}:{line_of(course, path, 'git clone')}:")


def test_a_wrong_quiz_is_named_once(course: Course) -> None:
    quiz = "lessons/quizzes/01_names.yaml"
    write(course.root, quiz, "nonsense: true\n")
    found = [str(problem) for problem in build.check(course).problems if problem.path == quiz]
    assert found
    assert all(sentence.count(quiz) == 1 for sentence in found)
