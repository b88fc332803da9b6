"""Grade a class: collect → repair → run → score → gradebook, each step handing its value to the next.

Only this coordinator writes the gradebook. Runs are mapped over an executor; whatever a submission
holds or does, the others go on. A run that is interrupted, even killed, goes on where it was when
it is started again, and a second run does only what has changed.
"""

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from nbformat import NotebookNode

from grader.assignment import Assignment, load_assignments
from grader.attempt import GUARD, Job, Outcome, attempt
from grader.book import Book
from grader.collect import Submission, collect, student_id
from grader.course import Course, CourseError
from grader.kit import Kit, make_kit
from grader.leftovers import adopted, kill_marked_by
from grader.repair import Repaired, repair
from grader.roster import Student
from grader.run import Limits
from grader.score import score
from grader.work import Record, Work

CLASS = "COURSE_CLASS"  # environment variable that all processes of one work folder inherit


@dataclass(frozen=True)
class Options:
    """What the instructor asked for."""

    submissions: Path
    work: Path
    student: str | None = None
    jobs: int = 2
    seed: str | None = None
    roster: tuple[Student, ...] = ()
    due: dict[str, datetime] = field(default_factory=dict)  # exercise → UTC, without a zone
    limits: Limits = field(default_factory=Limits)


@dataclass
class Summary:
    """What a run did. `failed` names submissions where the grader itself went wrong."""

    graded: int = 0
    kept: int = 0
    gone: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """One submission on its way: repaired, with its job."""

    submission: Submission
    repaired: Repaired
    digest: str
    job: Job


Tell = Callable[[str, int, int], None]  # what happened, how many are done, of how many


def grade(course: Course, options: Options, tell: Tell = lambda text, done, total: None) -> Summary:
    """Grade what is new or changed in a folder of submissions."""
    if not options.submissions.is_dir():
        raise CourseError(f"{options.submissions} is no folder: give the one that holds a folder for each student.")
    assignments = load_assignments(course)
    work = Work.open(options.work)
    with work.locked(), adopted():
        kill_marked_by(CLASS, work.mark)  # what a killed run may have left
        collection = collect(options.submissions, assignments, options.student)
        _complain_if_empty(options, collection.students)
        book = Book(course, work.folder)
        try:
            run = ClassRun(course, options, work, book)
            run.enter(collection.students, [s.assignment for s in collection.submissions if s.assignment])
            run.summary.passed_over = list(collection.passed_over)
            run.forget_gone({(s.student, s.slug) for s in collection.submissions}, collection.students)
            run.all(collection.submissions, tell)
            return run.summary
        finally:
            kill_marked_by(CLASS, work.mark)
            book.close()


def _complain_if_empty(options: Options, students: tuple[str, ...]) -> None:
    if options.student is not None and student_id(options.student) not in students:
        raise CourseError(f"There is no folder {options.student!r} in {options.submissions}.")
    if not students:
        raise CourseError(
            f"There is no student's folder in {options.submissions}: expected {options.submissions}/STUDENT_ID/*.ipynb."
        )


