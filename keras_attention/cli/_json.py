"""The last line of stdout for programs, where a command has `--json`."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="End with one line of JSON for programs.")]


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object in one line; NaN and infinity, which JSON lacks, become null."""
    print(json.dumps(_plain(values), allow_nan=False), flush=True)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy
        value = value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    elif hasattr(value, "_asdict"):  # named tuples
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return str(value)
