"""The commands for a class: grade, report, sample-class; and doctor and progress for everybody."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from grader.cli import app
from grader.terminal import console, fail, sentences

NO_SANDBOX = (
    "`grade` runs what students wrote, and without isolation that code has your rights: it can read and delete "
    "your files and use your network. Isolation is not built yet. If you trust these submissions, or sit in a "
    "virtual machine made for this, say so with --no-sandbox."
)
INTERRUPTED = 130
WORK = "grader/work"
STYLES = {"graded": "green", "repaired": "cyan", "partial": "yellow", "unreadable": "red", "missing": "dim"}


@app.command(epilog="Example: [bold]python -m grader grade submissions --no-sandbox[/bold]")
def grade(
    submissions: Annotated[Path, typer.Argument(metavar="SUBMISSIONS", help="Folder with a folder for each student.")],
    work: Annotated[Path, typer.Option(metavar="DIR", help="Where everything that grading makes is kept.")] = Path(
        WORK
    ),
    no_sandbox: Annotated[bool, typer.Option("--no-sandbox", help="Run the students' code with your rights.")] = False,
    student: Annotated[str | None, typer.Option(metavar="ID", help="Grade this student again, and no other.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Notebooks that run at the same time.")] = 2,
    roster: Annotated[
        Path | None, typer.Option(metavar="CSV", help="All students: id, last_name, first_name, email.")
    ] = None,
    due: Annotated[
        list[str] | None, typer.Option(metavar="NN=TIME", help="When an exercise is due: 01=2026-12-01T23:59.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Of the hidden data; without it, the work folder keeps a random one.")
    ] = None,
    cell_seconds: Annotated[float, typer.Option(min=1, help="Limit for one cell.")] = 60,
    notebook_seconds: Annotated[float, typer.Option(min=5, help="Limit for one notebook.")] = 600,
) -> None:
    """Grade a class: marks, feedback for each student, and plots.

    A second run grades only what is new or changed; an interrupted one goes on where it was.

    Exit code 0: each submission has its result, also those that cannot be read. 1: the grader itself failed
    for some. 2: nothing was graded. 130: interrupted.
    """
    if not no_sandbox:
        fail(NO_SANDBOX)
    with sentences():
        from grader.course import Course
        from grader.due import parse_due
        from grader.grade import Options
        from grader.grade import grade as run
        from grader.report import report as write
        from grader.roster import read_roster
        from grader.run import Limits

        course = Course.load()
        options = Options(
            submissions=submissions,
            work=work,
            student=student,
            jobs=jobs,
            seed=seed,
            roster=tuple(read_roster(roster)) if roster else (),
            due=parse_due(due or [], course),
            limits=Limits(cell_seconds=cell_seconds, notebook_seconds=notebook_seconds),
        )
        try:
            with _bar() as bar:
                line = bar.add_task("starting", total=None)

                def tell(text: str, done: int, total: int) -> None:
                    bar.update(line, description=text[:24], completed=done, total=total)

                summary = run(course, options, tell)
        except KeyboardInterrupt:
            console.print(f"Interrupted. What is graded is kept in {work}; the same command goes on.", style="yellow")
            raise typer.Exit(INTERRUPTED) from None
        with console.status("writing the report"):
            written = write(course, work)
    show_table(written)
    show_summary(summary, written)
    raise typer.Exit(1 if summary.failed else 0)


@app.command(epilog="Example: [bold]python -m grader report --work grader/work[/bold]")
def report(
    work: Annotated[Path, typer.Option(metavar="DIR", help="The folder that `grade` worked in.")] = Path(WORK),
) -> None:
    """Write marks.csv, the feedback pages and the plots again, for example after points changed in formgrader.

    Exit code 0: written. 2: there is no gradebook there.
    """
    with sentences():
        from grader.course import Course
        from grader.report import report as write

        with console.status("writing the report"):
            written = write(Course.load(), work)
    show_table(written)
    show_paths(written)


def _bar() -> Progress:
    columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TextColumn("[progress.description]{task.description}"), console=console)


def show_table(written) -> None:
    """One line for each student and exercise."""
    exercises = sorted({row.record.assignment for row in written.rows})
    several = len(exercises) > 1
    table = Table(title="Marks" if several else f"Marks: {''.join(exercises)}", title_justify="left")
    for name in ("exercise", "student", "status")[not several :]:
        table.add_column(name, overflow="fold")
    table.add_column("points", justify="right")
    table.add_column("what to know", overflow="fold", ratio=1)
    for row in written.rows:
        record, marks = row.record, row.marks
        points = "" if marks is None or marks.score is None else f"{marks.score:g}/{marks.max_score:g}"
        late = [f"{marks.late_seconds / 3600:.1f} hours late."] if marks and marks.late_seconds else []
        known = " ".join([*(f"⚑ {flag}" for flag in record.flags), record.reason, *record.repairs, *late]).strip()
        status = Text(record.status, style=STYLES[record.status])
        cells = [record.assignment, Text(record.student), status, points, Text(known)]
        table.add_row(*cells[not several :])
    console.print(table)


def show_summary(summary, written) -> None:
    """How many were graded, and what else there is to know."""
    for sentence in (*summary.passed_over, *summary.gone):
        console.print(f"  {sentence}", style="dim", markup=False)
    for sentence in summary.failed:
        console.print(f"✗ {sentence}", style="red", markup=False)
    kept = f"; {summary.kept} kept, because nothing about them changed" if summary.kept else ""
    console.print(f"{summary.graded} graded now{kept}.", style="bold", markup=False)
    show_paths(written)


def show_paths(written) -> None:
    console.print(f"Marks:    {written.marks}", markup=False)
    if written.feedback:
        console.print(f"Feedback: {written.feedback[0]}  ({len(written.feedback)} pages)", markup=False)
    for path in written.plots:
        console.print(f"Plot:     {path}", markup=False)


@app.command("sample-class", epilog="Example: [bold]python -m grader sample-class grader/work/demo/submissions[/bold]")
def sample_class(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write them; it must be new.")],
) -> None:
    """Write a class of submissions as they really come in, to try `grade` on.

    Exit code 0: written. 2: the folder holds something else.
    """
    with sentences():
        from grader.sample_class.make_class import make_class

        try:
            students = make_class(folder)
        except FileExistsError as error:
            fail(str(error))
    console.print(f"{len(students)} students in {folder}.", markup=False)


@app.command(epilog="Example: [bold]python -m grader progress exercises[/bold]")
def progress(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="Where your notebooks are; without it, exercises/.")
    ] = None,
) -> None:
    """Show what is solved, from the outputs saved in your notebooks. Nothing is run.

    A check that you ran without the hidden checks says so; `grader check` runs those too.

    Exit code 0: everything is solved. 1: something is not. 2: there is no such folder.
    """
    with sentences():
        from grader.check import NotAnExercise
        from grader.course import Course
        from grader.progress import progress as look
        from grader.quiz import Memory, state_folder

        course = Course.load()
        try:
            found = look(course, folder or course.root / "exercises")
        except NotAnExercise as error:
            fail(str(error))
        memory = Memory(state_folder())
    signs = {"solved": "✓", "not yet": "✗", "not run": "·"}
    for entry in found:
        where = f"  ({entry.path})" if entry.path else "  (no notebook found)"
        head = f"{entry.assignment.slug}: {entry.earned:g} of {entry.points:g} points"
        console.print(f"{head}{where}", style="bold", markup=False)
        for number, title, points, state in entry.tasks:
            worth = f"{points:g} point{'' if points == 1 else 's'}"
            console.print(f"  {signs[state]} Task {number} ({title}): {state}, {worth}", markup=False)
        answers = list(memory.of(entry.assignment.slug).values())
        if answers:
            console.print(f"  Quiz: {answers.count('right')} of {len(answers)} answered questions right.", markup=False)
    earned, points = sum(entry.earned for entry in found), sum(entry.points for entry in found)
    console.print(f"{earned:g} of {points:g} points before the hidden checks, as saved in the notebooks.", style="bold")
    raise typer.Exit(0 if earned == points else 1)


@app.command(epilog="Example: [bold]python -m grader doctor[/bold]")
def doctor() -> None:
    """Try what the course needs on this machine, and say what is missing.

    Exit code 0: all that is needed works. 1: something is broken.
    """
    with sentences():
        from grader.doctor import examine

        with console.status("trying"):
            found = examine()
    signs = {"fine": ("✓", "green"), "missing": ("·", "yellow"), "broken": ("✗", "red")}
    for entry in found:
        sign, style = signs[entry.state]
        console.print(f"{sign} {entry.what}: {entry.text}", style=style, markup=False)
    broken = [entry.what for entry in found if entry.state == "broken"]
    console.print(
        f"Broken: {', '.join(broken)}." if broken else "All that is needed works.", style="bold", markup=False
    )
    raise typer.Exit(1 if broken else 0)
