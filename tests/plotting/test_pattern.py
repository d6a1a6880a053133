import matplotlib.pyplot as plt
import numpy as np
import pytest

from keras_attention.masks import causal_mask, window_mask
from keras_attention.plotting import plot_pattern


def test_visible_cells_are_coloured_the_others_hatched(hatched):
    mask = window_mask(5, 7, window=1)
    ax = plot_pattern(mask, "a window of 1")
    np.testing.assert_array_equal(hatched(ax, 5, 7), ~mask.numpy())
    np.testing.assert_array_equal(ax.images[0].get_array(), mask)
    assert ax.get_title() == "a window of 1\n14 of 35 cells (40 %)"
    assert ax.yaxis_inverted()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key position", "query position")


def test_positions_are_whole_numbers():
    ax = plot_pattern(causal_mask(3))
    ax.figure.canvas.draw()
    for ticks in (ax.get_xticks(), ax.get_yticks()):
        np.testing.assert_array_equal(ticks, np.round(ticks))


def test_draws_on_given_axes():
    figure, ax = plt.subplots()
    assert plot_pattern(causal_mask(300), ax=ax) is ax
    assert ax.get_title() == "45,150 of 90,000 cells (50 %)"
    assert len(ax.patches) == 1
    assert not ax.collections  # no lines between cells too small for them
    assert figure.axes == [ax]


def test_what_is_no_mask_is_refused():
    with pytest.raises(ValueError, match="must be boolean, got float64"):
        plot_pattern(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"got \(1, 3, 3\): choose one"):
        plot_pattern(causal_mask(3)[None])
    with pytest.raises(ValueError, match=r"got \(0, 3\)"):
        plot_pattern(np.ones((0, 3), bool))
