import json
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keras_attention.cli._json import print_json


class Pair(NamedTuple):
    left: int
    right: float


@dataclass
class Point:
    x: np.ndarray


def test_all_that_a_command_measures_is_one_line_of_json(capsys):
    print("a table")
    print_json(
        {
            "bleu": np.float32(0.5),
            "loss": float("nan"),
            "ratio": np.float64("inf"),
            "epochs": np.int64(3),
            "done": np.True_,
            "text": "我\n爱",
            "none": None,
            "pair": Pair(1, float("nan")),
            "points": [Point(np.array([1.0, np.nan]))],
            2: (4, 5),
        }
    )
    line = capsys.readouterr().out.splitlines()[-1]
    assert "NaN" not in line
    assert "Infinity" not in line
    assert json.loads(line) == {
        "bleu": 0.5,
        "loss": None,
        "ratio": None,
        "epochs": 3,
        "done": True,
        "text": "我\n爱",
        "none": None,
        "pair": {"left": 1, "right": None},
        "points": [{"x": [1.0, None]}],
        "2": [4, 5],
    }
