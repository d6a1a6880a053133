"""The bank of known mistakes: wrong versions of the solutions, each made by a small edit.

A file exercises/checks/mistakes/NAME.py holds `MISTAKES`, a list of these.
"""

import runpy
from dataclasses import dataclass
from pathlib import Path

from keras_attention.course.verdict import GraderFault, Text


@dataclass(frozen=True)
class Mistake:
    """A known mistake.

    Args:
        name: a short name, for reports.
        fails: the check that is meant to find it.
        edits: what of the solution's text becomes what; each occurs exactly once.
        en, zh: the diagnosis, a sentence that says what the wrong version computes and what to do.
    """

    name: str
    fails: str
    edits: dict[str, str]
    en: str
    zh: str

    @property
    def text(self) -> Text:
        return Text(self.en, self.zh)

    def source(self, solution: str) -> str:
        """The wrong version. Raises `GraderFault` if an edit does not fit the solution."""
        for old, new in self.edits.items():
            if solution.count(old) != 1:
                raise GraderFault(f"{self.name}: {old!r} occurs {solution.count(old)} times, not once.")
            solution = solution.replace(old, new)
        return solution


def read_mistakes(path: Path) -> list[Mistake]:
    return runpy.run_path(str(path))["MISTAKES"] if path.exists() else []
