"""Functions that a check hands to a submission: described by data, built where the submission runs.

A check writes `Given("next_scores", {"table": table})`; the student's function receives the function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Given:
    kind: str
    arrays: dict[str, Any]

    def build(self) -> Callable[..., Any]:
        return KINDS[self.kind](**self.arrays)


def next_scores(table: np.ndarray) -> Callable[..., np.ndarray]:
    """A language model that looks at the last token only: tokens (..., T) → table[last] (..., V)."""
    return lambda tokens: table[np.asarray(tokens)[..., -1]]


KINDS: dict[str, Callable[..., Callable[..., Any]]] = {"next_scores": next_scores}
