"""The commands of the course: `python -m grader COMMAND`, or `grader COMMAND`.

One function for each command. It imports its own module when it runs, so that a missing
package costs one command, and costs it a sentence.
"""

import sys
from typing import Annotated

try:
    import typer

    from grader.terminal import console, fail, sentences
except ImportError as error:
    sys.exit(f"The package {error.name} is missing. Use .venv/bin/python, or: pip install -e '.[grader]'")

app = typer.Typer(
    name="grader",
    help="Build, check, run and score the course “Build an MCP client”.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def commands() -> None:
    """Without a callback, typer would turn a single command into the whole program."""


@app.command(epilog="Example: [bold]python -m grader build --check[/bold]")
def build(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; list what differs; exit 1 if any.")] = False,
    execute: Annotated[bool, typer.Option("--execute", help="Run every notebook, changed or not.")] = False,
) -> None:
    """Make every generated file from its source, and check the sources."""
    if check and execute:
        fail("--check never runs a notebook: use --check or --execute, not both.")
    with sentences():
        from grader import build as builder
        from grader.course import Course

        course = Course.load()
        with console.status("") as status:

            def tell(step: str) -> None:
                status.update(step)

            if check:
                result = builder.check(course, tell)
            else:
                result = builder.build(course, "always" if execute else "stale", tell)
    show_build(result, check)
    raise typer.Exit(0 if result.ok else 1)


def show_build(result, check: bool) -> None:
    """Say what a build did or found."""
    for path in result.written:
        console.print(f"  wrote {path}", markup=False)
    for problem in result.problems:
        console.print(f"✗ {problem}", style="red", markup=False)
    if result.mismatches:
        console.print("Other versions than the pinned ones: " + "; ".join(map(str, result.mismatches)), markup=False)
        console.print("They may make other bytes. To get the pinned ones: pip install -c constraints.txt -e '.[dev]'")
    if result.skipped:
        console.print("So these were NOT compared: " + ", ".join(result.skipped), style="yellow", markup=False)
    done = "compared" if check else f"made, {len(result.written)} of them changed"
    count = len(result.problems)
    verdict = "no problem" if not count else "1 problem" if count == 1 else f"{count} problems"
    compared = result.count - len(result.skipped)
    console.print(f"{compared} generated files {done}; {verdict}.", style="bold", markup=False)


@app.command(epilog="Example: [bold]python -m grader check exercises/01_namespace/01_namespace.ipynb[/bold]")
def check(
    notebooks: Annotated[list[str], typer.Argument(metavar="NOTEBOOK…", help="Exercises that you worked on.")],
) -> None:
    """Check your own answers: a line for each task, the points, and what to do next.

    Runs the notebook with all checks, the hidden ones too, in a folder of its own. Your file stays as it is.

    Exit code 0: all is solved. 1: something is not. 2: a file cannot be checked.
    """
    with sentences():
        from pathlib import Path

        from grader.check import NotAnExercise, check_file
        from grader.course import Course

    worst = 0
    for name in notebooks:
        try:
            with sentences(), console.status(f"running {name}"):
                report = check_file(Path(name), Course.load())
        except NotAnExercise as error:
            console.print(f"✗ {error}", style="red", markup=False)
            worst = 2
            continue
        show_report(report)
        worst = max(worst, 0 if report.solved else 1)
    raise typer.Exit(worst)


def show_report(report) -> None:
    """The lines of one checked notebook, its points, and the next step."""
    console.print(f"{report.path}: exercise {report.lesson.slug}", style="bold", markup=False)
    for result in report.results:
        console.print(f"  {result.line}", style="green" if result.earned else "red", markup=False)
    if report.reason:
        console.print(f"  The run was cut short: {report.reason}.", style="yellow", markup=False)
    console.print(f"  {report.earned:g} of {report.points:g} points. {report.next_step()}", style="bold", markup=False)


@app.command(epilog="Example: [bold]python -m grader gallery 01[/bold]")
def gallery(
    name: Annotated[str, typer.Argument(metavar="NN", help="An exercise by its number or slug: 01, 01_namespace.")],
    write: Annotated[bool, typer.Option("--write", help="Write the messages of now into expected.toml.")] = False,
) -> None:
    """For maintainers: run the wrong answers of an exercise and show what each is told.

    Exit code 0: each got exactly what expected.toml says. 1: some did not.
    """
    with sentences():
        from grader.course import Course
        from grader.gallery import check_mistake, lost_in, mistakes, write_expected

        course = Course.load()
    lesson = next((entry for entry in course.lessons if name in (entry.slug, entry.slug[:2])), None)
    if lesson is None:
        fail(f"There is no exercise {name!r}; there are {', '.join(entry.slug for entry in course.lessons)}.")
    if write:
        write_expected(lesson, course)
    bad = 0
    for mistake in [entry for entry in mistakes(course) if entry.lesson == lesson]:
        lost = lost_in(check_mistake(mistake, course))
        bad += lost != mistake.lost
        console.print(f"{'✓' if lost == mistake.lost else '✗'} {mistake.name}: {mistake.mistake}", markup=False)
        for task, message in lost.items():
            console.print(f"    task {task}: {message}", style="dim", markup=False)
    raise typer.Exit(1 if bad else 0)


@app.command(epilog="Example: [bold]python -m grader quiz 01[/bold]")
def quiz(
    name: Annotated[str, typer.Argument(metavar="NN", help="A quiz by its number or slug: 01, 01_namespace.")],
    ask_all: Annotated[bool, typer.Option("--all", help="Ask the questions that you had right, too.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Forget your answers to this quiz, then start.")] = False,
    state: Annotated[
        str, typer.Option(help="Folder for your answers; the default is your state folder.", metavar="FOLDER")
    ] = "",
) -> None:
    """Ask a quiz in the terminal. What you miss is asked again first the next time.

    Answer with a letter and Enter; q leaves and keeps your answers. Through a pipe, give one answer a line.

    Exit code 0: you answered every question. 1: you left before. 2: there is no such quiz. 130: Ctrl-C.
    """
    with sentences():
        from grader.quiz import run_quiz
    raise typer.Exit(run_quiz(name, ask_all=ask_all, reset=reset, state=state))


import grader.class_commands  # noqa: E402, F401  (grade, report, sample-class, progress, doctor)


def main() -> None:
    """Run the command that the command line names."""
    app(prog_name="python -m grader")


if __name__ == "__main__":
    main()
