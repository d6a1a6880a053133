"""A course of one's own to work in."""

import os
import sys
import sysconfig
from pathlib import Path
from typing import Annotated

import typer

from keras_attention.cli._json import Json, print_json

app = typer.Typer(add_completion=False)


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="To be made; it may exist if it is empty.")],
    json: Json = False,
) -> None:
    """Make a folder with the chapters, the exercises and a README that tells how to begin."""
    from keras_attention.course.workspace import make

    make(folder)
    print(f"Your course is in {folder}. Begin with: cd {folder} && keras-attention exercise next")
    if sys.prefix != sys.base_prefix:  # else the command is found everywhere
        scripts = Path(sysconfig.get_path("scripts"))
        activate = scripts / "activate" if os.name == "nt" else f"source {scripts / 'activate'}"
        print(f"If that is not found, first activate the environment · 找不到命令时先激活环境: {activate}")
    if json:
        print_json({"folder": folder.resolve()})
