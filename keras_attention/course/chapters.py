"""The chapters: their names, their files, the exercises that belong to them."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from keras_attention.course.places import content
from keras_attention.course.verdict import Text

NAME = re.compile(r"ch(\d+(?:_\d+)*)_([a-z_]+)")


@dataclass(frozen=True)
class Chapter:
    """One script.

    Args:
        path: such as …/ch11_2_1_self_attention.py.
    """

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def section(self) -> str:
        """11.2.1"""
        found = NAME.fullmatch(self.name)
        return found[1].replace("_", ".") if found else ""

    @cached_property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def title(self) -> Text:
        """Of the docstring's first line "11.2.1 English · 中文", without the number."""
        en, _, zh = (ast.get_docstring(ast.parse(self.source)) or "").splitlines()[0].partition(" · ")
        return Text(en.removeprefix(self.section).strip(), zh)

    @cached_property
    def exercises(self) -> tuple[str, ...]:
        """The numbers of those that it names: ex01, ex02."""
        return tuple(sorted(set(re.findall(r"\bex\d\d\b", self.source))))


def chapters() -> list[Chapter]:
    """All chapters of the course, in order."""
    found = [Chapter(path) for path in content("chapters").glob("ch*.py")]
    return sorted(found, key=lambda chapter: [int(part) for part in chapter.section.split(".")])


def find(wanted: str, among: Sequence[Chapter]) -> Chapter:
    """By its section (11.3, 11_3), its name, or any part of it that no other has. Raises `ValueError`."""
    stem = Path(wanted).stem if wanted.endswith(".py") else wanted
    found = [chapter for chapter in among if chapter.section == stem.removeprefix("ch").replace("_", ".")]
    found = found or [chapter for chapter in among if stem in chapter.name]
    if len(found) == 1:
        return found[0]
    names = ", ".join(chapter.section for chapter in found or among)
    many = "More than one" if found else "No"
    raise ValueError(f"{many} chapter is called {wanted}; choose one of {names}.")
