from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import LogNorm

from keras_attention.course.checks import drawing
from keras_attention.course.compare import same
from keras_attention.course.sealed import figures
from keras_attention.course.sealed.servant import Servant
from keras_attention.course.sealed.values import Unsendable, pack, unpack
from keras_attention.course.student import read_answer
from keras_attention.course.verdict import Failure

WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
ROWS, COLUMNS = ["le", "chat"], ["the", "cat", "the"]


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def label(ax, shift=0.0):
    ax.set_xticks(np.arange(3) + shift, labels=COLUMNS)
    ax.set_yticks(np.arange(2) + shift, labels=ROWS)


def seen(ax):
    return unpack(pack(ax))


def image(ax):
    ax.imshow(WEIGHTS)
    label(ax)


def flipped_image(ax):
    ax.imshow(WEIGHTS, origin="lower")
    label(ax)
    ax.invert_yaxis()


def mirrored_twice(ax):
    ax.imshow(WEIGHTS[:, ::-1])
    ax.set_xticks(range(3), labels=COLUMNS[::-1])
    ax.set_yticks(range(2), labels=ROWS)
    ax.invert_xaxis()


def image_with_extent(ax):
    ax.imshow(WEIGHTS, extent=(0, 3, 2, 0))
    label(ax, 0.5)


def labels_at_the_top(ax):
    ax.matshow(WEIGHTS)
    label(ax)


def mesh(ax):
    ax.pcolormesh(WEIGHTS)
    ax.invert_yaxis()
    label(ax, 0.5)


def mesh_around_points(ax):
    ax.pcolormesh(range(3), [1, 0], WEIGHTS, shading="nearest")
    ax.set_xticks(range(3), labels=COLUMNS)
    ax.set_yticks(range(2), labels=ROWS[::-1])


@pytest.mark.parametrize(
    "draw",
    [image, flipped_image, mirrored_twice, image_with_extent, labels_at_the_top, mesh, mesh_around_points],
)
def test_what_looks_the_same_reads_the_same(draw, ax):
    draw(ax)
    drawn = seen(ax)
    np.testing.assert_array_equal(drawn.cells, WEIGHTS)
    assert (drawn.rows, drawn.columns) == (ROWS, COLUMNS)


def test_labels_count_where_they_can_be_seen_at_the_middle_of_a_cell(ax):
    ax.imshow(WEIGHTS)
    ax.set_xticks([-1, 0.2, 1.4, 2], labels=["out of view", "near", "far", "there"])
    ax.set_yticks([])
    assert (seen(ax).columns, seen(ax).rows) == (["near", "", "there"], ["", ""])
    ax.set_axis_off()
    assert seen(ax).columns == ["", "", ""]


def test_cells_that_are_masked_or_nan_are_blank(ax):
    hidden = np.array([[False, True, False], [True, False, False]])
    for values in (np.ma.array(WEIGHTS, mask=hidden), np.where(hidden, np.nan, WEIGHTS)):
        ax.imshow(values)
        np.testing.assert_array_equal(seen(ax).cells, np.where(hidden, np.nan, WEIGHTS))


def test_the_colour_of_blank_cells(ax):
    blues = mpl.colormaps["Blues"]
    ax.imshow(WEIGHTS, cmap=blues)
    assert 0.02 < seen(ax).blank < 0.04  # white, and the lightest blue
    ax.set_facecolor("black")
    assert seen(ax).blank > 0.4
    ax.imshow(WEIGHTS, cmap=blues.with_extremes(bad=blues(0.5)))
    assert seen(ax).blank < 0.01


def test_colours(ax):
    drawn = ax.imshow(WEIGHTS, cmap="Blues", vmin=0, vmax=0.5)
    ax.figure.colorbar(drawn)
    assert (seen(ax).cmap, seen(ax).norm, seen(ax).limits.tolist()) == ("Blues", "Normalize", [0, 0.5])
    assert seen(ax).colorbar
    ax.imshow(WEIGHTS, norm=LogNorm(0.1, 1))  # on top of the other
    assert (seen(ax).cmap, seen(ax).norm, seen(ax).limits.tolist()) == ("viridis", "LogNorm", [0.1, 1])
    assert not seen(ax).colorbar


def test_words_and_the_figure_around(ax):
    ax.set_title("left", loc="left")
    ax.figure.add_axes((0, 0, 0.1, 0.1), title="other")
    ax.set(xlabel="Source", ylabel="Target")
    drawn = seen(ax)
    assert (drawn.title, drawn.xlabel, drawn.ylabel) == ("left", "Source", "Target")
    assert drawn.panels == ["left", "other"]


def test_axes_without_an_image_are_a_failure(ax):
    ax.plot([1, 2])
    with pytest.raises(Failure, match="The Axes show no image"):
        drawing(seen(ax))


@pytest.mark.parametrize("value", [None, {"title": "a"}, [WEIGHTS], "passed"])
def test_what_is_no_axes_is_a_failure(value):
    with pytest.raises(Failure, match="It returns no Axes, but"):
        drawing(unpack(pack(value)))


def test_arrays_of_axes_arrive_as_lists(ax):
    ax.set_title("one")
    assert [drawn.title for drawn in seen(np.array([[ax, ax]]))] == ["one", "one"]
    with pytest.raises(Unsendable):
        pack(np.array([ax, None]))


def test_drawings_are_compared_as_data(ax):
    image(ax)
    assert same(seen(ax), seen(ax))
    before = seen(ax)
    ax.images[0].set_data(WEIGHTS / 2)
    assert not same(before, seen(ax))


@pytest.mark.parametrize(
    "forged", [{"cells": "text"}, {"rows": 3}, {"rows": [WEIGHTS]}, {"title": None}, {"more": 1}]
)
def test_a_drawing_that_is_none_is_a_failure_of_the_submission(forged, ax, monkeypatch):
    image(ax)
    right = vars(figures.describe(ax))
    monkeypatch.setattr(figures, "describe", lambda _: SimpleNamespace(**right | forged))
    answer = pack({"value": ax})
    with pytest.raises(Failure, match="The answer holds no arrays"):
        read_answer(answer)


def test_figures_do_not_pile_up():
    servant = Servant()
    source = "import matplotlib.pyplot as plt\ndef f():\n    plt.figure()\n    raise ValueError"
    servant.answer(pack({"verb": "load", "source": source, "filename": "a.py"}))
    servant.answer(pack({"verb": "call", "name": "f", "args": [], "kwargs": {}}))
    assert plt.get_fignums() == []
