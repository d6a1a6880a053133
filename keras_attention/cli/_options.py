"""What the commands have in common."""

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


def check_file(path: Path, option: str, suffix: str) -> None:
    """Before the work begins, complain about a file that cannot be written."""
    if path.suffix != suffix:
        raise ValueError(f"{option} is {path}, but its name must end in {suffix}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} for {option}; make it first.")


def given(**options: Any) -> dict[str, Any]:
    """The options that the user gave."""
    return {
        name: str(value) if isinstance(value, StrEnum) else value
        for name, value in options.items()
        if value is not None
    }


def short(number: float) -> str:
    """A measure for a table."""
    return f"{number:.4f}" if abs(number) < 1 else f"{number:,.2f}"
