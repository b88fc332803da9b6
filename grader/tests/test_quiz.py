"""The quiz in a terminal and through a pipe: it remembers, it asks again, it leaves in peace."""

import io
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from rich.console import Console

from grader import quiz, quiz_format
from grader.course import Course

COURSE = Course.load()
QUIZ = quiz_format.load(COURSE.root / "lessons/quizzes/01_namespace.yaml")
KEYS = {question.id: question.key for question in QUIZ.questions}
FIRST, SECOND, THIRD = list(KEYS)[:3]


def wrong(question_id):
    """An answer of the right form that is not right."""
    return "B" if KEYS[question_id] == "A" else "A" if len(KEYS[question_id]) == 1 else "BC"


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


def remembered(state):
    return json.loads((state / quiz.FILE).read_text()).get("01_namespace", {})


def remember(state, **answers):
    state.mkdir(exist_ok=True)
    told = {question_id.replace("_", "-"): answer for question_id, answer in answers.items()}
    (state / quiz.FILE).write_text(json.dumps({"01_namespace": told}))


def all_right(state, **others):
    remember(state, **{question_id.replace("-", "_"): "right" for question_id in KEYS} | others)


def run(state, lines, **options):
    """Run the quiz in this process on these lines; gives the exit code and what was shown."""
    shown = io.StringIO()
    console = Console(file=shown, width=88, highlight=False)
    source = io.StringIO("".join(line + "\n" for line in lines))
    code = quiz.run_quiz("01", state=state, source=source, console=console, **options)
    return code, shown.getvalue()


def test_all_answers_right_ends_with_code_0_and_nothing_to_ask(state):
    code, shown = run(state, KEYS.values())
    assert code == quiz.FINISHED
    assert f"{len(KEYS)} of {len(KEYS)} right." in shown
    assert set(remembered(state).values()) == {"right"}
    code, shown = run(state, [])
    assert code == quiz.FINISHED
    assert "missed none the last time" in shown


def test_what_was_missed_is_asked_first_the_next_time_and_what_was_right_is_not(state):
    run(state, [KEYS[FIRST], wrong(SECOND), "q"])
    assert remembered(state) == {FIRST: "right", SECOND: "missed"}
    code, shown = run(state, [KEYS[SECOND], "q"])
    assert code == quiz.LEFT_EARLY
    assert f"{len(KEYS) - 1} questions, first the 1 that you missed." in shown
    assert remembered(state) == {FIRST: "right", SECOND: "right"}


def test_a_missed_question_stays_missed_until_it_is_right(state):
    all_right(state, **{SECOND.replace("-", "_"): "missed"})
    code, shown = run(state, [wrong(SECOND)])
    assert code == quiz.FINISHED
    assert "1 question that you missed." in shown
    assert "0 of 1 right." in shown
    assert "Asked again first the next time: " in shown
    assert remembered(state)[SECOND] == "missed"


def test_feedback_is_for_the_chosen_option_and_for_the_right_one(state):
    _, shown = run(state, [wrong(FIRST), "q"])
    question = QUIZ.questions[0]
    chosen = question.options["ABCD".index(wrong(FIRST))]
    right = question.options["ABCD".index(question.key)]
    told = " ".join(shown.split())
    assert "✗ Not quite." in told
    assert f"The idea behind it: {chosen.misconception}." in told
    assert " ".join(right.feedback.split()) in told
    others = [option for option in question.options if option not in (chosen, right)]
    assert not any(" ".join(option.feedback.split()) in told for option in others)


def test_without_colour_code_keeps_its_backticks(state):
    _, shown = run(state, [KEYS[FIRST], KEYS[SECOND], "q"])
    assert "must come before `tools/list`" in " ".join(shown.split())


