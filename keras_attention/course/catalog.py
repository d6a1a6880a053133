"""The exercises: their names, their files, and what their first lines say."""

import ast
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from keras_attention.course.places import content
from keras_attention.course.verdict import Text


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Args:
        name: such as ex01_scaled_dot_product_attention.
        folder: of the stub that the learner fills; its subfolder `checks` has the checks, unless it has none.
    """

    name: str
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.py"

    @property
    def checks(self) -> Path:
        return self._checks / f"test_{self.name}.py"

    @property
    def mistakes(self) -> Path:
        return self._checks / "mistakes" / f"{self.name}.py"

    @property
    def solution(self) -> Path:
        return content("solutions") / f"{self.name}.py"

    @property
    def _checks(self) -> Path:
        own = self.folder / "checks"
        return own if own.is_dir() else content("exercises") / "checks"

    @cached_property
    def stub(self) -> str:
        """The text that came with the course; a learner may have changed theirs."""
        return (content("exercises") / f"{self.name}.py").read_text(encoding="utf-8")

    @cached_property
    def docstring(self) -> str:
        """The task."""
        return ast.get_docstring(ast.parse(self.stub)) or ""

    @cached_property
    def title(self) -> Text:
        en, _, zh = self.docstring.splitlines()[0].partition(" · ")
        return Text(en, zh)

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """What a submission must define."""
        return public_names(ast.parse(self.stub))

    @cached_property
    def points(self) -> float:
        """What its checks are worth together."""
        tree = ast.parse(self.checks.read_text(encoding="utf-8"))
        keywords = [node for node in ast.walk(tree) if isinstance(node, ast.keyword)]
        return sum(ast.literal_eval(node.value) for node in keywords if node.arg == "points")

    def fact(self, name: str) -> str:
        """A line `Name: value` of the docstring: Chapter, Difficulty, Minutes."""
        found = re.search(rf"^{name}: *(.+)$", self.docstring, re.MULTILINE)
        return found[1].strip() if found else ""


def public_names(tree: ast.Module) -> tuple[str, ...]:
    """The functions and classes that a file defines."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return tuple(node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_"))


def exercises(folder: Path | None = None) -> list[Exercise]:
    """All exercises of the course, in order; `folder` is where the learner's files are."""
    names = sorted(path.stem for path in content("exercises").glob("ex[0-9][0-9]_*.py"))
    return [Exercise(name, folder or content("exercises")) for name in names]


def find(wanted: str, among: Sequence[Exercise]) -> Exercise:
    """By its name, its number (3, 03, ex03), or any part of its name that no other has."""
    number = re.fullmatch(r"(?:ex)?0*(\d+)", wanted)
    if number:
        found = [exercise for exercise in among if int(exercise.name[2:4]) == int(number[1])]
    else:
        stem = Path(wanted).stem
        found = [exercise for exercise in among if stem in exercise.name]
    if len(found) == 1:
        return found[0]
    names = [exercise.name for exercise in found or among]
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.4)
    advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
    raise ValueError(f"{'More than one' if found else 'No'} exercise is called {wanted}; {advice}")
