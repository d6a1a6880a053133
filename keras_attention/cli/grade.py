"""Grade a folder of submissions that nobody needs to trust."""

import os
import secrets
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from keras_attention.cli._json import Json, print_json


class Grade(TyperGroup):
    """`grade SUBMISSIONS …` is `grade run SUBMISSIONS …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=Grade,
    add_completion=False,
    no_args_is_help=True,
    help="Grade submissions: `grade SUBMISSIONS --out FOLDER`; `grade merge` joins the shards of a run.",
)

Out = Annotated[Path, typer.Option(help="Where grades and reports go; a run that was stopped goes on there.")]


@app.command()
def run(
    submissions: Annotated[Path, typer.Argument(help="One .py, .ipynb, .zip or folder a student.")],
    out: Out,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes at once; else one a core.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the hidden inputs; else drawn, and recorded.")] = None,
    exercise: Annotated[list[str] | None, typer.Option(help="Grade this one only; may be repeated.")] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time that a check may take.")] = 10.0,
    memory: Annotated[int, typer.Option(min=64, help="Memory that a check may take, in MiB.")] = 1024,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Only each N-th student, from the I-th on.")
    ] = "1/1",
    require_isolation: Annotated[
        bool, typer.Option("--require-isolation", help="Refuse to run unless isolation is full.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="A new process for each check, as where there is no fork.")
    ] = False,
    json: Json = False,
) -> None:
    """Grade every submission, in a sandbox, by checks with hidden inputs."""
    from keras_attention.course.forked import keep_private

    keep_private(submissions, out)
    from keras_attention.course.catalog import exercises, find
    from keras_attention.course.entries import entries
    from keras_attention.course.grading import Settings, plan
    from keras_attention.course.grading import run as run_jobs
    from keras_attention.course.ledger import Ledger

    everything = exercises()
    chosen = [find(name, everything) for name in exercise] if exercise else everything
    number, of = _shard(shard)
    students = entries(submissions)[number - 1 :: of]
    out.mkdir(parents=True, exist_ok=True)
    settings = Settings(_seed(seed, out), seconds, memory * 2**20, fresh)
    ledger = Ledger(out / "ledger.jsonl")
    facts = _facts(out)
    jobs = plan(students, chosen, ledger, [settings])
    total = len(students) * len(chosen)
    print(f"{len(students)} students, {len(chosen)} exercises: {len(jobs)} to judge of {total}.", flush=True)

    def ready(worker: Any) -> None:
        if "isolation" not in facts or facts["isolation"] != worker.isolation:
            print(f"isolation: {worker.isolation} ({', '.join(worker.layers) or 'limits only'})", flush=True)
        facts["isolation"] = worker.isolation
        _record(out, isolation=worker.isolation, layers=worker.layers)
        if require_isolation and worker.isolation != "full":
            raise ValueError(f"Isolation is {worker.isolation}, not full: see `keras-attention doctor`.")

    try:
        with _progress(len(jobs)) as done:
            run_jobs(jobs, settings, workers or os.cpu_count() or 1, ledger, ready, done)
    except KeyboardInterrupt:
        print("\nStopped; the same command goes on from here.")
        raise
    finally:
        ledger.close()
    wanted = {(entry.student, item.name) for entry in students for item in chosen}
    _finish([line for name, line in ledger.lines.items() if name in wanted], out, json)


@app.command()
def merge(
    parts: Annotated[list[Path], typer.Argument(help="The --out folders of the shards.")],
    out: Out,
    json: Json = False,
) -> None:
    """Join the shards of a run into one set of reports."""
    from keras_attention.course.ledger import Ledger, read_lines

    for part in parts:
        if not (part / "ledger.jsonl").exists():
            raise ValueError(f"{part} is not the --out folder of a run: it has no ledger.jsonl.")
    seeds = {_facts(part).get("seed") for part in parts}
    if len(seeds) > 1:
        raise ValueError("The shards were graded with different seeds: give all of them the same --seed.")
    out.mkdir(parents=True, exist_ok=True)
    isolation = sorted({_facts(part).get("isolation", "") for part in parts})
    _record(out, seed=seeds.pop(), isolation=", ".join(isolation))
    ledger = Ledger(out / "ledger.jsonl")
    for part in parts:
        for line in read_lines(part / "ledger.jsonl"):
            ledger.add(line)
    ledger.close()
    _finish(list(ledger.lines.values()), out, json)


@app.command(hidden=True)
def worker() -> None:
    """Judge what comes on standard input; for `grade` itself."""
    from keras_attention.course.worker import serve

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing else may write where answers go
    serve(sys.stdin, answers)


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise ValueError(f"--shard is {text}, but must be I/N with 1 ≤ I ≤ N, such as 2/4.")
    return int(number), int(of)


def _facts(out: Path) -> dict[str, Any]:
    import json

    path = out / "run.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _record(out: Path, **facts: Any) -> None:
    import json

    text = json.dumps(_facts(out) | facts, indent=1)
    (out / "run.json").write_text(text, encoding="utf-8")


def _seed(asked: int | None, out: Path) -> int:
    """The one asked for, else that of the run that is continued, else a new one; recorded for appeals."""
    seed = asked if asked is not None else _facts(out).get("seed", secrets.randbelow(2**31))
    _record(out, seed=seed)
    return seed


def _progress(total: int) -> Any:
    """A bar with the time left, for people; a line now and then, for logs."""
    from contextlib import contextmanager

    from rich import progress as bars

    columns = (bars.TextColumn("{task.completed}/{task.total}"), bars.BarColumn())
    columns += (bars.TimeElapsedColumn(), bars.TextColumn("left"), bars.TimeRemainingColumn())  # type: ignore[assignment]

    @contextmanager
    def show() -> Any:
        with bars.Progress(*columns, disable=not sys.stdout.isatty()) as bar:
            task = bar.add_task("", total=total)
            count = 0

            def done(job: Any) -> None:
                nonlocal count
                count += 1
                bar.advance(task)
                if bar.disable and count % max(1, total // 10) == 0:
                    print(f"{count} of {total}", flush=True)

            yield done

    return show()


def _finish(lines: list[Any], out: Path, json: bool) -> None:
    from keras_attention.course.ledger import versions
    from keras_attention.course.reports import students, write_all

    facts = {"isolation": "", **_facts(out), "versions": versions()}
    write_all(lines, out, facts)
    everybody = students(lines)
    faulty = [student.name for student in everybody if student.faulty]
    print(f"Grades: {out / 'grades.csv'}; the class: {out / 'class.html'}")
    if faulty:
        print(f"The grader failed for {', '.join(faulty[:10])}: the same command tries them again.")
    if json:
        points = {student.name: student.points for student in everybody}
        print_json(
            {"students": points, "isolation": facts["isolation"], "seed": facts["seed"], "faulty": faulty}
        )
    if faulty:
        raise typer.Exit(1)