def test_letters_may_be_small_and_a_set_may_be_typed_in_any_order(state):
    (pair,) = [question for question in QUIZ.questions if question.keys == 2]
    all_right(state, **{pair.id.replace("-", "_"): "missed"})
    code, shown = run(state, [", ".join(reversed(pair.key.lower()))])
    assert (code, remembered(state)[pair.id]) == (quiz.FINISHED, "right")
    assert "2 of these are right." in shown


@pytest.mark.parametrize("nonsense", ["", "x", "AB", "1", "?", "é"])
def test_an_answer_that_is_none_is_asked_for_again(state, nonsense):
    _, shown = run(state, [nonsense, KEYS[FIRST], "q"])
    assert "Type one letter of A, B, C, D" in shown
    assert remembered(state) == {FIRST: "right"}


def test_all_asks_every_question_and_reset_forgets(state):
    all_right(state)
    code, shown = run(state, ["q"], ask_all=True)
    assert f"{len(KEYS)} questions. A letter" in shown
    assert len(remembered(state)) == len(KEYS)
    code, shown = run(state, ["q"], reset=True)
    assert code == quiz.LEFT_EARLY
    assert f"{len(KEYS)} questions. A letter" in shown
    assert remembered(state) == {}


def test_reset_keeps_the_answers_to_other_quizzes(state):
    state.mkdir()
    (state / quiz.FILE).write_text(json.dumps({"01_namespace": {FIRST: "right"}, "02_subprocess": {"x": "missed"}}))
    run(state, ["q"], reset=True)
    assert json.loads((state / quiz.FILE).read_text()) == {"02_subprocess": {"x": "missed"}}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"01_namespace": 3}', "\x00"])
def test_a_broken_memory_is_set_aside_and_said_once(state, content):
    state.mkdir()
    (state / quiz.FILE).write_text(content)
    code, shown = run(state, KEYS.values())
    assert code == quiz.FINISHED
    assert shown.count("held no answers that we can read") == 1
    assert (state / "quiz.broken").read_text() == content
    assert set(remembered(state).values()) == {"right"}


def test_an_unknown_question_in_the_memory_does_no_harm(state):
    remember(state, long_gone="missed")
    code, _ = run(state, KEYS.values())
    assert code == quiz.FINISHED


