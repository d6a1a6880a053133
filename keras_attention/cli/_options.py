"""What the commands that train have in common."""

from enum import StrEnum
from pathlib import Path
from typing import Any


class Cell(StrEnum):
    gru = "gru"
    lstm = "lstm"


class Kind(StrEnum):
    word = "word"
    char = "char"
    subword = "subword"


def check_out(out: Path) -> None:
    """Complain about a bad --out before the work begins."""
    if out.suffix != ".keras":
        raise ValueError(f"--out is {out}, but a model's file must end in .keras.")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {out.parent} for --out; make it first.")


def given(**options: Any) -> dict[str, Any]:
    """The options that the user gave."""
    return {
        name: str(value) if isinstance(value, StrEnum) else value
        for name, value in options.items()
        if value is not None
    }
