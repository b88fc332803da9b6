"""A quiz file: read it, lint it, make its page and its figures.

`lessons/quizzes/NN_slug.yaml` is the source; the page `NN_slug.md` and `figures/*.svg`
beside it are made from it by `grader build`, and the terminal quiz reads it directly.

    topics:                        # part of the course's list → topic id → what it is about
      using it:                    # a part called "using it" asks for a setup in each question
        bare-search: bare search with three owners
    questions:
    - id: bare-search-goes         # stays the same for ever: the terminal remembers it
      topic: bare-search
      level: apply                 # one of LEVELS
      prompt: Markdown.
      keys: 1                      # how many options are right; leave it out for one
      setup: …                     # see quiz_setup.py
      runs: |                      # Python against code/main.py; its last line is the value
        call(registry, sessions, "search")["isError"]
      options:
      - text: Markdown.
        correct: true
        feedback: Why it is right.
        value: false               # what `runs` gives; a test runs it
      - text: Markdown.
        misconception: The idea behind this choice.
        feedback: What is so instead.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from grader import quiz_setup
from grader.quiz_setup import Setup

LEVELS = ("define", "explain", "apply", "analyse", "design")
USING_IT = "using it"
LETTERS = "ABCDEFGH"
QUIZ_KEYS = ("topics", "questions")
QUESTION_KEYS = ("id", "topic", "level", "prompt", "keys", "setup", "runs", "options")
OPTION_KEYS = ("text", "correct", "feedback", "misconception", "value")
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MISSING: Any = object()  # `value: null` is a value, no `value:` is none
LUMPED = re.compile(
    r"\b(all|none|both|any|neither) (one )?of (the (above|others|options)|these|them)\b|\b[A-H] (and|or) [A-H]\b",
    re.IGNORECASE,
)
SCOLDS = re.compile(r"\W*(wrong|incorrect|no|nope|false)\b\s*[!,.:–—-]", re.IGNORECASE)
MOST_LONGEST = 1 / 3  # share of questions whose right option may be the longest
MOST_AT_ONE_PLACE = 0.4  # share of questions whose right option may stand under the same letter


class QuizError(ValueError):
    """A quiz that cannot be used; `problems` has a sentence for each reason."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Option:
    text: str
    feedback: str
    correct: bool = False
    misconception: str = ""
    value: Any = MISSING


@dataclass(frozen=True)
class Question:
    id: str
    part: str
    topic: str
    level: str
    prompt: str
    options: tuple[Option, ...]
    keys: int = 1
    setup: Setup | None = None
    runs: str = ""

    @property
    def key(self) -> str:
        """The letters of the right options, as in "B" or "AD"."""
        return "".join(LETTERS[place] for place, option in enumerate(self.options) if option.correct)


@dataclass(frozen=True)
class Quiz:
    path: Path
    topics: Mapping[str, Mapping[str, str]]
    questions: tuple[Question, ...]

    @property
    def slug(self) -> str:
        return self.path.stem

    @property
    def number(self) -> int:
        return int(self.slug.split("_")[0])


def load(path: str | Path) -> Quiz:
    """The quiz in `path`. Raises QuizError if its data does not have the shape of a quiz."""
    path = Path(path)
    data, problems = _read(path)
    problems = problems or list(_shape(data))
    if problems:
        raise QuizError([f"{_shown(path)}: {problem}." for problem in problems])
    return Quiz(path, data["topics"], tuple(_question(entry, data["topics"]) for entry in data["questions"]))


def lint(path: str | Path) -> list[str]:
    """Everything that is wrong with a quiz: the file, the question, what mends it. Empty if all is well."""
    try:
        quiz = load(path)
    except QuizError as error:
        return error.problems
    return [f"{_shown(quiz.path)}: {problem}." for problem in _rules(quiz)]


# --- Reading ---------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """YAML in which a key written twice is an error: plain YAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for place, key in enumerate(keys):
            if key in keys[:place]:
                mark = node.value[place][0].start_mark
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is written twice", mark)
        return super().construct_mapping(node, deep)


