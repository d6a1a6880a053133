"""What a grading run says: tables for programs, pages for people."""

import csv
import json
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keras_attention.course.ledger import Line
from keras_attention.course.verdict import Verdict

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Student:
    """All lines of one student.

    Args:
        alone: whether no other name differs by case alone: some file systems take such names for one.
    """

    name: str
    lines: list[Line]
    alone: bool = True

    @property
    def points(self) -> float:
        return sum(line.points for line in self.lines)

    @property
    def max_points(self) -> float:
        return sum(line.max_points for line in self.lines)

    @property
    def faulty(self) -> bool:
        return any(line.faulty for line in self.lines)

    @property
    def file(self) -> str:
        """A name for files: letters of any language and digits stay; no two names become one."""
        plain = re.sub(r"[^\w.-]+", "_", self.name).strip(".")[:50]
        kept = plain == self.name and self.alone
        return plain if kept else f"{plain}-{zlib.crc32(self.name.encode()):08x}"


def students(lines: Sequence[Line]) -> list[Student]:
    names = sorted({line.student for line in lines})
    by_name = {
        name: sorted((x for x in lines if x.student == name), key=lambda x: x.exercise) for name in names
    }
    alike = Counter(map(_folded, names))
    return [Student(name, by_name[name], alike[_folded(name)] == 1) for name in names]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def printable(name: str) -> str:
    """Without what a terminal takes for a command."""
    return name if name.isprintable() else repr(name)[1:-1]


def write_all(lines: Sequence[Line], folder: Path, facts: dict[str, Any]) -> None:
    """Every report. `facts` of the run: seed, isolation, versions."""
    everybody = students(lines)
    write_csv(everybody, folder / "grades.csv")
    write_jsonl(everybody, folder / "grades.jsonl")
    write_pages(everybody, folder, facts)
    for student in everybody:
        home = folder / "results" / student.file
        home.mkdir(parents=True, exist_ok=True)
        _write_json(home / "results.json", gradescope(student))
        _write_json(home / "classroom.json", classroom(student))


def write_csv(everybody: Sequence[Student], path: Path) -> None:
    """Points a student and exercise; empty where the grader failed. UTF-8 with a mark, for spreadsheets."""
    exercises = sorted({line.exercise for student in everybody for line in student.lines})
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        table = csv.writer(file)
        table.writerow(["student", *exercises, "points", "max_points", "state", "review"])
        for student in everybody:
            by_exercise = {line.exercise: line for line in student.lines}
            points = [_points(by_exercise.get(exercise)) for exercise in exercises]
            state = "error" if student.faulty else "graded"
            review = "; ".join(
                f"{line.exercise[:4]} {note}" for line in student.lines for note in line.review
            )
            cells = [student.name, *points, f"{student.points:g}", f"{student.max_points:g}", state, review]
            table.writerow([_harmless(cell) for cell in cells])


def _points(line: Line | None) -> str:
    return "" if line is None or line.faulty else f"{line.points:g}"


def _harmless(cell: str) -> str:
    """A spreadsheet takes a cell that begins so for a formula, in China and Japan also in full width."""
    first = unicodedata.normalize("NFKC", cell[:1])
    return f"'{cell}" if first.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else cell


def write_jsonl(everybody: Sequence[Student], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for student in everybody:
            for line in student.lines:
                values = line.to_json()
                del values["source"]
                totals = {"points": line.points, "max_points": line.max_points}
                file.write(json.dumps(values | totals, ensure_ascii=False) + "\n")


def gradescope(student: Student) -> dict[str, Any]:
    """The form of Gradescope's results.json."""
    tests = []
    for number, (line, verdict) in enumerate(_verdicts(student), 1):
        tests.append(
            {
                "name": f"{line.exercise} {verdict.check}".strip(),
                "number": str(number),
                "score": verdict.points,
                "max_score": verdict.max_points,
                "status": "passed" if verdict.state == "passed" else "failed",
                "output": feedback(verdict),
                "visibility": "visible",
                "tags": [line.exercise, verdict.cause or verdict.state],
            }
        )
    return {
        "score": student.points,
        "execution_time": sum(line.seconds for line in student.lines),
        "output": "The grader failed on a part of this; ask for a new run." if student.faulty else "",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"review": [note for line in student.lines for note in line.review]},
    }


