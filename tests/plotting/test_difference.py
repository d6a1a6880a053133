import matplotlib.pyplot as plt
import numpy as np
import pytest

from keras_attention.plotting import plot_difference

SOURCE = ["the", "cat", "."]
BEFORE = np.array([[1.0, 0, 0], [0.2, 0.8, 0]])
AFTER = np.array([[0.4, 0.6, 0], [0.2, 0.796, 0.004]])


def test_white_is_no_change_and_both_sides_are_equally_long(texts):
    ax = plot_difference(BEFORE, AFTER, SOURCE, ["le", "chat"], "what changed", names=("epoch 1", "epoch 9"))
    image = ax.images[0]
    np.testing.assert_allclose(image.get_array(), AFTER - BEFORE)
    assert image.get_clim() == (-1, 1)
    assert image.get_cmap().name == "PuOr"
    np.testing.assert_allclose(image.to_rgba(0.0)[:3], 0.97, atol=0.01)
    (bar,) = (other for other in ax.figure.axes if other is not ax)
    assert bar.get_ylabel() == "epoch 9 − epoch 1"
    assert texts(ax.texts) == ["−0.60", "+0.60", "0.00", "0.00", "0.00", "0.00"]
    assert texts(ax.yaxis) == ["le", "chat"]


def test_masked_cells_are_hatched(hatched):
    mask = np.array([True, True, False])
    changed = AFTER * mask / (AFTER * mask).sum(1, keepdims=True)
    ax = plot_difference(BEFORE, changed, SOURCE, ["le", "chat"], mask=mask)
    np.testing.assert_array_equal(hatched(ax, 2, 3), np.broadcast_to(~mask, (2, 3)))


def test_draws_on_given_axes():
    figure, ax = plt.subplots()
    assert plot_difference(BEFORE, AFTER, SOURCE, ["le", "chat"], ax=ax, vmax=0.5) is ax
    assert ax.images[0].get_clim() == (-0.5, 0.5)
    assert figure.axes == [ax]


def test_both_must_be_attention_weights_of_one_shape():
    with pytest.raises(ValueError, match=r"before have shape \(2, 3\), those after \(3, 2\)"):
        plot_difference(BEFORE, AFTER.T, SOURCE, ["le", "chat"])
    with pytest.warns(UserWarning, match="row 0 do not sum to 1"):
        plot_difference(BEFORE * [[2], [1]], AFTER, SOURCE, ["le", "chat"])
    with pytest.warns(UserWarning, match="row 1 do not sum to 1"):
        plot_difference(BEFORE, AFTER * [[1], [2]], SOURCE, ["le", "chat"])