def _read(path: Path) -> tuple[Any, list[str]]:
    if not re.fullmatch(r"[0-9]{2}_[a-z0-9_]+", path.stem):
        return None, ["the file's name is not NN_slug.yaml: rename it after its lesson"]
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader), []
    except OSError as error:
        return None, [f"cannot be read ({error.strerror}): check the path"]
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "the file"
        return None, [f"{where} is not YAML ({getattr(error, 'problem', None) or error}): mend that line"]


def _shown(path: Path) -> str:
    """The path as it is called inside the repository."""
    return f"lessons/quizzes/{path.name}" if path.parent.name == "quizzes" else path.name


def _question(entry: Mapping[str, Any], topics: Mapping[str, Mapping[str, str]]) -> Question:
    options = tuple(
        Option(
            text=option["text"].strip(),
            feedback=option["feedback"].strip(),
            correct=option.get("correct", False),
            misconception=option.get("misconception", "").strip(),
            value=option.get("value", MISSING),
        )
        for option in entry["options"]
    )
    return Question(
        id=entry["id"],
        part=next(part for part, its_topics in topics.items() if entry["topic"] in its_topics),
        topic=entry["topic"],
        level=entry["level"],
        prompt=entry["prompt"].strip(),
        options=options,
        keys=entry.get("keys", 1),
        setup=quiz_setup.from_data(entry["setup"]) if "setup" in entry else None,
        runs=entry.get("runs", "").strip(),
    )


# --- The shape: what load needs --------------------------------------------------------


def _shape(data: Any) -> Iterator[str]:
    if not isinstance(data, Mapping):
        yield "is not a mapping: it needs `topics:` and `questions:`"
        return
    yield from _unknown("the file", data, QUIZ_KEYS)
    topics = data.get("topics")
    if not isinstance(topics, Mapping) or not topics or not all(_texts(its) for its in topics.values()):
        yield "topics is not a mapping of part → topic id → a few words: write it at the head of the file"
        return
    if not isinstance(data.get("questions"), list) or not data["questions"]:
        yield "has no questions: add a list `questions:`"
        return
    known = [topic for its in topics.values() for topic in its]
    for topic in _twice(known):
        yield f"topic {topic} is listed twice: give each topic one part"
    ids = [entry.get("id") for entry in data["questions"] if isinstance(entry, Mapping)]
    for twice in _twice(ids):
        yield f"question {twice}: the id is used twice; give each question its own"
    for place, entry in enumerate(data["questions"], 1):
        if not isinstance(entry, Mapping):
            yield f"question number {place} is not a mapping: start it with `- id:`"
            continue
        name = entry.get("id")
        if not isinstance(name, str) or not ID.fullmatch(name):
            yield f"question number {place} has no usable id ({name!r}): use small letters, digits and hyphens"
            continue
        yield from (f"question {name}: {problem}" for problem in _question_shape(entry, known))


def _question_shape(entry: Mapping[str, Any], known: list[str]) -> Iterator[str]:
    yield from _unknown("it", entry, QUESTION_KEYS)
    if entry.get("topic") not in known:
        near = _near(entry.get("topic"), known)
        yield f"the topic {entry.get('topic')!r} is not at the head of the file: use one of those or add it{near}"
    if entry.get("level") not in LEVELS:
        yield f"the level {entry.get('level')!r} is unknown: use {', '.join(LEVELS)}"
    for key in ("prompt", "runs"):
        if (key == "prompt" or key in entry) and not _text(entry.get(key)):
            yield f"{key} is not a text: write one, in quotes if it looks like a number"
    keys = entry.get("keys", 1)
    if not isinstance(keys, int) or isinstance(keys, bool) or keys < 1:
        yield "keys is not a number from 1: it says how many options are right"
    if "setup" in entry:
        yield from quiz_setup.problems(entry["setup"])
    options = entry.get("options")
    if not isinstance(options, list) or not 3 <= len(options) <= len(LETTERS):
        yield f"it has not between 3 and {len(LETTERS)} options: add or drop some"
        return
    for letter, option in zip(LETTERS, options, strict=False):
        if not isinstance(option, Mapping):
            yield f"option {letter} is not a mapping: start it with `- text:`"
            continue
        yield from _unknown(f"option {letter}", option, OPTION_KEYS)
        if not _text(option.get("text")):
            yield f"option {letter} has no text: write one, in quotes if it looks like a number"
        if not _text(option.get("feedback")):
            yield f"option {letter} has no feedback: say in a sentence why it is right or what is so instead"
        if not isinstance(option.get("correct", False), bool):
            yield f"option {letter}: correct is true or false"
        if "misconception" in option and not _text(option["misconception"]):
            yield f"option {letter}: misconception is not a text; name the idea behind the choice"


