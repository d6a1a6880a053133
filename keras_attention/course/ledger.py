"""The record of a grading run, a line for each exercise of each student: a killed run goes on from it."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from keras_attention.course.catalog import Exercise
from keras_attention.course.files import replace_text
from keras_attention.course.places import PACKAGE
from keras_attention.course.sealed.sandbox import LAYERS, isolation
from keras_attention.course.submission import Submission
from keras_attention.course.verdict import Verdict

PACKAGES = ("keras", "tensorflow", "numpy", "keras-attention-course")
OF_A_PART = ("wanted", "isolation", "layers")  # facts in which the parts of one run may differ

Wanted = dict[str, dict[str, str]]  # student → exercise → key of the line that a run asks for


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
    layers: tuple[str, ...] = ()  # of the sandbox

    @property
    def points(self) -> float:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_points(self) -> float:
        return sum(verdict.max_points for verdict in self.verdicts)

    @property
    def isolation(self) -> str:
        return isolation(self.layers)

    @property
    def faulty(self) -> bool:
        """Whether the grader failed, so that this is no result."""
        return any(verdict.state == "error" for verdict in self.verdicts)

    def counts(self, isolated: bool = False) -> bool:
        """Whether it needs no grading again; if `isolated`, that takes full isolation."""
        return not self.faulty and (not isolated or self.isolation == "full")

    def to_json(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in ("student", "exercise", "key", "seconds", "source")}
        values |= {"review": self.review, "layers": self.layers}
        return values | {"verdicts": [verdict.to_json() for verdict in self.verdicts]}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Line":
        verdicts = tuple(Verdict.from_json(verdict) for verdict in values["verdicts"])
        review, layers = tuple(values["review"]), tuple(values.get("layers", ()))
        return cls(**{**values, "verdicts": verdicts, "review": review, "layers": layers})


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

    def results(self, isolated: bool = False) -> dict[str, Line]:
        """Lines by key, of what needs no grading again."""
        return {line.key: line for line in self.lines.values() if line.counts(isolated)}

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
    parts = [submission.to_json(), _checks(exercise), versions(), *map(str, settings)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@cache
def _checks(exercise: Exercise) -> str:
    files = (exercise.checks, exercise.mistakes, exercise.solution)
    return "".join(file.read_text(encoding="utf-8") for file in files if file.exists())


@cache
def versions() -> dict[str, str]:
    """Of the packages that a result depends on, and of the grader's own code."""
    found = {item.metadata["Name"]: item.version for item in metadata.distributions()}
    return {name: found.get(name, "") for name in PACKAGES} | {"grader": code(PACKAGE / "course")}


def code(folder: Path) -> str:
    """The same for the same Python files."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.py")}
    texts = [(name, files[name].read_text(encoding="utf-8")) for name in sorted(files)]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]


def read_facts(out: Path) -> dict[str, Any]:
    """What is recorded of a run."""
    path = out / "run.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def record(out: Path, **facts: Any) -> None:
    replace_text(out / "run.json", json.dumps(read_facts(out) | facts, indent=1))


def layers(lines: Iterable[Line]) -> list[str]:
    """Those that every line was graded under."""
    lines = list(lines)
    return [layer for layer in LAYERS if all(layer in line.layers for line in lines)]


def merge(parts: Sequence[Path], out: Path) -> list[Line]:
    """What the last run of each part asked for, as the record of one run in `out`.

    Raises `ValueError` for parts that do not belong together.
    """
    if out.resolve() in [part.resolve() for part in parts]:
        raise ValueError(f"--out is {out}, which is one of the parts: give another folder.")
    facts = {part: read_facts(part) for part in parts}
    lines: dict[tuple[str, str], Line] = {}
    wanted: Wanted = {}
    for part in parts:
        if "wanted" not in facts[part]:
            raise ValueError(
                f"{part} is not the --out folder of a run: no run.json there says what it graded."
            )
        if different := _differences(facts[parts[0]], facts[part]):
            raise ValueError(f"{parts[0]} and {part} differ in {different}: grade all parts in the same way.")
        noted = {(line.student, line.exercise): line for line in read_lines(part / "ledger.jsonl")}
        for student, keys in facts[part]["wanted"].items():
            for exercise, name in keys.items():
                line = noted.get((student, exercise))
                if line is None or line.key != name:
                    raise ValueError(f"The run of {part} was stopped: give its command again, then merge.")
                if (student, exercise) in lines:
                    raise ValueError(
                        f"{student!r} is in {part} and in a part before: use one N for --shard I/N."
                    )
                lines[student, exercise] = line
                wanted.setdefault(student, {})[exercise] = name
    out.mkdir(parents=True, exist_ok=True)
    replace_text(out / "ledger.jsonl", "".join(json.dumps(line.to_json()) + "\n" for line in lines.values()))
    record(out, **facts[parts[0]] | {"wanted": wanted})
    return list(lines.values())


def _differences(*facts: dict[str, Any]) -> str:
    """Settings and versions that are not the same, in words."""
    one, other = (
        {name: fact for name, fact in these.items() if name not in OF_A_PART} | these["versions"]
        for these in facts
    )
    names = [name for name in one | other if name != "versions" and one.get(name) != other.get(name)]
    return ", ".join(f"{name} ({one.get(name)} and {other.get(name)})" for name in names)
