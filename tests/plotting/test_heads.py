import matplotlib.pyplot as plt
import numpy as np
import pytest

from keras_attention.plotting import plot_heads

SOURCE = ["the", "cat", "sleeps", "."]
TARGET = ["le", "chat", "dort"]


def test_all_heads_share_one_norm_and_one_bar(softmax):
    weights = softmax(5, 3, 4)
    weights[0] = 0.25  # a flat head must look flat beside a sharp one
    axes = plot_heads(weights, SOURCE, TARGET, "a layer", columns=3)
    assert axes.shape == (5,)
    for ax, head in zip(axes, weights, strict=True):
        np.testing.assert_array_equal(ax.images[0].get_array(), head)
        assert ax.images[0].get_clim() == (0, 1)
    figure = axes[0].figure
    bars = [ax for ax in figure.axes if ax not in axes]
    assert len(bars) == 1
    assert bars[0].get_ylim() == (0, 1)
    assert figure.get_suptitle() == "a layer"
    assert [ax.get_title() for ax in axes] == [f"head {i}" for i in range(1, 6)]


def test_the_bar_tells_of_larger_weights_in_any_head(softmax):
    weights = np.stack([np.eye(3, 4), np.full((3, 4), 0.25)])
    axes = plot_heads(weights, SOURCE, TARGET, vmax=0.5)
    assert axes[1].images[0].colorbar.extend == "max"


def test_labels_stand_at_the_left_and_lower_edges_only(softmax, texts, overlaps):
    axes = plot_heads(softmax(5, 3, 4), SOURCE, TARGET, columns=3)
    assert [texts(ax.yaxis) == TARGET for ax in axes] == [True, False, False, True, False]
    assert [texts(ax.xaxis) == SOURCE for ax in axes] == [False, False, True, True, True]
    assert not overlaps(axes[0].figure)


def test_draws_on_given_axes_with_all_labels(softmax, texts):
    figure, given = plt.subplots(2, 2)
    axes = plot_heads(softmax(4, 3, 4), SOURCE, TARGET, axes=given, titles=list("abcd"))
    assert list(axes) == list(given.flat)
    assert all(texts(ax.xaxis) == SOURCE and texts(ax.yaxis) == TARGET for ax in axes)
    assert len(figure.axes) == 4
    assert [ax.get_title() for ax in axes] == list("abcd")


def test_every_head_may_have_its_own_mask(softmax, hatched):
    mask = np.random.default_rng(1).random((2, 3, 4)) < 0.6
    mask[..., 0] = True
    axes = plot_heads(softmax(2, 3, 4, mask=mask), SOURCE, TARGET, mask=mask)
    for ax, allowed in zip(axes, mask, strict=True):
        np.testing.assert_array_equal(hatched(ax, 3, 4), ~allowed)


def test_a_bad_head_is_noticed(softmax):
    weights = softmax(2, 3, 4)
    weights[1, 2] *= 2
    with pytest.warns(UserWarning, match=r"row 2 do not sum to 1 \(the first to 2\.00\)") as caught:
        plot_heads(weights, SOURCE, TARGET)
    assert len(caught) == 1


def test_mismatches_name_both_numbers(softmax):
    with pytest.raises(ValueError, match=r"got \(3, 4\): choose one sentence"):
        plot_heads(softmax(3, 4), SOURCE, TARGET)
    with pytest.raises(ValueError, match="4 columns but there are 3 source tokens"):
        plot_heads(softmax(2, 3, 4), SOURCE[:3], TARGET)
    with pytest.raises(ValueError, match="1 titles for 2 heads"):
        plot_heads(softmax(2, 3, 4), SOURCE, TARGET, titles=["a"])
    with pytest.raises(ValueError, match="3 Axes for 2 heads"):
        plot_heads(softmax(2, 3, 4), SOURCE, TARGET, axes=plt.subplots(3)[1])
