"""The linter of quizzes: each rule fires on a quiz that breaks it, and only then. And the page."""

import copy
import xml.etree.ElementTree as ET

import pytest
import yaml

from grader import quiz_format, quiz_setup
from grader.course import Course

COURSE = Course.load()
QUIZZES = sorted((COURSE.root / "lessons/quizzes").glob("*.yaml"))
SETUP = {"servers": [{"name": "notes", "tools": ["search"]}, {"name": "files", "tools": ["read"], "dead": True}]}


def question(number, key, **more):
    """A sound question whose right option is `key`."""
    options = [
        {"text": f"answer {letter} of {number}", "feedback": "So it is.", "misconception": "an idea"}
        for letter in "ABCD"
    ]
    options["ABCD".index(key)] = {"text": f"key {number}", "feedback": "It holds.", "correct": True}
    return {"id": f"q{number}", "topic": "t", "level": "apply", "prompt": "What?", "options": options, **more}


def sound():
    """A quiz in which the linter finds nothing."""
    return {"topics": {"concept": {"t": "a topic"}}, "questions": [question(n, "ABCD"[n % 4]) for n in range(8)]}


@pytest.fixture
def found(tmp_path):
    """What the linter says about a sound quiz after `change(quiz)`."""

    def lint(change=lambda quiz: None):
        quiz = sound()
        change(quiz)
        path = tmp_path / "quizzes" / "01_try.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(quiz, sort_keys=False, allow_unicode=True), encoding="utf-8")
        return quiz_format.lint(path)

    return lint


def first(**changes):
    return lambda quiz: quiz["questions"][0].update(changes)


def option(place, **changes):
    return lambda quiz: quiz["questions"][0]["options"][place].update(changes)


def setup(**changes):
    return lambda quiz: quiz["questions"][0].update(setup={**copy.deepcopy(SETUP), **changes})


def put_all_at(letter):
    def change(quiz):
        quiz["questions"] = [question(n, letter) for n in range(8)]

    return change


def make_longest(count):
    def change(quiz):
        for entry in quiz["questions"][:count]:
            next(o for o in entry["options"] if o.get("correct"))["text"] += " and much more than that"

    return change


def four_in_a_row(quiz):
    quiz["questions"] = [question(n, key) for n, key in enumerate("AAAABBCCDDBCDBCD")]


def never_d(quiz):
    quiz["questions"] = [question(n, key) for n, key in enumerate("ABCABCAB")]


def drop(key):
    return lambda quiz: quiz["questions"][0]["options"][1].pop(key)


def mark_second(quiz):
    quiz["questions"][0]["options"][1] = {"text": "one more key", "feedback": "It holds too.", "correct": True}


def mix_parts(quiz):
    quiz["topics"] = {"concept": {"t": "a topic"}, "problem": {"u": "another"}}
    quiz["questions"][0]["topic"] = "u"


def using_it(quiz):
    quiz["topics"] = {"using it": {"t": "a topic"}}
    for entry in quiz["questions"][1:]:
        entry["setup"] = SETUP


def two_topics(quiz):
    quiz["topics"] = {"concept": {"t": "a topic"}, "problem": {"t": "again"}}


def with_values(*values, runs="1 + 1"):
    def change(quiz):
        quiz["questions"][0]["runs"] = runs
        for place, value in values:
            quiz["questions"][0]["options"][place]["value"] = value

    return change


def test_a_sound_quiz_passes(found):
    assert found() == []


def test_a_sentence_names_the_file_the_question_and_what_mends_it(found):
    assert found(first(level="guess")) == [
        "lessons/quizzes/01_try.yaml: question q0: the level 'guess' is unknown:"
        " use define, explain, apply, analyse, design."
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda quiz: quiz.update(title="x"), "the file has the unknown key 'title'"),
        (lambda quiz: quiz.pop("topics"), "topics is not a mapping"),
        (lambda quiz: quiz.update(questions=[]), "has no questions"),
        (two_topics, "topic t is listed twice"),
        (first(answer="A"), "question q0: it has the unknown key 'answer'"),
        (first(promt="x"), "(did you mean prompt?)"),
        (option(1, misconceptions="x"), "option B has the unknown key 'misconceptions'"),
        (first(id="q1"), "question q1: the id is used twice"),
        (first(id="Not An Id"), "question number 1 has no usable id"),
        (first(topic="tt"), "the topic 'tt' is not at the head of the file"),
        (first(prompt=" "), "prompt is not a text"),
        (first(prompt=3), "prompt is not a text"),
        (first(keys=0), "keys is not a number from 1"),
        (first(options=[]), "it has not between 3 and 8 options"),
        (option(1, text=5), "option B has no text"),
        (drop("feedback"), "option B has no feedback"),
        (option(0, feedback=""), "option A has no feedback"),
        (option(0, correct="yes"), "option A: correct is true or false"),
        (option(1, misconception=""), "option B: misconception is not a text"),
        (drop("misconception"), "option B names no misconception"),
        (option(0, misconception="an idea"), "option A is right and names a misconception"),
        (option(0, correct=False, misconception="an idea"), "0 options are right but one declared"),
        (mark_second, "2 options are right but one declared"),
        (first(keys=2), "1 options are right but `keys: 2` declared"),
        (option(1, text="All of the above."), "option B speaks about other options"),
        (option(1, text="None of these"), "option B speaks about other options"),
        (option(1, text="Both A and C."), "option B speaks about other options"),
        (option(1, text="key 0"), "two options have the text 'key 0'"),
        (option(1, feedback="Wrong! Read again."), "option B: the feedback scolds"),
        (option(1, feedback="No, it is not."), "option B: the feedback scolds"),
        (using_it, "question q0: it is about using code and has no setup"),
        (with_values((1, 2)), "has `runs:` and its right option no `value:`"),
        (with_values((0, 2), (1, 2)), "two options have the same `value:`"),
        (option(0, value=2), "an option has a `value:` and the question no `runs:`"),
        (lambda quiz: quiz["topics"]["concept"].update(u="never asked"), "topic u has no question"),
        (mix_parts, "the questions do not follow the parts"),
        (make_longest(3), "the right option is the longest in 3 of 8 questions"),
        (put_all_at("B"), "the right option is B in 8 of 8 questions, more than 3"),
        (never_d, "the right option is D in 0 of 8 questions, fewer than 1"),
        (four_in_a_row, "question q3: A is right for the fourth time in a row"),
        (setup(server=[]), "setup has the unknown key 'server'"),
        (setup(servers=[]), "setup has no servers"),
        (setup(servers=[{"tools": ["x"]}]), "a server of the setup has no name"),
        (setup(servers=[{"name": "a", "tools": ["x"], "alive": True}]), "has the unknown key 'alive'"),
        (setup(servers=[{"name": "a"}]), "has no list of tool names"),
        (setup(servers=[{"name": "a", "tools": ["x"], "dead": "yes"}]), "dead is true or false"),
        (setup(servers=SETUP["servers"] * 2), "setup names a server twice"),
        (setup(policy="prefer"), "setup has the unknown policy 'prefer'"),
        (setup(calls="search"), "calls is a list of tool names"),
        (setup(sees=7), "sees is a string"),
        (setup(process="one"), "process is true or false"),
        (setup(table=[["a", "b"]]), "a row of table is"),
        (setup(reply=["github", "error"]), "reply is [a server of this setup"),
        (lambda quiz: quiz["questions"][0].update(setup=3), "setup is not a mapping"),
    ],
)
def test_each_rule_fires(found, change, sentence):
    assert any(sentence in problem for problem in found(change)), found(change)


