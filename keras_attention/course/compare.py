"""Comparing what a submission gave with what is right: shape, then type, then finite, then values.

The order matters: NumPy's own comparisons broadcast, so that they find a scalar equal to a matrix of ones.
"""

from contextlib import suppress
from typing import Any

import numpy as np

from keras_attention.course.sealed.figures import Drawing
from keras_attention.course.verdict import Failure, GraderFault, Text

KINDS = {
    "f": ("float32 or float64", ("float32", "float64")),
    "b": ("bool", ("bool",)),
    "i": (
        "integers",
        ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    ),
}


def equal(got: Any, expected: Any, name: str, tolerance: float = 1e-4, where: Any = True) -> None:
    """Raise `Failure` unless `got` is what is expected.

    Args:
        got: what the submission returned.
        expected: an array, a number, or a list of integers or texts.
        name: what the exercise calls it.
        tolerance: largest error, absolute and relative.
        where: the places that count, of a shape that broadcasts to that of `expected`.
    """
    if isinstance(expected, (list, str)):
        if not same(got, expected):
            _fail(name, "is wrong", "不对", f"{got!r}, not {expected!r}")
        return
    right = _only(where, np.asarray(expected))
    if not right.size or not _finite(right):
        raise GraderFault(f"The reference for {name} is empty or not finite.")
    array = _array(got, right, name)
    if array.shape != right.shape:
        _fail(
            name,
            f"has the shape {array.shape}, not {right.shape}",
            f"形状是 {array.shape}，应为 {right.shape}",
        )
    kind, types = KINDS[right.dtype.kind]
    if array.dtype.name not in types:
        _fail(name, f"is of type {array.dtype.name}, not {kind}", f"类型是 {array.dtype.name}，应为 {kind}")
    array = _only(where, array)
    if not _finite(array):
        # not how many: that depends on the library that computed a softmax of NaN
        _fail(name, "has values that are NaN or infinite", "有 NaN 或无穷大")
    wrong = ~close(array, right, tolerance)
    if wrong.any():
        count, size = int(wrong.sum()), right.size
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        values = f"{name}{list(at)} is {array[at]:.6g}, not {right[at]:.6g}"
        _fail(name, f"has {count} wrong values of {size}", f"有 {count}/{size} 个值不对", values)


def close(got: np.ndarray, expected: np.ndarray, tolerance: float = 1e-4) -> np.ndarray:
    """Where two arrays of one shape agree."""
    if expected.dtype.kind != "f":
        return np.equal(got, expected)
    difference = np.abs(got.astype("float64") - expected)
    return difference <= tolerance * (1 + np.abs(expected))


def same(first: Any, second: Any) -> bool:
    """Whether two results are equal as data, of any structure; NaN equals NaN."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first.shape != second.shape or (first.dtype.kind == "f") != (second.dtype.kind == "f"):
            return False
        if first.dtype.kind != "f":
            return np.array_equal(first, second)
        return np.allclose(first, second, rtol=1e-4, atol=1e-4, equal_nan=True)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, Drawing) and isinstance(second, Drawing):
        return same(vars(first), vars(second))
    if isinstance(first, float) and isinstance(second, float):
        return bool(np.isclose(first, second, rtol=1e-4, atol=1e-4, equal_nan=True))
    return type(first) is type(second) and first == second


def has_nan(result: Any) -> bool:
    """Whether a NaN is somewhere in a result."""
    if isinstance(result, list):
        return any(map(has_nan, result))
    return isinstance(result, np.ndarray) and result.dtype.kind == "f" and bool(np.isnan(result).any())


def _array(got: Any, right: np.ndarray, name: str) -> np.ndarray:
    if type(got) is np.ndarray:
        return got
    if right.ndim == 0 and isinstance(got, (int, float)) and isinstance(got, bool) == (right.dtype == bool):
        with suppress(OverflowError):
            return np.asarray(float(got)) if right.dtype.kind == "f" else np.asarray(got)
    kind = type(got).__name__.replace("NoneType", "None")
    return _fail(name, f"is no array, but {kind}", f"不是数组，而是 {kind}")


def _only(where: Any, array: np.ndarray) -> np.ndarray:
    """Zeros elsewhere."""
    return np.where(where, array, array.dtype.type(0))


def _finite(array: np.ndarray) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def _fail(name: str, en: str, zh: str, values: str = "") -> Any:
    raise Failure("wrong value", Text(f"{name} {en}.", f"{name} {zh}。"), values=values)