class ClassRun:
    """One run of the coordinator over a class."""

    def __init__(self, course: Course, options: Options, work: Work, book: Book) -> None:
        self.options, self.work, self.book = options, work, book
        self.kit: Kit = make_kit(course, work.folder / "kit")
        self.seed = work.seed(options.seed)
        self.summary = Summary()

    def enter(self, students: tuple[str, ...], assignments: list[Assignment]) -> None:
        """Enter students and exercises into the gradebook."""
        roster = {student.id: student for student in self.options.roster}
        for name in sorted({*students, *roster}):
            entry = roster.get(name)
            names = vars(entry).copy() if entry else {}
            names.pop("id", None)
            self.book.add_student(name, **names)
        for assignment in {assignment.slug: assignment for assignment in assignments}.values():
            self.book.add_assignment(assignment, self.options.due.get(assignment.slug))

    def forget_gone(self, there: set[tuple[str, str]], students: tuple[str, ...]) -> None:
        """Take back marks whose file is no longer in this folder."""
        here = str(self.options.submissions.resolve())
        for record in self.work.records():
            whole = self.options.student is None or record.student in students
            if whole and (record.student, record.assignment) not in there and record.file.startswith(here + "/"):
                self.work.forget(record.student, record.assignment)
                self.book.remove(record.assignment, record.student)
                if record.status == "unreadable":
                    continue
                self.summary.gone.append(
                    f"{record.student}: the notebook of {record.assignment} is gone, its marks too."
                )

    def all(self, submissions: tuple[Submission, ...], tell: Tell) -> None:
        """Bring every submission to its record."""
        total, done = len(submissions), 0
        running: dict[Future[Outcome], Plan] = {}
        with self._executor(running) as executor:
            for submission in submissions:
                plan = self._guarded(submission, lambda s=submission: self.prepare(s))
                if plan is None:
                    done += 1
                    tell(submission.student, done, total)
                else:
                    running[executor.submit(attempt, plan.job)] = plan
            for future in as_completed(list(running)):
                plan = running.pop(future)
                self._guarded(plan.submission, lambda p=plan, f=future: self.finish(p, f.result()))
                done += 1
                tell(plan.submission.student, done, total)

    def prepare(self, submission: Submission) -> Plan | None:
        """Repair one submission and plan its run; None if there is nothing to run."""
        if submission.assignment is None or submission.reason:
            self._save_unread(submission)
            return None
        repaired = repair(list(submission.cells), submission.assignment)
        digest = self._digest(submission)
        if self._is_kept(submission, digest):
            self.summary.kept += 1
            return None
        student, slug = submission.student, submission.slug
        self.work.save_notebook("submitted", student, slug, repaired.notebook)
        self.work.save_timestamp(student, slug, submission.handed_in)
        armed = self.book.with_checks(repaired.notebook, slug, student)
        env = {"COURSE_SEED": self.seed, "NBGRADER_EXECUTION": "autograde", CLASS: self.work.mark}
        job = Job(student, slug, armed, self.kit, self.options.limits, env)
        return Plan(submission, repaired, digest, job)

    def finish(self, plan: Plan, outcome: Outcome) -> None:
        """Score an executed notebook and enter it: notebook and record first, then the gradebook, then the receipt."""
        submission, assignment = plan.submission, plan.submission.assignment
        assert assignment is not None
        scored = score(outcome, assignment)
        repairs = (*submission.notes, *plan.repaired.repairs)
        record = Record(
            submission.student,
            submission.slug,
            "partial" if scored.reason else "repaired" if repairs else "graded",
            str(submission.path.resolve()),
            scored.reason,
            (*plan.repaired.flags, *scored.flags),
            repairs,
            scored.verdicts,
            plan.digest,
            seconds=round(outcome.seconds, 1),
        )
        self.summary.graded += 1
        self._enter(submission, record, scored.notebook)

    def _enter(self, submission: Submission, record: Record, notebook: NotebookNode) -> None:
        student, slug = submission.student, submission.slug
        self.work.save_record(record)
        made = self.book.save(notebook, slug, student, submission.handed_in)
        self.work.save_notebook("autograded", student, slug, made)
        self.work.save_record(replace(record, done=self._receipt(submission, record.digest)))

    def _is_kept(self, submission: Submission, digest: str) -> bool:
        """Whether this submission was graded before exactly so; what is late is counted again if only that changed."""
        student, slug = submission.student, submission.slug
        record = self.work.record(student, slug)
        if self.options.student is not None or record is None or record.digest != digest or not record.done:
            return False
        path = self.work.notebook_path("autograded", student, slug)
        if not path.is_file() or not self.book.has(slug, student):
            return False
        if record.done != self._receipt(submission, digest):
            self.book.late_again(path, slug, student, submission.handed_in)
            self.work.save_record(replace(record, done=self._receipt(submission, digest)))
        return True

    def _digest(self, submission: Submission) -> str:
        """Changes with everything that a verdict depends on."""
        assert submission.assignment is not None
        source, release = submission.assignment.source, submission.assignment.release
        parts = [submission.data, repr(source).encode(), repr(release).encode(), self.kit.digest.encode()]
        parts += [self.seed.encode(), repr(self.options.limits).encode(), GUARD.read_bytes()]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(hashlib.sha256(part).digest())
        return digest.hexdigest()

    def _receipt(self, submission: Submission, digest: str) -> str:
        """Changes with the verdicts, and with what makes a submission late."""
        parts = [digest, submission.handed_in, self.book.due(submission.slug), self.book.late_policy()]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _save_unread(self, submission: Submission) -> None:
        """The record of a file that nobody can read."""
        student, slug = submission.student, submission.slug
        self.work.forget(student, slug)
        self.book.remove(slug, student)
        path = str(submission.path.resolve())
        self.work.save_record(Record(student, slug, "unreadable", path, submission.reason, repairs=submission.notes))
        self.summary.graded += 1

    def _guarded(self, submission: Submission, step: Callable[[], Plan | None]) -> Plan | None:
        """Take one step for one submission. If the grader itself fails, that is written down, and the others go on."""
        try:
            return step()
        except Exception as error:
            student, slug = submission.student, submission.slug
            reason = f"The grader itself failed ({type(error).__name__}: {str(error)[:200]}); nothing was scored."
            self.work.save_record(Record(student, slug, "partial", str(submission.path.resolve()), reason))
            self.book.remove(slug, student)
            self.summary.failed.append(f"{student}, {slug}: {reason}")
            return None

    @contextmanager
    def _executor(self, running: dict[Future[Outcome], Plan]) -> Iterator[Executor]:
        """The executor of the runs. An interrupt drops what waits and ends what runs."""
        executor = ThreadPoolExecutor(max(1, self.options.jobs), thread_name_prefix="run")
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            while any(future.running() for future in running):
                kill_marked_by(CLASS, self.work.mark)
                wait(running, timeout=0.2)
            raise
        finally:
            executor.shutdown(wait=True)