def test_a_folder_that_cannot_be_written_costs_the_memory_and_not_the_quiz(tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, shown = run(tmp_path / "file" / "state", KEYS.values())
    assert code == quiz.FINISHED
    assert shown.count("remembers nothing") == 1


def test_the_memory_is_in_the_users_state_folder_and_private_to_it(tmp_path):
    assert quiz.state_folder("x", {"MCP_COURSE_STATE": "y"}) == Path("x")
    assert quiz.state_folder(None, {"MCP_COURSE_STATE": "y", "XDG_STATE_HOME": "/z"}) == Path("y")
    assert quiz.state_folder(None, {"XDG_STATE_HOME": "/z"}) == Path("/z/build-an-mcp-client")
    usual = Path("~/.local/state/build-an-mcp-client").expanduser()
    assert quiz.state_folder(None, {}) == quiz.state_folder(None, {"XDG_STATE_HOME": "relative"}) == usual
    run(tmp_path, [KEYS[FIRST], "q"])
    assert stat.S_IMODE((tmp_path / quiz.FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [quiz.FILE]


@pytest.mark.parametrize("name", ["1", "01", "01_namespace", "01_namespace.yaml"])
def test_a_quiz_is_found_by_number_and_by_slug(name):
    assert quiz.find_quiz(name, COURSE) == QUIZ.path


@pytest.mark.parametrize("name", ["0", "99", "namespace", "../01_namespace", "", "²"])
def test_a_quiz_that_is_not_there_gets_the_list_of_those_that_are(name):
    with pytest.raises(quiz_format.QuizError, match=r"There are: 01 \(One namespace for many servers\)"):
        quiz.find_quiz(name, COURSE)


# --- The command, in a process of its own ----------------------------------------------

COMMAND = [sys.executable, "-m", "grader", "quiz", "01"]


def environment(state, **more):
    return {**os.environ, "MCP_COURSE_STATE": str(state), "PYTHONPATH": "", **more}


def piped(state, text, *options, **more):
    return subprocess.run(
        [*COMMAND, *options],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=COURSE.root,
        env=environment(state, **{"PYTHONIOENCODING": "utf-8", **more}),
        timeout=60,
        check=False,
    )


def test_through_a_pipe_the_end_of_the_input_ends_the_quiz_and_keeps_the_answers(state):
    done = piped(state, f"{KEYS[FIRST]}\n{wrong(SECOND)}\n")
    assert (done.returncode, done.stderr) == (quiz.LEFT_EARLY, "")
    assert f"{len(KEYS) - 2} questions left" in done.stdout
    assert "\x1b" not in done.stdout
    assert remembered(state) == {FIRST: "right", SECOND: "missed"}


def test_through_a_pipe_every_answer_given_ends_with_code_0(state):
    done = piped(state, "\n".join(KEYS.values()))  # no line end behind the last one
    assert (done.returncode, done.stderr) == (quiz.FINISHED, "")


def test_an_output_that_knows_ascii_only_gets_the_quiz_too(state):
    all_right(state, call_read="missed")
    done = piped(state, "B\n", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (done.returncode, done.stderr) == (quiz.FINISHED, "")
    assert "client 1" in done.stdout


def test_the_help_shows_an_example(state):
    done = piped(state, "", "--help", COLUMNS="100")
    assert "Example: python -m grader quiz 01" in done.stdout


def test_the_state_option_wins_over_the_variable(state, tmp_path):
    piped(state, "q\n", "--state", str(tmp_path / "other"), "--reset")
    assert (tmp_path / "other" / quiz.FILE).exists()
    assert not state.exists()


@pytest.fixture
def terminal(state):
    """The quiz in a terminal of 80 columns."""
    child = pexpect.spawn(
        COMMAND[0],
        COMMAND[1:],
        cwd=str(COURSE.root),
        env=environment(state, TERM="xterm-256color", COLUMNS="80", LINES="40"),
        encoding="utf-8",
        timeout=30,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where pytest runs in the background
        dimensions=(40, 80),
    )
    yield child
    child.close(force=True)


def ended(child):
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def test_in_a_terminal_one_question_at_a_time_and_q_leaves(terminal, state):
    terminal.expect("Question 1 of")
    terminal.expect("Your answer: ")
    assert "Question 2 of" not in terminal.before
    terminal.sendline(KEYS[FIRST])
    terminal.expect("✓ Right")
    terminal.expect("Question 2 of")
    terminal.expect("Your answer: ")
    terminal.sendline(wrong(SECOND))
    terminal.expect("Not quite")
    terminal.expect("Your answer: ")
    terminal.sendline("q")
    terminal.expect("left for the next time")
    assert ended(terminal) == quiz.LEFT_EARLY
    assert remembered(state) == {FIRST: "right", SECOND: "missed"}


@pytest.mark.parametrize(("how", "code"), [("intr", quiz.INTERRUPTED), ("eof", quiz.LEFT_EARLY)])
def test_in_a_terminal_ctrl_c_and_ctrl_d_leave_without_a_traceback(terminal, state, how, code):
    terminal.expect("Your answer: ")
    terminal.sendline(KEYS[FIRST])
    terminal.expect("Question 2 of")
    terminal.expect("Your answer: ")
    terminal.sendintr() if how == "intr" else terminal.sendeof()
    terminal.expect("Your answers so far are kept")
    assert ended(terminal) == code
    assert "Traceback" not in terminal.before
    assert remembered(state) == {FIRST: "right"}


def test_a_kill_loses_no_answer(terminal, state):
    terminal.expect("Your answer: ")
    terminal.sendline(KEYS[FIRST])
    terminal.expect("Question 2 of")
    terminal.kill(signal.SIGKILL)
    terminal.expect(pexpect.EOF)
    assert remembered(state) == {FIRST: "right"}
