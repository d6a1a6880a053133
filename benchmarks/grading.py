"""A class graded: how long, in how much memory, and that no verdict is wrong or lost.

    python benchmarks/grading.py [--students 12] [--workers 2] [--seed 7] [--sample 4] [--keep FOLDER]

Each student hands in all exercises: solutions, other right ones, known mistakes, stubs, and every fourth one
something hostile for ex01; no two texts are equal. What each must get is known, and compared. The class is
graded twice, the second time killed in the middle and resumed. Beside it the same submissions, a sample of
them, as many at once, as a plain grader runs them: pytest in a new process for each, unprotected; and as the
grader itself runs them where there is no fork, in a new process for each check.
"""

import argparse
import json
import os
import random
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil

from keras_attention.course.bank import read_mistakes
from keras_attention.course.catalog import Exercise, exercises

ROOT = Path(__file__).parents[1]
HOSTILE = ("exit-in-call", "memory-hog", "reads-solutions", "fork-bomb", "prints-a-result", "loop", "network")
ENVIRONMENT = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--students", type=int, default=12)
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--seed", type=int, default=7)
parser.add_argument("--sample", type=int, default=4, help="submissions in processes of their own")
parser.add_argument("--keep", type=Path, help="where submissions and grades stay")


@dataclass
class Case:
    """A submission, and whether verdicts (check → verdict) are what it must get."""

    kind: str
    source: str
    fits: Callable[[dict[str, Any]], bool]


def states(verdicts: dict[str, Any]) -> set[str]:
    return {verdict["state"] for verdict in verdicts.values()}


def right_cases(exercise: Exercise) -> list[Case]:
    others = (ROOT / "tests" / "exercises" / "right" / exercise.name).glob("*.py")
    sources = [path.read_text(encoding="utf-8") for path in (exercise.solution, *sorted(others))]
    return [Case("right", source, lambda verdicts: states(verdicts) == {"passed"}) for source in sources]


def mistaken_cases(exercise: Exercise) -> list[Case]:
    solution = exercise.solution.read_text(encoding="utf-8")

    def case(mistake):
        def fits(verdicts):
            meant = verdicts[mistake.fails]
            return "error" not in states(verdicts) and meant["mistake"] == mistake.name

        return Case("mistake", mistake.source(solution), fits)

    return [case(mistake) for mistake in read_mistakes(exercise.mistakes)]


def stub_case(exercise: Exercise) -> Case:
    return Case("stub", exercise.stub, lambda verdicts: states(verdicts) == {"failed"})


def hostile_case(exercise: Exercise, name: str) -> Case:
    suite = runpy.run_path(str(ROOT / "tests" / "course" / "hostile.py"))
    body, causes = (suite["DIE"] | suite["FORGE"] | suite["STEAL"])[name]
    body = body.replace("{solution!r}", repr(str(exercise.solution)))
    source = f"def softmax(x):\n    {body}\n\n\ndef attention(x, key=None, value=None):\n    {body}\n"
    causes = causes | {"time"}  # on a busy machine time may be out first

    def fits(verdicts):
        return states(verdicts) == {"failed"} and {v["cause"] for v in verdicts.values()} <= causes

    return Case("hostile", source, fits)


def make_class(folder: Path, students: int, seed: int) -> dict[tuple[str, str], Case]:
    """Write the submissions; what is expected, by student and exercise."""
    draw, expected = random.Random(seed), {}
    for exercise in exercises():
        right, mistaken, stub = right_cases(exercise), mistaken_cases(exercise), stub_case(exercise)
        for number in range(1, students + 1):
            student = f"student{number:03}"
            case = draw.choice(draw.choices([right, mistaken, [stub]], [45, 45, 10])[0])
            if exercise.name.startswith("ex01") and number % 4 == 0:
                case = hostile_case(exercise, HOSTILE[number // 4 % len(HOSTILE)])
            path = folder / student / f"{exercise.name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{case.source}\n# {student}\n", encoding="utf-8")
            expected[student, exercise.name] = case
    for home in sorted(folder.iterdir())[::3]:  # every third sends a zip
        shutil.make_archive(str(home), "zip", home)
        shutil.rmtree(home)
    return expected


def grade(submissions: Path, out: Path, args: Any, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "keras_attention", "grade", str(submissions), "--out", str(out)]
    command += ["--workers", str(args.workers), "--seed", str(args.seed), *options]
    return subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True, stdout=subprocess.DEVNULL)


@contextmanager
def peak_memory(process: subprocess.Popen[bytes], every: float = 5.0) -> Iterator[list[float]]:
    """The most that a process and all below it take together, in GB; shared pages count once."""
    peak, done = [0.0], Event()

    def watch() -> None:
        while not done.wait(every):
            total = 0
            with suppress(psutil.NoSuchProcess):
                root = psutil.Process(process.pid)
                for one in (root, *root.children(recursive=True)):
                    with suppress(psutil.Error):
                        info = one.memory_full_info()
                        total += getattr(info, "pss", info.rss)
            peak[0] = max(peak[0], total / 1e9)

    thread = Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def kill_in_the_middle(process: subprocess.Popen[bytes], ledger: Path, half: int) -> int:
    """Kill a run once its ledger has half of its lines; how many it has when nothing is left running."""
    while not ledger.exists() or ledger.read_bytes().count(b"\n") < half:
        assert process.poll() is None, "The run ended before it could be killed."
        time.sleep(0.1)
    started = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(started, timeout=30)
    assert not alive, f"The killed run left {alive} behind."
    return ledger.read_bytes().count(b"\n")


