"""The record of a grading run, a line for each exercise of each student: a killed run goes on from it."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from keras_attention.course.catalog import Exercise
from keras_attention.course.submission import Submission
from keras_attention.course.verdict import Verdict

PACKAGES = ("keras", "tensorflow", "numpy", "keras-attention-course")


@dataclass(frozen=True)
class Line:
    """The verdicts on one exercise of one student."""

    student: str
    exercise: str
    key: str
    verdicts: tuple[Verdict, ...]
    seconds: float = 0.0
    source: str = ""
    review: tuple[str, ...] = field(default=())  # what a person should look at

    @property
    def points(self) -> float:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_points(self) -> float:
        return sum(verdict.max_points for verdict in self.verdicts)

    @property
    def faulty(self) -> bool:
        """Whether the grader failed, so that this is no result."""
        return any(verdict.state == "error" for verdict in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in ("student", "exercise", "key", "seconds", "source")}
        return values | {"review": self.review, "verdicts": [verdict.to_json() for verdict in self.verdicts]}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Line":
        verdicts = tuple(Verdict.from_json(verdict) for verdict in values["verdicts"])
        return cls(**{**values, "verdicts": verdicts, "review": tuple(values["review"])})


class Ledger:
    """A file to which lines are added.

    Args:
        path: of the file; what is in it already is read.
    """

    def __init__(self, path: Path):
        self._path = path
        self.lines = {(line.student, line.exercise): line for line in read_lines(path)}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        if self._file.tell() and not path.read_bytes().endswith(b"\n"):
            self._file.write(b"\n")  # the last line of a run that was killed

    def add(self, line: Line) -> None:
        """On disk before it returns."""
        self.lines[line.student, line.exercise] = line
        self._file.write(json.dumps(line.to_json()).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def results(self) -> dict[str, tuple[Verdict, ...]]:
        """Verdicts by key, of what needs no grading again."""
        return {line.key: line.verdicts for line in self.lines.values() if not line.faulty}

    def close(self) -> None:
        self._file.close()


def read_lines(path: Path) -> Iterator[Line]:
    """Those that are whole."""
    if not path.exists():
        return
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            yield Line.from_json(json.loads(text))
        except (ValueError, TypeError, KeyError):
            continue


def key(exercise: Exercise, submission: Submission, settings: Iterable[object]) -> str:
    """The same for what must have the same result: submission, checks, versions, settings."""
    fault = submission.fault and str(submission.fault.text)
    parts = [submission.source, fault, _checks(exercise), versions(), *settings]
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()


@cache
def _checks(exercise: Exercise) -> str:
    files = (exercise.checks, exercise.mistakes, exercise.solution)
    return "".join(file.read_text(encoding="utf-8") for file in files if file.exists())


@cache
def versions() -> str:
    found = {item.metadata["Name"]: item.version for item in metadata.distributions()}
    return json.dumps({name: found.get(name) for name in PACKAGES})
