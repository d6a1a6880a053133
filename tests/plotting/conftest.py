from unittest import mock

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

SETTINGS = dict(mpl.rcParams)


@pytest.fixture(autouse=True)
def _leave_nothing_behind():
    """No figure stays open after a test, and no global setting is changed by one."""
    plt.close("all")
    yield
    assert dict(mpl.rcParams) == SETTINGS
    plt.close("all")


@pytest.fixture
def softmax():
    """Random weights (…, Tq, Tk) whose rows sum to 1, zero where the mask is False."""

    def softmax(*shape, mask=True, seed=0):
        powers = np.exp(2 * np.random.default_rng(seed).normal(size=shape)) * mask
        return powers / powers.sum(-1, keepdims=True)

    return softmax


@pytest.fixture
def texts():
    """The texts of an axis or a list of artists, as a reader sees them."""

    def texts(artists):
        artists = artists.get_ticklabels() if hasattr(artists, "get_ticklabels") else artists
        return [artist.get_text() for artist in artists]

    return texts


@pytest.fixture
def hatched():
    """Which of the cells (rows, columns) of an Axes a hatched patch covers."""

    def hatched(ax, rows, columns):
        patches = [patch for patch in ax.patches if patch.get_hatch()]
        cells = np.zeros((rows, columns), bool)
        for row, column in np.ndindex(rows, columns):
            cells[row, column] = any(p.get_path().contains_point((column, row)) for p in patches)
        return cells

    return hatched


@pytest.fixture
def overlaps():
    """The pairs of drawn texts whose boxes overlap by more than a point, and those that leave the figure."""

    def overlaps(figure):
        shown = set()

        def draw(text, renderer):
            shown.add(text)
            original(text, renderer)

        original = mpl.text.Text.draw
        with mock.patch.object(mpl.text.Text, "draw", draw):
            figure.canvas.draw()
        boxes = [
            (text.get_text(), text.get_window_extent(), text.get_rotation())
            for text in shown
            if text.get_text().strip()
        ]
        page = figure.bbox
        found = [
            name
            for name, box, _ in boxes
            if box.x0 < page.x0 - 1 or box.y0 < page.y0 - 1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1
        ]
        upright = [(name, box) for name, box, angle in boxes if angle % 90 == 0]
        for i, (name, box) in enumerate(upright):
            for other, second in upright[i + 1 :]:
                width = min(box.x1, second.x1) - max(box.x0, second.x0)
                height = min(box.y1, second.y1) - max(box.y0, second.y0)
                if width > 1 and height > 1:
                    found.append((name, other))
        return found

    return overlaps
