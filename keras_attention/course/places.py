"""Where the course's files are: in the repository, or inside the installed package."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def content(name: str) -> Path:
    """The folder `exercises`, `solutions` or `chapters` that came with this package."""
    for home in (PACKAGE / "content", PACKAGE.parent):
        if (home / name).is_dir():
            return home / name
    raise FileNotFoundError(f"This installation has no {name}; install keras-attention-course again.")
