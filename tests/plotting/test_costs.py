import math

import matplotlib.pyplot as plt
import numpy as np
import pytest

from keras_attention.cost import Cost
from keras_attention.plotting import plot_costs
from keras_attention.plotting.description import description_of

LENGTHS = [512, 1024, 2048]
COSTS = {
    "dense": [Cost(10, 20), Cost(40, 80), Cost(160, 320)],
    "window": [Cost(20, 10), Cost(40, 20), Cost(80, 40)],
    "$slow$": [Cost(90, math.nan), Cost(180, math.nan), Cost(361, math.nan)],
}


def test_time_and_memory_are_drawn_against_the_length():
    time, memory = plot_costs(LENGTHS, COSTS, "On this machine", dense="dense")
    for ax, unit in ((time, "milliseconds"), (memory, "megabytes")):
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        for line, row in zip(ax.lines, COSTS.values(), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), LENGTHS)
            np.testing.assert_array_equal(line.get_ydata(), [getattr(cost, unit) for cost in row])


def test_the_legend_says_from_where_on_each_pays(texts, overlaps):
    costs = {**COSTS, "fast": [Cost(1, 1)] * 3}
    time, memory = plot_costs(LENGTHS, costs, dense="dense")
    legend = memory.get_legend().get_texts()
    expected = ["dense", "window (from 1000)", "$slow$ (not up to here)", "fast (from ≤ 512)"]
    assert texts(legend) == expected
    assert not any(text.get_parse_math() for text in legend)
    assert not overlaps(time.figure)


def test_memory_too_small_to_be_counted_is_left_out():
    _, memory = plot_costs([1, 2], {"small": [Cost(1, 0), Cost(1, 3)]})
    np.testing.assert_array_equal(memory.lines[0].get_ydata(), [math.nan, 3])


def test_draws_on_given_axes():
    figure, given = plt.subplots(1, 2)
    assert plot_costs(LENGTHS, COSTS, axes=given) == list(given)
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize(("language", "end"), [("en", "."), ("zh", "。")])
def test_it_has_alt_text(language, end):
    time, _ = plot_costs(LENGTHS, COSTS)
    text = description_of(time.figure, language)
    assert "window 20–80 ms, 10–40 MB" in text
    assert text.endswith(end)


def test_memory_that_nobody_counted_leaves_its_axes_empty():
    _, memory = plot_costs([1, 2], {"window": [Cost(1, math.nan), Cost(2, math.nan)]})
    memory.figure.canvas.draw()
    assert memory.get_legend() is not None
