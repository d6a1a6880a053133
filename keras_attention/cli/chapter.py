"""Run the chapters: what there is, and one of them from top to bottom."""

import subprocess
import sys
from typing import Annotated

import typer

from keras_attention.cli._json import Json, print_json

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Read and run the chapters of the course.")


@app.command("list")
def list_(json: Json = False) -> None:
    """All chapters, with their exercises."""
    from rich.console import Console
    from rich.table import Column, Table

    from keras_attention.course.chapters import chapters

    table = Table("", Column("name", no_wrap=True), Column("title", overflow="fold"), "exercises", box=None)
    found = chapters()
    for chapter in found:
        table.add_row(chapter.section, chapter.name, str(chapter.title), " ".join(chapter.exercises))
    Console(highlight=False).print(table)
    if json:
        print_json({"chapters": [_summary(chapter) for chapter in found]})


@app.command(context_settings={"ignore_unknown_options": True})
def run(
    name: Annotated[str, typer.Argument(help="11.3, its name, or a part of it.")],
    options: Annotated[
        list[str] | None,
        typer.Argument(help="For the chapter: --figures FOLDER, in some --data SOURCE and --epochs N."),
    ] = None,
    json: Json = False,
) -> None:
    """Run a chapter from top to bottom; its figures go to --figures, `figures` in this folder by default."""
    from keras_attention.course.chapters import chapters, find

    chapter = find(name, chapters())
    print(f"Read along · 边读边看: {chapter.path}", flush=True)
    status = subprocess.run([sys.executable, chapter.path, *(options or [])], check=False).returncode
    if json:
        print_json(_summary(chapter) | {"exit_status": status})
    if status:
        raise typer.Exit(status if status > 0 else 1)


def _summary(chapter):
    return {name: getattr(chapter, name) for name in ("section", "name", "title", "exercises", "path")}
