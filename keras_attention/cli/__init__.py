"""The command line: `main` finds the commands, and turns every error into one sentence.

A file NAME.py in this folder with an `app = typer.Typer(add_completion=False)` is the group (or, with one
function only, the command) NAME; it needs no other registration. To keep `--help` quick, such a file
imports Keras and all else that is slow inside its functions. Files whose names begin with _ are helpers.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from keras_attention import __version__

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # errors of TensorFlow's C++ side only


class Commands(TyperGroup):
    """The files of this folder, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for _, name, _ in iter_modules(__path__) if not name.startswith("_")]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = typer.main.get_command(import_module(f"{__name__}.{cmd_name}").app)
        command.name = cmd_name
        return command


app = typer.Typer(cls=Commands, add_completion=False, no_args_is_help=True)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"keras-attention {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    show_traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where an error comes from; at any place of the line.")
    ] = False,  # read by main, before Typer
) -> None:
    """Attention in Keras: train, measure and look at models, follow the course."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 on success, 1 on an error, 2 on wrong usage, 130 on Ctrl-C."""
    args = list(sys.argv[1:] if args is None else args)
    options = args[: args.index("--")] if "--" in args else args
    show_traceback = "--traceback" in options
    if show_traceback:
        args.remove("--traceback")
    try:
        app(args, prog_name="keras-attention")
    except SystemExit as end:
        if end.code == 130:
            print("Interrupted.", file=sys.stderr)
        raise
    except Exception as error:
        if show_traceback:
            traceback.print_exc()
        else:
            print(f"Error: {sentence(error)}", file=sys.stderr)
        sys.exit(1)


def sentence(error: Exception) -> str:
    """The message of an error in one line; of a kind that is not meant for people, with its name."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {error.filename}"
    message = " ".join(str(error).split())
    if isinstance(error, (ValueError, OSError)) and message:
        return message
    return f"{type(error).__name__}: {message} (--traceback shows where)"
