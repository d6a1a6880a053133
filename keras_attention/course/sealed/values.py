"""Values as bytes and back: arrays as safetensors, the rest as JSON; never pickle.

    bytes = length of the tree (4 bytes) | the tree as JSON | safetensors

The tree has the lists and dictionaries, with {"array": "3"} where tensor 3 of the safetensors goes. Axes of
matplotlib arrive as a `figures.Drawing`, which says what they show.
"""

import json
import struct
from typing import Any

import numpy as np
import safetensors.numpy

from . import figures, givens

INTEGERS = {"uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"}
LARGEST = 2**25  # bytes of all arrays of a value
LARGEST_TREE = 2**20  # bytes; as objects of Python they are many times as large
DEEPEST = 20  # lists in lists, so that no reader runs out of stack
DTYPES = INTEGERS | {"bool", "float16", "float32", "float64"}


class Unsendable(TypeError):
    """A value that is neither arrays, numbers, text, nor lists and dictionaries of these."""


def pack(value: Any) -> bytes:
    """Raises `Unsendable` for what is not data."""
    arrays: dict[str, np.ndarray] = {}
    tree = json.dumps(_to_tree(value, arrays)).encode()
    size = sum(array.nbytes for array in arrays.values())
    if size > LARGEST:
        raise Unsendable(f"{size} bytes of arrays, which is more than there can be")
    return struct.pack(">I", len(tree)) + tree + safetensors.numpy.save(arrays)


def unpack(data: bytes, tree: int = LARGEST_TREE) -> Any:
    """Arrays come back as plain `numpy.ndarray`s that may be written to. Raises `ValueError`.

    Neither the tree nor the list of the arrays may have more bytes than `tree`.
    """
    try:
        (length,) = struct.unpack_from(">I", data)
        (header,) = struct.unpack_from("<Q", data, 4 + length)
        if max(length, header) > tree:
            raise ValueError("too long")
        arrays = safetensors.numpy.load(data[4 + length :])
        return _from_tree(json.loads(data[4 : 4 + length]), arrays, DEEPEST)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # bytes can be wrong in many ways; safetensors even panics
        raise ValueError(f"These bytes hold no values: {type(error).__name__}.") from None


def _to_tree(value: Any, arrays: dict[str, np.ndarray], room: int = DEEPEST) -> Any:
    if value is None or isinstance(value, (str, bool, int, float)):
        return {"is": _plain(value)}
    if not room:
        raise Unsendable(f"lists in lists, more than {DEEPEST} deep")
    if isinstance(value, (list, tuple)):
        return [_to_tree(item, arrays, room - 1) for item in value]
    if isinstance(value, dict):
        return {"dict": {str(key): _to_tree(item, arrays, room - 1) for key, item in value.items()}}
    if isinstance(value, givens.Given):
        return {"given": value.kind, "with": _to_tree(value.arrays, arrays)}
    if figures.is_axes(value):
        return {"drawing": _to_tree(vars(figures.describe(value)), arrays)}
    if isinstance(value, np.ndarray) and value.dtype == object and all(map(figures.is_axes, value.flat)):
        return [_to_tree(ax, arrays) for ax in value.flat]  # as from `pyplot.subplots`
    name = str(len(arrays))
    arrays[name] = as_array(value)
    return {"array": name}


def _plain(value: Any) -> Any:
    for kind in (bool, int, float, str):  # a subclass, such as numpy.float64, becomes its base
        if isinstance(value, kind):
            return kind(value)
    return value


def _from_tree(tree: Any, arrays: dict[str, np.ndarray], room: int) -> Any:
    if not room:
        raise ValueError("too deep")
    if isinstance(tree, list):
        return [_from_tree(item, arrays, room - 1) for item in tree]
    if "is" in tree:
        if isinstance(tree["is"], (list, dict)):
            raise ValueError("no single value")
        return tree["is"]
    if "array" in tree:
        return np.array(arrays.pop(tree["array"]))  # each once, so that they are no larger than the bytes
    if "drawing" in tree:
        return figures.Drawing(**_from_tree(tree["drawing"], arrays, room - 1))
    if "given" in tree:
        return givens.Given(tree["given"], _from_tree(tree["with"], arrays, room - 1))
    return {key: _from_tree(item, arrays, room - 1) for key, item in tree["dict"].items()}


def as_array(value: Any) -> np.ndarray:
    """A tensor of any library as a plain array; what is only a recipe of one is refused."""
    kind = type(value).__name__
    if kind == "KerasTensor" or not (hasattr(value, "__array__") or hasattr(value, "numpy")):
        raise Unsendable(f"a {kind}, which holds no numbers")
    data = value if hasattr(value, "__array__") else value.numpy()
    array = np.array(data, subok=False, order="C")
    if array.dtype.name == "bfloat16":
        array = array.astype("float32")
    if array.dtype.name not in DTYPES:
        raise Unsendable(f"an array of {array.dtype.name}, which is no kind of number that fits")
    return array
