"""Grade a folder of submissions that nobody needs to trust."""

import os
import secrets
import signal
import sys
import zlib
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
        str, typer.Option(metavar="I/N", help="Only the I-th of N parts, in which a student stays.")
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
    from keras_attention.course.entries import entries, ignored
    from keras_attention.course.grading import Settings, plan
    from keras_attention.course.grading import run as run_jobs
    from keras_attention.course.ledger import Ledger, read_facts, record, versions

    everything = exercises()
    chosen = [find(name, everything) for name in exercise] if exercise else everything
    number, of = _shard(shard)
    students = [
        entry for entry in entries(submissions) if zlib.crc32(entry.student.encode()) % of == number - 1
    ]
    out.mkdir(parents=True, exist_ok=True)
    if seed is None:  # that of the run that goes on here
        seed = read_facts(out).get("seed", secrets.randbelow(2**31))
    settings = Settings(seed, seconds, memory * 2**20, fresh)
    ledger = Ledger(out / "ledger.jsonl")
    jobs, wanted = plan(students, chosen, ledger, [settings], require_isolation)
    record(out, **settings.to_json(), versions=versions(), wanted=wanted)
    total = len(students) * len(chosen)
    print(f"{len(students)} students, {len(chosen)} exercises: {len(jobs)} to judge of {total}.", flush=True)
    if others := ignored(submissions):
        print(f"Ignored, being no .py, .ipynb, .zip or folder: {', '.join(others)}.", flush=True)

    seen = set()

    def ready(worker: Any) -> None:
        if worker.layers not in seen:
            print(f"isolation: {worker.isolation} ({', '.join(worker.layers) or 'limits only'})", flush=True)
        seen.add(worker.layers)
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
    _finish([ledger.lines[student, name] for student in wanted for name in wanted[student]], out, json)


@app.command("merge")
def merge_parts(
    parts: Annotated[list[Path], typer.Argument(help="The --out folders of the shards.")],
    out: Out,
    json: Json = False,
) -> None:
    """Join the shards of a run into one set of reports."""
    from keras_attention.course.ledger import merge

    _finish(merge(parts, out), out, json)


@app.command(hidden=True)
def worker() -> None:
    """Judge what comes on standard input; for `grade` itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that ends this one
    from keras_attention.course.worker import serve

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing else may write where answers go
    serve(sys.stdin, answers)


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise ValueError(f"--shard is {text}, but must be I/N with 1 ≤ I ≤ N, such as 2/4.")
    return int(number), int(of)


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
    from keras_attention.course import ledger
    from keras_attention.course.reports import printable, students, write_all
    from keras_attention.course.sealed.sandbox import isolation

    layers = ledger.layers(lines)
    ledger.record(out, isolation=isolation(layers), layers=layers)
    facts = ledger.read_facts(out)
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    write_all(lines, out, facts | {"versions": versions})
    everybody = students(lines)
    faulty = [student.name for student in everybody if student.faulty]
    print(f"Grades: {out / 'grades.csv'}; the class: {out / 'class.html'}")
    if faulty:
        names = ", ".join(map(printable, faulty[:10]))
        print(f"The grader failed for {names}: the same command tries them again.")
    if json:
        points = {student.name: student.points for student in everybody}
        print_json(
            {"students": points, "isolation": facts["isolation"], "seed": facts["seed"], "faulty": faulty}
        )
    if faulty:
        raise typer.Exit(1)
