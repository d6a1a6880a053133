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
    """A language model that knows the step and the last token: (..., T) → table[T − 1, last], (..., V)."""

    def scores(tokens: Any) -> np.ndarray:
        tokens = np.asarray(tokens)
        return table[tokens.shape[-1] - 1, tokens[..., -1]]

    return scores


KINDS: dict[str, Callable[..., Callable[..., Any]]] = {"next_scores": next_scores}