def test_a_third_of_the_questions_may_have_the_longest_key(found):
    assert found(make_longest(2)) == []


def test_a_declared_set_of_keys_is_sound(found):
    def change(quiz):
        mark_second(quiz)
        quiz["questions"][0]["keys"] = 2

    assert found(change) == []


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("01_x.yaml", "topics: {a: {t: x}}\ntopics: {}\n", "line 2 is not YAML (the key 'topics' is written twice)"),
        ("01_x.yaml", "topics: [\n", "is not YAML"),
        ("01_x.yaml", "just a text", "is not a mapping"),
        ("first.yaml", "topics: {}", "the file's name is not NN_slug.yaml"),
        ("01_none.yaml", None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_quiz_gets_a_sentence(tmp_path, name, text, sentence):
    if text is not None:
        (tmp_path / name).write_text(text)
    (problem,) = quiz_format.lint(tmp_path / name)
    assert problem.startswith(f"{name}: ")
    assert sentence in problem
    with pytest.raises(quiz_format.QuizError):
        quiz_format.load(tmp_path / name)


@pytest.mark.parametrize("path", QUIZZES, ids=lambda path: path.stem)
class TestTheQuizzesOfTheCourse:
    def test_lint_clean(self, path):
        assert quiz_format.lint(path) == []

    def test_the_page_is_the_same_each_time_and_says_where_it_comes_from(self, path):
        page = quiz_format.render_page(path)
        assert page == quiz_format.render_page(path)
        assert page.startswith("<!-- Made by `grader build` from lessons/quizzes/")
        assert str(COURSE.root) not in page

    def test_the_page_shows_no_answer_outside_the_folds(self, path):
        quiz, page = quiz_format.load(path), quiz_format.render_page(path)
        open_parts = [part.split("</details>")[-1] for part in page.split("<details>")]
        assert len(open_parts) == len(quiz.questions) + 1
        for question in quiz.questions:
            for option in question.options:
                assert not any(option.feedback in part for part in open_parts)

    def test_github_renders_what_is_inside_a_fold(self, path):
        for fold in quiz_format.render_page(path).split("<details>")[1:]:
            inside = fold.split("</details>")[0]
            assert inside.split("</summary>")[1].startswith("\n\n")
            assert inside.endswith("\n\n")

    @pytest.mark.slow
    def test_every_figure_is_on_the_page_with_words_and_the_same_each_time(self, path):
        quiz, page, figures = quiz_format.load(path), quiz_format.render_page(path), quiz_format.figures(path)
        assert len(figures) == sum(question.setup is not None for question in quiz.questions)
        assert figures == quiz_format.figures(path)
        for name, drawing in figures.items():
            assert f"](figures/{name})" in page
            assert ET.fromstring(drawing).tag.endswith("svg")
            assert b"<dc:date>" not in drawing

    def test_the_figures_words_tell_every_server_and_every_call(self, path):
        for question in quiz_format.load(path).questions:
            if question.setup is not None:
                for told in (quiz_setup.in_words(question.setup), quiz_setup.as_text(question.setup)):
                    assert all(server.name in told for server in question.setup.servers)
                    assert all(call in told for call in question.setup.calls)
                    assert told.count("dead") == sum(server.dead for server in question.setup.servers)
                assert max(map(len, quiz_setup.as_text(question.setup).splitlines())) <= 76


def test_quiz_1_asks_enough_of_each_part():
    quiz = quiz_format.load(COURSE.root / "lessons/quizzes/01_namespace.yaml")
    assert len(quiz.questions) >= 18
    assert list(quiz.topics) == ["warm-up", "problem", "concept", "using it"]
    assert {question.level for question in quiz.questions} == set(quiz_format.LEVELS)