def read_grades(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "grades.jsonl").read_text(encoding="utf-8").splitlines()]


def without_times(grades: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def drop(values):
        return {key: value for key, value in values.items() if key != "seconds"}

    return [drop(line) | {"verdicts": [drop(verdict) for verdict in line["verdicts"]]} for line in grades]


def compare(grades: list[dict[str, Any]], expected: dict[tuple[str, str], Case]) -> None:
    assert len(grades) == len(expected)
    for line in grades:
        case = expected[line["student"], line["exercise"]]
        verdicts = {verdict["check"]: verdict for verdict in line["verdicts"]}
        assert case.fits(verdicts), f"{line['student']} {line['exercise']} ({case.kind}): {verdicts}"


def in_own_processes(cases: list[tuple[str, Case]], folder: Path, workers: int) -> float:
    """Seconds for running pytest in a new process for each submission, as many at once as workers."""

    def run(numbered):
        number, (name, case) = numbered
        home = folder / str(number)
        (home / "checks").mkdir(parents=True)
        for item in ("conftest.py", "pytest.ini", "checks/mistakes"):
            source = ROOT / "exercises" / item
            (shutil.copytree if source.is_dir() else shutil.copy)(source, home / item)
        shutil.copy(ROOT / "exercises" / "checks" / f"test_{name}.py", home / "checks")
        (home / f"{name}.py").write_text(case.source, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-c", str(home / "pytest.ini"), str(home)]
        done = subprocess.run(command, env=ENVIRONMENT, cwd=home, capture_output=True)
        assert done.returncode == (case.kind != "right"), done.stdout.decode()[-2000:]

    began = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(run, enumerate(cases)))
    return time.perf_counter() - began


def main(folder: Path, args: Any) -> None:
    submissions = folder / "submissions"
    submissions.mkdir()
    expected = make_class(submissions, args.students, args.seed)
    count = len(expected)
    print(f"{args.students} students × {len(exercises())} exercises = {count} submissions", end=": ")
    kinds = Counter(case.kind for case in expected.values())
    print(", ".join(f"{number} {kind}" for kind, number in kinds.items()), flush=True)

    began = time.perf_counter()
    process = grade(submissions, folder / "grades", args)
    with peak_memory(process) as peak:
        assert process.wait() == 0
    took = time.perf_counter() - began
    grades = read_grades(folder / "grades")
    compare(grades, expected)
    verdicts = sum(len(line["verdicts"]) for line in grades)
    isolation = json.loads((folder / "grades" / "run.json").read_text())["isolation"]
    print(f"isolation {isolation}, {args.workers} workers: {took:.0f} s, {peak[0]:.2f} GB at most together")
    print(f"{took / count:.3f} s a submission, {took / verdicts:.3f} s a check")
    print(f"{verdicts} verdicts on {count} submissions, all as expected", flush=True)

    process = grade(submissions, folder / "resumed", args)
    kept = kill_in_the_middle(process, folder / "resumed" / "ledger.jsonl", count // 2)
    assert grade(submissions, folder / "resumed", args).wait() == 0
    lines = (folder / "resumed" / "ledger.jsonl").read_bytes().count(b"\n")
    assert without_times(read_grades(folder / "resumed")) == without_times(grades)
    print(
        f"killed after {kept} submissions, resumed for {lines - kept}: the same grades.jsonl but for seconds"
    )

    honest = [(name, case) for (_, name), case in expected.items() if case.kind in ("right", "mistake")]
    sample = random.Random(args.seed).sample(honest, min(args.sample, len(honest)))
    report(
        in_own_processes(sample, folder / "alone", args.workers) / len(sample),
        took / count,
        sample,
        "submission",
    )

    submissions = folder / "sample"
    for number, (name, case) in enumerate(sample):
        (submissions / str(number)).mkdir(parents=True)
        (submissions / str(number) / f"{name}.py").write_text(case.source, encoding="utf-8")
    began = time.perf_counter()
    process = grade(submissions, folder / "fresh", args, "--fresh")
    assert process.wait() == 0
    report((time.perf_counter() - began) / len(sample), took / count, sample, "check")


def report(alone: float, ours: float, sample: list[Any], what: str) -> None:
    print(
        f"a new process for each {what}: {alone:.2f} s a submission (mean of {len(sample)}), "
        f"{alone / ours:.1f} times ours",
        flush=True,
    )


if __name__ == "__main__":
    arguments = parser.parse_args()
    if arguments.keep:
        arguments.keep.mkdir(parents=True)
        main(arguments.keep, arguments)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary), arguments)
