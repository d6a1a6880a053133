"""What a file of checks imports.

A check is a pytest function with the fixtures `student`, the submission, and `rng`, NumPy's generator of
random numbers, whose seed is the judge's. Its docstring is its title, in English and, after an empty line, in
Chinese.
"""

from typing import Any

import numpy as np

from keras_attention.course.compare import equal
from keras_attention.course.sealed.figures import Drawing
from keras_attention.course.sealed.givens import Given
from keras_attention.course.verdict import Failure, Text

__all__ = ["Drawing", "Given", "drawing", "equal", "floats", "require", "softmax"]


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random numbers around 0 in float32."""
    return rng.normal(size=shape).astype("float32")


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Of NumPy, in float64; where a row is −inf as a whole it gives zeros."""
    highest = scores.max(axis=axis, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total, total, 1)


def drawing(result: Any) -> Drawing:
    """What the Axes show that a submission returned. Raises `Failure` if they show no image."""
    kind = type(result).__name__.replace("NoneType", "None")
    require(
        isinstance(result, Drawing), f"It returns no Axes, but {kind}.", f"返回的不是 Axes，而是 {kind}。"
    )
    require(result.cells.size, "The Axes show no image: draw one.", "Axes 里没有图像：请画出来。")
    return result


def require(holds: Any, en: str, zh: str) -> None:
    """Raise `Failure`, with a sentence without expected values, unless it holds."""
    if not holds:
        raise Failure("wrong value", Text(en, zh))
