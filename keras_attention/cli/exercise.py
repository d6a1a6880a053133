"""Work on the exercises: what there is, what is next, is it right, a hint."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from keras_attention.cli._json import Json, print_json
from keras_attention.cli._quiet import start_keras

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Work on the exercises of the course.")


class Language(StrEnum):
    both = "both"
    en = "en"
    zh = "zh"


PRINTED = 20  # lines shown of what a submission printed
SLOW = 3.0  # seconds of a check, from which on a warm Keras is worth a word

Name = Annotated[str | None, typer.Argument(help="3, ex03, or a part of its name; none means the next one.")]
NameOrFile = Annotated[
    str | None, typer.Argument(help="3, ex03, a part of its name, or a file; none means the next one.")
]
Folder = Annotated[Path | None, typer.Option(help="Where your exercises are; else here or in exercises/.")]
Lang = Annotated[Language, typer.Option(envvar="KERAS_ATTENTION_LANG", help="Of titles, hints, diagnoses.")]
Seconds = Annotated[float, typer.Option(min=0.1, help="Time that a check may take in `watch`.")]


@app.command("list")
def list_(folder: Folder = None, lang: Lang = Language.both, json: Json = False) -> None:
    """All exercises, with what you have done."""
    from rich.console import Console
    from rich.table import Table

    space, progress = _open(folder)
    table = Table("", "exercise", "title", "level", "min", "points", box=None)
    for exercise in space.exercises:
        record = progress[exercise.name]
        points = f"{record.points:g}/{record.max_points:g}" if record.max_points else ""
        level, minutes = exercise.fact("Difficulty"), exercise.fact("Minutes")
        table.add_row(_mark(record), exercise.name, _say(exercise.title, lang), level, minutes, points)
    Console(highlight=False).print(table)
    if json:
        print_json({"folder": space.folder, "exercises": [_summary(e, progress) for e in space.exercises]})


@app.command()
def status(folder: Folder = None, json: Json = False) -> None:
    """How far you are, and what is next."""
    space, progress = _open(folder)
    records = [progress[exercise.name] for exercise in space.exercises]
    done = sum(record.passed for record in records)
    earned = sum(record.points for record in records)
    english = f"{done} of {len(records)} exercises passed, {earned:g} points."
    print(f"{english} 通过 {done}/{len(records)} 个练习，共 {earned:g} 分。")
    following = progress.next([exercise.name for exercise in space.exercises])
    nothing = "There is nothing left to do. Well done! 恭喜完成！"
    print(f"Next · 下一个: {following}" if following else nothing)
    if json:
        print_json({"passed": done, "exercises": len(records), "points": earned, "next": following})


@app.command("next")
def next_(folder: Folder = None, lang: Lang = Language.both, json: Json = False) -> None:
    """The next exercise: its task, its file, its chapter."""
    space, progress = _open(folder)
    exercise = _choose(None, space, progress)
    print(f"{exercise.docstring}\n\nYour file · 你的文件: {space.path(exercise)}")
    print(f"Then · 然后: keras-attention exercise check {exercise.name[:4]}")
    if json:
        print_json(_summary(exercise, progress) | {"path": space.path(exercise), "task": exercise.docstring})


@app.command()
def check(
    name: NameOrFile = None,
    folder: Folder = None,
    lang: Lang = Language.both,
    seconds: Seconds = 30.0,
    everything: Annotated[bool, typer.Option("--all", help="Check all exercises.")] = False,
    json: Json = False,
) -> None:
    """Check an exercise, in this process, so that a breakpoint in your code stops here.

    While `watch` runs, its loaded Keras is used, and the answer comes at once.
    """
    space, progress = _open(folder)
    chosen = space.exercises if everything else [_choose(name, space, progress)]
    if name and Path(name).suffix in (".py", ".ipynb") and not everything:
        if not Path(name).is_file():
            raise ValueError(f"There is no file {name} to check.")
        space.file = Path(name).resolve()
    results = []
    for exercise in chosen:
        began = time.perf_counter()
        with _openers(space, exercise, seconds) as openers:
            verdicts = space.check(exercise, *openers)
        results.append(_report(exercise, verdicts, space, progress, lang, time.perf_counter() - began))
    if json:
        print_json({"exercises": results, "passed": all(result["passed"] for result in results)})
    if not all(result["passed"] for result in results):
        raise typer.Exit(1)


@app.command()
def hint(
    name: Name = None,
    folder: Folder = None,
    lang: Lang = Language.both,
    give_up: Annotated[bool, typer.Option("--give-up", help="Show the solution and go on.")] = False,
    json: Json = False,
) -> None:
    """One more hint for the first check that fails; three in all, each says more."""
    space, progress = _open(folder)
    exercise = _choose(name, space, progress)
    if give_up:
        progress.give_up(exercise.name)
        _show_solution(exercise)
        if json:
            print_json({"exercise": exercise.name, "solution": exercise.solution.read_text(encoding="utf-8")})
        return
    with _openers(space, exercise, 30.0) as openers:
        verdicts = space.check(exercise, *openers)
    failed = [verdict for verdict in verdicts if verdict.state != "passed"]
    if not failed:
        print(f"{exercise.name} passes: there is nothing to hint at. 已通过，不需要提示。")
        print(f"Our solution · 参考解答: keras-attention exercise hint {exercise.name[:4]} --give-up")
    elif failed[0].hints:
        verdict = failed[0]
        level = progress.hint(exercise.name, verdict.check)
        print(_say(verdict.title, lang))
        for number, text in enumerate(verdict.hints[:level], 1):
            print(f"  hint · 提示 {number}/{len(verdict.hints)}: {_say(text, lang)}")
        if level == len(verdict.hints):
            print(f"  The solution · 参考解答: keras-attention exercise hint {exercise.name[:4]} --give-up")
    if json:
        shown = list(failed[0].hints[:level]) if failed and failed[0].hints else []
        print_json({"exercise": exercise.name, "check": failed[0].check if failed else None, "hints": shown})


@app.command()
def watch(
    folder: Folder = None,
    lang: Lang = Language.both,
    seconds: Seconds = 10.0,
    json: Json = False,
) -> None:
    """Check each exercise as you save it, with Keras loaded once. Ctrl-C ends it."""
    from watchfiles import watch as changes

    space, progress = _open(folder)
    space.warmed = True
    print("Loading Keras · 正在载入 Keras …", flush=True)
    with _engine(space, seconds) as open_channel:
        print(f"Watching {space.folder}; save a file to check it. 保存文件即可检查。", flush=True)
        for changed in changes(space.folder, recursive=False, raise_interrupt=True, debounce=200):
            names = {Path(path).name for _, path in changed}
            for exercise in space.exercises:
                if space.path(exercise).name in names:
                    began = time.perf_counter()
                    verdicts = space.check(exercise, open_channel)
                    result = _report(exercise, verdicts, space, progress, lang, time.perf_counter() - began)
                    if json:
                        print_json(result)


@app.command()
def reset(
    name: Annotated[str, typer.Argument(help="3, ex03, or a part of its name.")],
    folder: Folder = None,
    json: Json = False,
) -> None:
    """Start an exercise again; your file is kept in backups/."""
    space, progress = _open(folder)
    exercise = _choose(name, space, progress)
    copy = space.reset(exercise)
    progress.forget(exercise.name)
    print(f"{exercise.path.name} is new again. 已恢复原样。")
    if copy:
        print(f"Your file is kept as · 你的文件保存为: {copy}")
    if json:
        print_json({"exercise": exercise.name, "backup": copy})


def _open(folder: Path | None) -> tuple[Any, Any]:
    from keras_attention.course.progress import Progress
    from keras_attention.course.workspace import Workspace, find_folder

    space = Workspace(find_folder(folder))
    return space, Progress(space.folder)


def _choose(name: str | None, space: Any, progress: Any) -> Any:
    from keras_attention.course.catalog import find

    wanted = name or progress.next([exercise.name for exercise in space.exercises])
    if wanted is None:
        raise ValueError("All exercises are done; name one, as in `keras-attention exercise check ex03`.")
    return find(wanted, space.exercises)


@contextmanager
def _openers(space: Any, exercise: Any, seconds: float) -> Iterator[Any]:
    """For the submission and for known mistakes: the zygote of a running `watch`, else this process.

    Here Keras is loaded if the code needs it, or when mistakes are to be run.
    """
    from keras_attention.course.channels import InPlace
    from keras_attention.course.sealed.sandbox import Limits

    @cache
    def prepare() -> None:
        print("Looking for the reason · 正在找原因 …", file=sys.stderr, flush=True)
        start_keras()

    def in_place_with_keras() -> Any:
        prepare()
        return InPlace()

    with space.warm(exercise, Limits(seconds)) as warm:
        source = space.submission(exercise).source
        if warm is None and ("keras" in source or "tensorflow" in source):
            start_keras()
        yield (warm, warm) if warm else (InPlace, in_place_with_keras)


@contextmanager
def _engine(space: Any, seconds: float) -> Iterator[Any]:
    """Children of a zygote, which is shared with `check`; or new processes where there is no fork."""
    from keras_attention.course.forked import Zygote
    from keras_attention.course.fresh import Fresh
    from keras_attention.course.sealed.sandbox import Limits
    from keras_attention.course.workspace import SOCKET

    limits = Limits(seconds)
    if sys.platform != "linux":
        yield lambda: Fresh(limits)
        return
    with Zygote() as zygote, zygote.share(space.folder / SOCKET):
        yield lambda: zygote.open(limits)


def _report(
    exercise: Any, verdicts: Any, space: Any, progress: Any, lang: Language, took: float
) -> dict[str, Any]:
    """Print the result of a check and note it."""
    from rich.console import Console
    from rich.text import Text

    before = progress[exercise.name].passed
    record = progress.attempt(exercise.name, verdicts)
    console = Console(highlight=False, soft_wrap=True)
    console.rule(f"{exercise.name} · {_say(exercise.title, lang)}")
    console.print(Text(str(space.path(exercise))))
    said: list[str] = []
    for verdict in verdicts:
        passed = verdict.state == "passed"
        line = f"{'✓' if passed else '✗'} {_say(verdict.title, lang)}  "
        line += f"{verdict.points:g}/{verdict.max_points:g}"
        console.print(Text(line, style="green" if passed else "red"))
        if not passed and said != (said := list(_explanation(verdict, lang))):
            console.print(Text("\n".join(said)))
    if printed := space.printed.splitlines():
        left_out = ["…"] if len(printed) > PRINTED else []
        console.print(
            Text("\n  ".join(["Your code printed · 你的代码输出:", *left_out, *printed[-PRINTED:]]))
        )
    points, possible = (sum(getattr(v, name) for v in verdicts) for name in ("points", "max_points"))
    console.print(f"{points:g} of {possible:g} points in {took:.2f} s · {points:g}/{possible:g} 分")
    if took > SLOW and not space.warmed and sys.platform == "linux":  # elsewhere `watch` lends nothing
        console.print(
            "Faster, in another terminal · 在另一个终端运行，检查更快: keras-attention exercise watch"
        )
    failed = any(verdict.state != "passed" for verdict in verdicts)
    hint_command = f"keras-attention exercise hint {exercise.name[:4]}"
    if failed:
        console.print(f"A hint · 提示: {hint_command}")
    elif before:
        console.print(f"Passed! 通过！ Our solution · 参考解答: {hint_command} --give-up")
    else:
        console.print("Passed! 通过！ Compare with our solution · 对照参考解答:")
        _show_solution(exercise)
    return {
        **_summary(exercise, progress),
        "passed": not failed,
        "points": points,
        "attempts": record.attempts,
        "seconds": round(took, 3),
        "printed": space.printed,
        "path": str(space.path(exercise)),
        "checks": [verdict.to_json() for verdict in verdicts],
    }


def _explanation(verdict: Any, lang: Language) -> Iterator[str]:
    """Diagnosis first; then what happened, indented."""
    if verdict.diagnosis:
        yield f"  {_say(verdict.diagnosis, lang)}"
    yield f"  {_say(verdict.text, lang)}"
    for detail in (verdict.values, verdict.said):
        if detail and detail not in verdict.text.en:
            yield "\n".join(f"    {line}" for line in detail.splitlines()[:12])


def _summary(exercise: Any, progress: Any) -> dict[str, Any]:
    record = asdict(progress[exercise.name])
    facts = {name.lower(): exercise.fact(name) for name in ("Chapter", "Difficulty", "Minutes")}
    return {"name": exercise.name, "title": exercise.title._asdict(), **facts, **record}


def _show_solution(exercise: Any) -> None:
    from rich.console import Console
    from rich.syntax import Syntax

    from keras_attention.course.stubs import without_docstrings

    code = Syntax("", "python", theme="ansi_light", background_color="default").highlight(
        without_docstrings(exercise.solution.read_text(encoding="utf-8"))
    )
    Console().print(code, soft_wrap=True)


def _mark(record: Any) -> str:
    if record.passed:
        return "✓"
    return "○" if record.gave_up else "·" if record.attempts else " "


def _say(text: Any, lang: Language) -> str:
    """In the language asked for."""
    return str(text) if lang is Language.both else getattr(text, lang.value)
