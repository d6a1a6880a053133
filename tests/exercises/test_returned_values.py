"""Whatever a submission returns instead of what is right, it fails, with a cause: the grader does not."""

import json
import struct

import numpy as np
import pytest
import safetensors.numpy

from keras_attention.course import catalog
from keras_attention.course.channels import InPlace
from keras_attention.course.judge import Judge
from keras_attention.course.sealed import values
from keras_attention.course.sealed.figures import Drawing
from keras_attention.course.sealed.givens import Given
from keras_attention.course.submission import Submission
from keras_attention.course.verdict import CAUSES

EXERCISES = catalog.exercises()

# what is returned, as an expression of r, the right part that it replaces
VALUES = {
    "None": "None",
    "text": "'passed'",
    "True": "True",
    "huge number": "10**400",
    "NaN": "float('nan')",
    "complex number": "1j",
    "object": "object()",
    "function": "print",
    "set": "{1, 2}",
    "bytes": "b'passed'",
    "generator": "(n for n in range(3))",
    "empty list": "[]",
    "ragged list": "[[1.0, 2.0], [3.0], 'a', None]",
    "list of arrays": "[np.ones((2, 3)), np.ones(4)]",
    "nested deeply": "functools.reduce(lambda inner, _: [inner], range(500), 1.0)",
    "dictionary": "{'output': np.ones(3), 1: None}",
    "0-d array": "np.array(0.5)",
    "empty array": "np.ones((0, 3))",
    "array of objects": "np.array([None, {}], dtype=object)",
    "array of texts": "np.array(['a', 'b'])",
    "huge array": "np.broadcast_to(np.float32(1), (2**14, 2**12))",
    "as a list": "np.asarray(r).tolist()",
    "one axis more": "np.asarray(r)[None]",
    "one axis less": "np.ravel(np.asarray(r))[0]",
    "complex": "np.asarray(r) * 1j",
    "objects": "np.asarray(r).astype(object)",
    "float16": "np.asarray(r).astype('float16')",
    "NaN in its shape": "np.full(np.shape(r), np.nan, 'float32')",
    "infinity in its shape": "np.full(np.shape(r), np.inf, 'float32')",
    "too large to be added": "np.full(np.shape(r), 3e38, 'float32')",
    "text in its shape": "np.full(np.shape(r), 'a')",
}

# of what is right, which may be a list, a number or drawings, where these are right, too
FORMS = {"as a list", "one axis more", "one axis less", "objects"}

WRONG = '''

import functools
import types
import numpy as np


def _wrong(r):
    return {value}


def _replace(result, depth):
    """The parts at this depth of lists and tuples, or what has none, by what is wrong."""
    if depth and isinstance(result, (list, tuple)) and result:
        return type(result)(_replace(part, depth - 1) for part in result)
    return _wrong(result)


_running = []


def _spoil(function):
    """A call from outside gives what is wrong; calls between the submission's own functions do not."""

    def spoiled(*args, **kwargs):
        _running.append(function)
        try:
            result = function(*args, **kwargs)
        finally:
            _running.pop()
        return result if _running else _replace(result, {depth})

    return spoiled


for _name, _made in list(globals().items()):
    if isinstance(_made, types.FunctionType) and _made.__module__ == __name__ and _name[0] != "_":
        globals()[_name] = _spoil(_made)
    elif isinstance(_made, type) and _made.__module__ == __name__:
        globals()[_name] = type(_name, (_made,), {{"__call__": _spoil(_made.__call__)}})
'''


def parts_are_lists(exercise):
    """Whether a function returns several lists, or a list of pairs."""
    return exercise.name[:4] in ("ex08", "ex09")


CASES = [(e, depth) for e in EXERCISES for depth in range(3 if parts_are_lists(e) else 2)]


@pytest.fixture(scope="module")
def judge():
    """One for all, since it keeps what known mistakes give."""
    return Judge(InPlace)


@pytest.mark.slow  # thousands of checks
@pytest.mark.parametrize(("exercise", "depth"), CASES, ids=[f"{e.name[:4]}-{depth}" for e, depth in CASES])
def test_whatever_is_returned_fails_with_a_cause(exercise, depth, judge):
    solution = exercise.solution.read_text(encoding="utf-8")
    for name, value in VALUES.items():
        if name in FORMS and exercise.name[:4] in ("ex06", "ex08", "ex09"):
            continue
        source = solution + WRONG.format(value=value, depth=depth)
        for verdict in judge(exercise, Submission("answer.py", source)):
            said = name, verdict.check, verdict.text and verdict.text.en, verdict.said
            assert verdict.state == "failed", said
            assert verdict.cause in CAUSES, said
            assert verdict.points == 0


def drawing(cells):
    labels = {"rows": ["a"], "columns": [], "panels": ["head 1", "head 2", "head 3"]}
    words = dict.fromkeys(("title", "xlabel", "ylabel", "cmap", "norm"), "Blues")
    return Drawing(**words, **labels, cells=cells, limits=np.zeros(2), colorbar=True, blank=0.0)


# what no function can return, but an answer can hold
FORGED = {
    "function of the judge": Given("next_scores", {"table": np.ones((2, 3))}),
    "function of no kind": Given([[]], None),
    "drawing of no image": drawing(np.array(0.5)),
    "drawing of a row": drawing(np.ones(3)),
    "drawing of many axes": drawing(np.ones((4, 6, 4))),
    "drawing of bools": drawing(np.ones((4, 6), bool)),
    "dictionaries": {"value": {"value": {}}, "error": None},
}


def forge(value):
    """An answer with this value, as bytes."""
    arrays = {}

    def tree(value):
        if isinstance(value, Drawing):
            return {"drawing": values._to_tree(vars(value), arrays)}
        return [tree(item) for item in value] if isinstance(value, list) else values._to_tree(value, arrays)

    text = json.dumps({"dict": {"value": tree(value)}}).encode()
    return struct.pack(">I", len(text)) + text + safetensors.numpy.save(arrays)


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_whatever_an_answer_holds_fails_with_a_cause(exercise):
    answer = b""

    class Forging(InPlace):
        def ask(self, request):
            return answer

    judge = Judge(Forging, open_mistakes=InPlace)
    for name, value in FORGED.items():
        for many in (value, *([value] * count for count in (1, 2, 3)), [[value]] * 2):
            answer = forge(many)
            for verdict in judge(exercise, Submission("answer.py", "x = 1")):
                assert verdict.state == "failed", (name, verdict.check, verdict.said)
                assert verdict.cause in CAUSES