def classroom(student: Student) -> dict[str, Any]:
    """The form that GitHub Classroom's reporter reads."""
    status = {"passed": "pass", "failed": "fail", "error": "error"}
    tests = [
        {
            "name": f"{line.exercise} {verdict.check}".strip(),
            "status": status[verdict.state],
            "score": verdict.points,
            "max_score": verdict.max_points,
            "message": feedback(verdict),
            "execution_time": f"{verdict.seconds:.3f}s",
        }
        for line, verdict in _verdicts(student)
    ]
    worst = next(
        (state for state in ("error", "fail") if any(test["status"] == state for test in tests)), "pass"
    )
    return {"version": 1, "status": worst, "max_score": student.max_points, "tests": tests}


def _verdicts(student: Student) -> list[tuple[Line, Verdict]]:
    return [(line, verdict) for line in student.lines for verdict in line.verdicts]


def feedback(verdict: Verdict) -> str:
    """What a student may read of a hidden check: the diagnosis, what happened, the first hint."""
    if verdict.state == "passed":
        return ""
    texts = [verdict.diagnosis, verdict.text, *verdict.hints[:1]]
    said = verdict.said if verdict.state == "failed" else ""
    return "\n".join([*(str(text) for text in texts if text), *([said] if said else [])])


def write_pages(everybody: Sequence[Student], folder: Path, facts: dict[str, Any]) -> None:
    """One page a student and one of the class."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    pages = folder / "students"
    pages.mkdir(parents=True, exist_ok=True)
    for student in everybody:
        page = environment.get_template("student.html").render(student=student, facts=facts)
        (pages / f"{student.file}.html").write_text(page, encoding="utf-8")
    lines = [line for student in everybody for line in student.lines]
    page = environment.get_template("class.html").render(
        students=everybody,
        exercises=sorted({line.exercise for line in lines}),
        failures=failures(lines),
        mistakes=mistakes(lines),
        causes=Counter(v.cause for line in lines for v in line.verdicts if v.cause).most_common(),
        similar=similar(lines),
        facts=facts,
    )
    (folder / "class.html").write_text(page, encoding="utf-8")


def failures(lines: Sequence[Line]) -> list[tuple[str, int, int]]:
    """Which checks fail most: check, how often it failed, of how many."""
    verdicts = [verdict for line in lines for verdict in line.verdicts if verdict.state != "error"]
    every = Counter(f"{verdict.exercise} {verdict.check}" for verdict in verdicts)
    failed = Counter(f"{v.exercise} {v.check}" for v in verdicts if v.state == "failed")
    return [(name, count, every[name]) for name, count in failed.most_common()]


def mistakes(lines: Sequence[Line]) -> list[tuple[str, str, int]]:
    """Which known mistakes were made: exercise, diagnosis, by how many students."""
    made = {
        (line.student, v.exercise, str(v.diagnosis)) for line in lines for v in line.verdicts if v.diagnosis
    }
    counts = Counter((exercise, diagnosis) for _, exercise, diagnosis in made)
    return [(exercise, diagnosis, count) for (exercise, diagnosis), count in counts.most_common()]


def similar(lines: Sequence[Line]) -> list[tuple[str, str, str, float]]:
    """Students whose solutions are alike once the stub is taken away: exercise, both, share alike."""
    from keras_attention.course.similarity import pairs

    found = []
    for exercise in sorted({line.exercise for line in lines}):
        sources = {
            line.student: line.source
            for line in lines
            if line.exercise == exercise and line.points and line.source
        }
        found += [(exercise, *pair) for pair in pairs(exercise, sources)]
    return sorted(found, key=lambda pair: -pair[3])[:100]


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1), encoding="utf-8")
