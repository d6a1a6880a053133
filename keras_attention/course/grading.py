"""Grading a class: jobs for worker processes, each with a zygote of its own; a fault of theirs is no zero."""

import json
import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

from keras_attention.course import rules
from keras_attention.course.catalog import Exercise
from keras_attention.course.entries import Entry
from keras_attention.course.forked import START, own_command
from keras_attention.course.ledger import Ledger, Line, key
from keras_attention.course.submission import Submission, tree
from keras_attention.course.verdict import GraderFault, Text, Verdict

CHECKS = 8  # more than an exercise has


@dataclass(frozen=True)
class Settings:
    """What a run depends on; part of every key of its ledger."""

    seed: int
    seconds: float = 10.0
    memory: int = 2**30
    fresh: bool = False

    def to_json(self) -> dict[str, Any]:
        return vars(self)


@dataclass
class Job:
    """One text to judge, and the students who handed it in."""

    exercise: Exercise
    submission: Submission
    key: str
    students: list[str] = field(default_factory=list)


class Worker:
    """A process that judges; started again after it has ended."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            own_command("grade", "worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=_pump, args=(self._process.stdout, self._answers.put), daemon=True).start()
        hello = self._exchange(self._settings.to_json(), START)
        self.isolation, self.layers = hello["isolation"], hello["layers"]

    def judge(self, exercise: Exercise, submission: Submission) -> list[Verdict]:
        """Raises `GraderFault`, after which the worker is a new one."""
        # every check may use its time, and so may each known mistake
        patience = CHECKS * (self._settings.seconds + 60) + START * self._settings.fresh
        try:
            answer = self._exchange({"exercise": exercise.name, "submission": submission.to_json()}, patience)
            if "fault" in answer:
                raise GraderFault(answer["fault"])
            return [Verdict.from_json(verdict) for verdict in answer["verdicts"]]
        except GraderFault:
            self.close()
            self._start()
            raise

    def _exchange(self, message: dict[str, Any], patience: float) -> dict[str, Any]:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            return json.loads(self._answers.get(timeout=patience))
        except (OSError, ValueError, queue.Empty) as error:
            raise GraderFault(f"A worker gave no answer ({type(error).__name__}).") from None

    def close(self) -> None:
        """Let the worker end by itself, which tidies up; if it does not, it and what it has started."""
        assert self._process.stdin
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        with suppress(psutil.Error):
            for process in psutil.Process(self._process.pid).children(recursive=True):
                process.kill()
        self._process.kill()
        self._process.wait()


def _pump(stream: Any, use: Callable[[str], None]) -> None:
    with suppress(OSError, ValueError), stream:
        for line in stream:
            use(line)
    use("")


def plan(
    entries: Sequence[Entry], exercises: Sequence[Exercise], ledger: Ledger, settings: Sequence[object]
) -> list[Job]:
    """What is still to be judged; what the ledger knows of equal submissions is noted for all students."""
    known = ledger.results()
    jobs: dict[str, Job] = {}
    for entry in entries:
        for exercise in exercises:
            submission = entry.find(exercise)
            name = f"{exercise.name} {key(exercise, submission, settings)}"
            noted = ledger.lines.get((entry.student, exercise.name))
            if noted and noted.key == name and not noted.faulty:
                continue
            if name in known:
                ledger.add(_line(entry.student, exercise, submission, name, known[name]))
                continue
            job = jobs.setdefault(name, Job(exercise, submission, name))
            job.students.append(entry.student)
    return list(jobs.values())


def run(
    jobs: Sequence[Job],
    settings: Settings,
    workers: int,
    ledger: Ledger,
    ready: Callable[[Worker], None],
    done: Callable[[Job], None],
) -> None:
    """Judge all jobs. `ready` is called with each worker at its start, and may refuse it by an error."""
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    lock, errors = threading.Lock(), []
    stop = threading.Event()

    def work() -> None:
        worker: Worker | None = None
        try:
            worker = Worker(settings)
            with lock:
                ready(worker)
            while not stop.is_set():
                job = waiting.get_nowait()
                verdicts = _judge(worker, job)
                with lock:
                    for student in job.students:
                        ledger.add(_line(student, job.exercise, job.submission, job.key, verdicts))
                    done(job)
        except queue.Empty:
            pass
        except BaseException as error:
            errors.append(error)
            stop.set()
        finally:
            if worker:
                worker.close()

    threads = [threading.Thread(target=work) for _ in range(min(workers, len(jobs)))]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        stop.set()
        for thread in threads:
            thread.join()
        raise
    if errors:
        raise errors[0]


def _judge(worker: Worker, job: Job) -> tuple[Verdict, ...]:
    """Twice, if the grader fails the first time."""
    fault = GraderFault()
    for _ in range(2):
        try:
            verdicts = tuple(worker.judge(job.exercise, job.submission))
            if all(verdict.state != "error" for verdict in verdicts):
                return verdicts
            fault = GraderFault("; ".join(v.said for v in verdicts if v.state == "error"))
        except GraderFault as error:
            fault = error
    text = Text("The grader failed, not the submission.", "是评分程序出错，不是提交的代码出错。")
    facts: dict[str, Any] = {"points": 0, "max_points": 0, "state": "error", "seconds": 0, "text": text}
    return (Verdict(job.exercise.name, "", Text("", ""), said=str(fault)[:1000], **facts),)


def _line(
    student: str, exercise: Exercise, submission: Submission, name: str, verdicts: tuple[Verdict, ...]
) -> Line:
    seconds = sum(verdict.seconds for verdict in verdicts)
    review = tuple(_review(exercise, submission))
    return Line(student, exercise.name, name, verdicts, round(seconds, 3), submission.source, review)


def _review(exercise: Exercise, submission: Submission) -> list[str]:
    """What a person should look at."""
    if submission.fault:
        return []
    _, suspect = rules.findings(tree(submission.source))
    notes = [f"line {finding.line}: {finding.what}" for finding in suspect]
    if submission.source == exercise.solution.read_text(encoding="utf-8"):
        notes.append("equals the solution of the course")
    return notes
