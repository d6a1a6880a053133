"""Files that are never half written."""

import os
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Write a file so that it holds what it held or all of this, also if the process is killed."""
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)
