import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.cost import Cost, crossover, measure_costs, peak_megabytes
from keras_attention.layers import LongformerAttention, SelfAttention


def test_every_layer_has_a_cost_at_every_length():
    layers = {"layer": SelfAttention(2, 4), "function": lambda x: x + 1}
    for training in (False, True):
        costs = measure_costs(layers, [5, 9, 33], width=6, batch=2, calls=2, training=training)
        assert list(costs) == ["layer", "function"]
        assert all(len(row) == 3 for row in costs.values())
        assert all(cost.milliseconds > 0 and cost.megabytes >= 0 for row in costs.values() for cost in row)


def test_layers_take_turns_and_the_clock_is_the_given_one():
    calls, ticks = [], iter(np.cumsum([1.0, 5.0] * 6))

    def layer(name):
        def call(x):
            tf.py_function(lambda: calls.append(name), [], [])
            return x + 1

        return call

    costs = measure_costs(
        {"a": layer("a"), "b": layer("b")}, [7], width=6, calls=3, clock=lambda: next(ticks)
    )
    assert "".join(calls)[-6:] == "ababab"
    assert [row[0].milliseconds for row in costs.values()] == [5000, 5000]


def test_with_training_the_gradients_by_inputs_and_weights_are_computed():
    layer, gradients = SelfAttention(2, 4), []

    @tf.custom_gradient
    def noted(x):
        def gradient(dy):
            tf.py_function(lambda: gradients.append(1), [], [])
            return dy

        return tf.identity(x), gradient

    for training in (False, True):
        measure_costs({"": lambda x: layer(noted(x))}, [5], width=6, calls=1, training=training)
        assert bool(gradients) == training


def test_the_peak_is_that_of_the_tensors_that_live_at_a_time():
    x = tf.random.stateless_normal((4000, 1000), seed=(0, 0))
    assert peak_megabytes(lambda: (x + 1) + 1) == pytest.approx(32, rel=0.1)  # 16 MB each
    assert peak_megabytes(lambda: None) == pytest.approx(0, abs=1)


def test_what_linux_counts_is_what_tensorflow_counts():
    """Where it does not count, without oneDNN; in a process that holds no memory that others have freed."""
    code = (
        "import tensorflow as tf; from keras_attention import cost\n"
        "x = tf.random.stateless_normal((4000, 1000), seed=(0, 0))\n"
        "print(cost._peak_of_process(lambda: (x + 1) + 1))"
    )
    environment = os.environ | {"TF_ENABLE_ONEDNN_OPTS": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    peak = float(done.stdout)
    assert math.isnan(peak) != Path("/proc/self/clear_refs").exists()
    assert math.isnan(peak) or peak == pytest.approx(32, rel=0.1)


def test_the_memory_of_dense_attention_is_quadratic_and_that_of_a_window_linear():
    def memory(layer, *lengths):
        return [cost.megabytes for cost in measure_costs({"": layer}, lengths, width=8, calls=1)[""]]

    dense = memory(SelfAttention(2, 8), 2048, 4096)
    window = memory(LongformerAttention(2, 64, 64), 4096, 32768)
    assert dense[1] / dense[0] == pytest.approx(4, rel=0.2)
    assert 3 < window[1] / window[0] < 20  # not 64; which tensors live at a time is left to TensorFlow
    assert dense[0] >= 4 * 2 * 2048**2 / 1e6


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([0.5, 2, 4], 100),  # always faster
        ([2, 4, 4], 200),
        ([2, 8, 32], None),  # never
        ([0.5, 8, 4], 200 * 2 ** (1 / 3)),  # the last change counts
    ],
)
def test_the_crossover_lies_between_the_lengths_where_the_order_changes(times, expected):
    dense = [Cost(t, 0) for t in (1, 4, 16)]
    found = crossover([100, 200, 400], dense, [Cost(t, 0) for t in times])
    assert found == (expected if expected is None else pytest.approx(expected))