def _unknown(owner: str, data: Mapping[str, Any], known: tuple[str, ...]) -> Iterator[str]:
    for key in data:
        if key not in known:
            yield f"{owner} has the unknown key {key!r}: use {', '.join(known)}{_near(key, known)}"


def _near(word: Any, known: tuple[str, ...] | list[str]) -> str:
    close = difflib.get_close_matches(str(word), known, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(_text(k) and _text(v) for k, v in value.items())


def _twice(values: list[Any]) -> list[Any]:
    return sorted({value for value in values if isinstance(value, str) and values.count(value) > 1})


# --- The rules: what makes it a good quiz ----------------------------------------------


def _rules(quiz: Quiz) -> Iterator[str]:
    for question in quiz.questions:
        yield from (f"question {question.id}: {problem}" for problem in _question_rules(question))
    asked = {question.topic for question in quiz.questions}
    for its in quiz.topics.values():
        for topic in its:
            if topic not in asked:
                yield f"topic {topic} has no question: write one or take the topic out of the list"
    parts = [question.part for question in quiz.questions]
    if parts != sorted(parts, key=list(quiz.topics).index):
        yield "the questions do not follow the parts of `topics:`: put those of one part together, in that order"
    single = [question for question in quiz.questions if question.keys == 1 and len(question.key) == 1]
    yield from _longest(single)
    yield from _places(single)


def _question_rules(question: Question) -> Iterator[str]:
    right = len(question.key)
    if right != question.keys:
        declared = "one" if question.keys == 1 else f"`keys: {question.keys}`"
        yield f"{right} options are right but {declared} declared: mark the right options or change `keys:`"
    if right == len(question.options):
        yield "every option is right: add one that is not"
    if question.part == USING_IT and question.setup is None:
        yield "it is about using code and has no setup: show the situation with `setup:`"
    texts = [option.text for option in question.options]
    for twice in _twice(texts):
        yield f"two options have the text {twice!r}: make them differ"
    values = [option.value for option in question.options if option.value is not MISSING]
    if question.runs and any(option.correct and option.value is MISSING for option in question.options):
        yield "it has `runs:` and its right option no `value:`; write the value that the code gives"
    if values and not question.runs:
        yield "an option has a `value:` and the question no `runs:`; write the code that gives it"
    if any(value in values[:place] for place, value in enumerate(values)):
        yield "two options have the same `value:`; only one can be what the code gives"
    for letter, option in zip(LETTERS, question.options, strict=False):
        if LUMPED.search(option.text):
            yield f"option {letter} speaks about other options ({option.text!r}): say what it means by itself"
        if not option.correct and not option.misconception:
            yield f"option {letter} names no misconception: say in `misconception:` which idea leads to it"
        if option.correct and option.misconception:
            yield f"option {letter} is right and names a misconception: drop one of the two"
        if SCOLDS.match(option.feedback):
            yield f"option {letter}: the feedback scolds; begin with what is so"


def _longest(questions: list[Question]) -> Iterator[str]:
    given_away = []
    for question in questions:
        lengths = {option.correct: len(option.text) for option in sorted(question.options, key=lambda o: len(o.text))}
        if lengths[True] > lengths[False]:
            given_away.append(question.id)
    if len(given_away) > MOST_LONGEST * len(questions):
        yield (
            f"the right option is the longest in {len(given_away)} of {len(questions)} questions, more than a third:"
            f" shorten it, or lengthen a wrong one, in some of {', '.join(given_away)}"
        )


def _places(questions: list[Question]) -> Iterator[str]:
    if not questions:
        return
    counts = Counter(question.key for question in questions)
    most = max(2, int(MOST_AT_ONE_PLACE * len(questions)))
    offered = [letter for place, letter in enumerate(LETTERS) if all(place < len(q.options) for q in questions)]
    least = len(questions) // (2 * len(offered))
    for letter in LETTERS:
        if counts[letter] > most:
            yield (
                f"the right option is {letter} in {counts[letter]} of {len(questions)} questions, more than {most}:"
                " move some to other places"
            )
        elif letter in offered and counts[letter] < least:
            yield (
                f"the right option is {letter} in {counts[letter]} of {len(questions)} questions, fewer than {least}:"
                " move some there"
            )
    for first, *following in zip(questions, questions[1:], questions[2:], questions[3:], strict=False):
        if all(question.key == first.key for question in following):
            yield f"question {following[-1].id}: {first.key} is right for the fourth time in a row; move it"


# --- The page and the figures ----------------------------------------------------------


def figure_name(quiz: Quiz, question: Question) -> str:
    return f"{quiz.slug}-{question.id}.svg"


def figures(path: str | Path) -> dict[str, bytes]:
    """The SVG files of a quiz, name → content; they stand in `figures/` beside the page."""
    from grader.quiz_figure import svg  # here, because matplotlib takes a second to import

    quiz = load(path)
    return {figure_name(quiz, q): svg(q.setup, q.id) for q in quiz.questions if q.setup is not None}


def title_and_revision(quiz: Quiz) -> tuple[str, str]:
    """Both as course.toml has them: facts about the course stand in one place."""
    from grader.course import Course

    course = Course.load(quiz.path.resolve().parents[2])
    lesson = course.find(quiz.slug)
    if lesson is None:
        raise QuizError(
            [f"{_shown(quiz.path)}: course.toml has no lesson {quiz.slug}: rename the file after its lesson."]
        )
    return lesson.title, lesson.revision or course.revision


def render_page(path: str | Path) -> str:
    """The quiz as a Markdown page: each answer folded below its question."""
    quiz = load(path)
    title, revision = title_and_revision(quiz)
    lines = [
        f"<!-- Made by `grader build` from lessons/quizzes/{quiz.slug}.yaml: edit that file, not this one. -->",
        "",
        f"# Quiz {quiz.number}: {title}",
        "",
        f"[Lesson {quiz.number}](../{quiz.slug}.md) · {len(quiz.questions)} questions · "
        f"protocol revision {revision} where a question names no other",
        "",
        f"In the course's folder, `.venv/bin/python -m grader quiz {quiz.number:02}` asks the same questions one at a"
        " time in the terminal, remembers what you missed, and asks that first the next time.",
    ]
    part = ""
    for number, question in enumerate(quiz.questions, 1):
        if question.part != part:
            part = question.part
            lines += ["", f"## {part.capitalize()}"]
        lines += ["", f"### Question {number}: {quiz.topics[part][question.topic]}", "", question.prompt]
        if question.setup is not None:
            alt = quiz_setup.in_words(question.setup).replace("[", r"\[").replace("]", r"\]")
            lines += ["", f"![{alt}](figures/{figure_name(quiz, question)})"]
        if question.keys > 1:
            lines += ["", f"*{question.keys} of these are right.*"]
        lines.append("")
        lines += [_item(letter, option.text) for letter, option in zip(LETTERS, question.options, strict=False)]
        lines += ["", "<details>", f"<summary>Answer ({question.level})</summary>", ""]
        lines += [f"**{' and '.join(question.key)}.**", ""]
        lines += [_item(letter, in_full(option)) for letter, option in zip(LETTERS, question.options, strict=False)]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def in_full(option: Option) -> str:
    """The feedback of an option, the misconception first."""
    if option.correct:
        return option.feedback
    return f"*The idea behind it: {option.misconception.rstrip('.')}.* {option.feedback}"


def _item(letter: str, text: str) -> str:
    return f"- **{letter}.** " + text.replace("\n", "\n  ")
