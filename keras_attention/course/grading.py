"""Grading a class: jobs for worker processes, each with a zygote of its own; a fault of theirs is no zero."""

import json
import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import psutil

from keras_attention.course import rules
from keras_attention.course.catalog import Exercise
from keras_attention.course.entries import Entry
from keras_attention.course.forked import PATIENCE, START, own_command
from keras_attention.course.ledger import Ledger, Line, Wanted, key
from keras_attention.course.submission import Submission, tree
from keras_attention.course.verdict import GraderFault, Text, Verdict


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
    """A process that judges; started again after it has ended.

    Args:
        settings: of the run.
        ready: called with the worker whenever its process has started; may refuse it by an error.
        stop: once it is set no process is started any more.
    """

    def __init__(self, settings: Settings, ready: Callable[["Worker"], None], stop: threading.Event):
        self._settings, self._ready, self._stop = settings, ready, stop
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()

    def start(self) -> None:
        self._answers = queue.SimpleQueue()
        if self._stop.is_set():  # if it is set from here on, `give_up` finds the new queue
            raise GraderFault("The run was stopped.")
        self._process = subprocess.Popen(
            own_command("grade", "worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        threading.Thread(target=_pump, args=(self._process.stdout, self._answers.put), daemon=True).start()
        hello = self._exchange(self._settings.to_json(), START)
        self.isolation, self.layers = hello["isolation"], tuple(hello["layers"])
        self._ready(self)

    def judge(self, exercise: Exercise, submission: Submission) -> tuple[Verdict, ...]:
        """Raises `GraderFault`, after which the next job gets a new process."""
        try:
            if not self._process:
                self.start()
            job = {"exercise": exercise.name, "submission": submission.to_json()}
            answer = self._exchange(job, patience(exercise, self._settings))
            if "fault" in answer:
                raise GraderFault(answer["fault"])
            verdicts = tuple(Verdict.from_json(verdict) for verdict in answer["verdicts"])
            if faults := [verdict.said for verdict in verdicts if verdict.state == "error"]:
                raise GraderFault("; ".join(faults))
            return verdicts
        except BaseException:
            self.close()
            raise

    def give_up(self) -> None:
        """For another thread, once `stop` is set: the answer that is waited for does not come."""
        self._answers.put("")

    def _exchange(self, message: dict[str, Any], patience: float) -> dict[str, Any]:
        assert self._process
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            return json.loads(self._answers.get(timeout=patience))
        except (OSError, ValueError, queue.Empty) as error:
            raise GraderFault(f"A worker gave no answer ({type(error).__name__}).") from None

    def close(self) -> None:
        """Let the worker end by itself, which tidies up; if it does not, it and what it has started."""
        if not self._process:
            return
        assert self._process.stdin
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        started: list[psutil.Process] = []
        with suppress(psutil.Error):
            started = psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        self._process.wait()
        for process in psutil.wait_procs(started, timeout=3)[1]:  # most end, and tidy up, with the worker
            with suppress(psutil.Error):
                process.kill()
        self._process = None


def patience(exercise: Exercise, settings: Settings) -> float:
    """Seconds within which a worker answers.

    All checks meet in one process, then each may need one of its own, and with each the known mistakes.
    """
    processes = 1 + exercise.checks.read_text(encoding="utf-8").count("@pytest.mark.check(")
    return processes * ((1 + PATIENCE) * settings.seconds + (START if settings.fresh else 60))


def _pump(stream: Any, use: Callable[[str], None]) -> None:
    with suppress(OSError, ValueError), stream:
        for line in stream:
            use(line)
    use("")


def plan(
    entries: Sequence[Entry],
    exercises: Sequence[Exercise],
    ledger: Ledger,
    settings: Sequence[object],
    isolated: bool = False,
) -> tuple[list[Job], Wanted]:
    """What is still to be judged, and all that is wanted.

    What the ledger knows of equal submissions is noted for all students; if `isolated`, it counts only if
    isolation was full.
    """
    known = ledger.results(isolated)
    jobs: dict[str, Job] = {}
    wanted: Wanted = {}
    for entry in entries:
        for exercise in exercises:
            submission = entry.find(exercise)
            name = f"{exercise.name} {key(exercise, submission, settings)}"
            wanted.setdefault(entry.student, {})[exercise.name] = name
            noted = ledger.lines.get((entry.student, exercise.name))
            if name not in known:
                job = jobs.setdefault(name, Job(exercise, submission, name))
                job.students.append(entry.student)
            elif noted is None or noted.key != name or not noted.counts(isolated):
                ledger.add(replace(known[name], student=entry.student))
    return list(jobs.values()), wanted


def run(
    jobs: Sequence[Job],
    settings: Settings,
    workers: int,
    ledger: Ledger,
    ready: Callable[[Worker], None],
    done: Callable[[Job], None],
) -> None:
    """Judge all jobs. `ready` is called whenever a worker's process starts, and may refuse it by an error."""
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    lock, stop = threading.Lock(), threading.Event()

    def greet(worker: Worker) -> None:
        with lock:
            ready(worker)

    def work(worker: Worker) -> None:
        try:
            worker.start()
            while not stop.is_set():
                job = waiting.get_nowait()
                verdicts = _judge(worker, job, stop)
                with lock:
                    for student in job.students:
                        ledger.add(_line(student, job, verdicts, worker.layers))
                    done(job)
        except queue.Empty:
            pass
        finally:
            worker.close()

    team = [Worker(settings, greet, stop) for _ in range(min(workers, len(jobs)))]
    with ThreadPoolExecutor(max(1, len(team))) as threads:
        try:
            for ended in as_completed([threads.submit(work, worker) for worker in team]):
                ended.result()
        except BaseException:  # Ctrl-C, or the first error of a thread
            stop.set()
            for worker in team:
                worker.give_up()
            raise


def _judge(worker: Worker, job: Job, stop: threading.Event) -> tuple[Verdict, ...]:
    """Twice, if the grader fails the first time. Raises `GraderFault` if it is stopped."""
    fault = GraderFault()
    for _ in range(2):
        try:
            return worker.judge(job.exercise, job.submission)
        except GraderFault as error:
            if stop.is_set():
                raise
            fault = error
    text = Text("The grader failed, not the submission.", "是评分程序出错，不是提交的代码出错。")
    facts: dict[str, Any] = {"points": 0, "state": "error", "seconds": 0, "text": text}
    facts["max_points"] = job.exercise.points
    return (Verdict(job.exercise.name, "", Text("", ""), said=str(fault)[:1000], **facts),)


def _line(student: str, job: Job, verdicts: tuple[Verdict, ...], layers: tuple[str, ...]) -> Line:
    seconds = round(sum(verdict.seconds for verdict in verdicts), 3)
    review = tuple(_review(job.exercise, job.submission))
    return Line(student, job.exercise.name, job.key, verdicts, seconds, job.submission.source, review, layers)


def _review(exercise: Exercise, submission: Submission) -> list[str]:
    """What a person should look at."""
    if submission.fault:
        return []
    _, suspect = rules.findings(tree(submission.source))
    notes = [f"line {finding.line}: {finding.what}" for finding in suspect]
    if submission.source == exercise.solution.read_text(encoding="utf-8"):
        notes.append("equals the solution of the course")
    return notes
