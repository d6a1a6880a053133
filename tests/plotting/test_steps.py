import matplotlib.pyplot as plt
import numpy as np
import pytest

from keras_attention.plotting import plot_steps

QUERIES, KEYS = ["他", "把", "书"], ["the", "cat", "sleeps", "."]


@pytest.fixture
def steps():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(3, 9)), rng.normal(size=(4, 9)), rng.normal(size=(4, 2))
    scores = query @ key.T
    scaled = scores / 3
    masked = np.where(np.tri(3, 4, 1, bool), scaled, -np.inf)
    weights = np.exp(masked) / np.exp(masked).sum(1, keepdims=True)
    return {
        "output": weights @ value,
        "weights": weights,
        "masked": masked,
        "scaled": scaled,
        "scores": scores,
        "query": query,
    }


def test_panels_follow_the_formula(steps):
    axes = plot_steps(steps, KEYS, QUERIES, "一步一步")
    names = ["scores", "scaled", "masked", "weights", "output"]
    assert [ax.get_title().split("\n")[0] for ax in axes] == [f"{i} {n}" for i, n in enumerate(names, 1)]
    assert "√d" in axes[1].get_title()
    for ax, name in zip(axes, names, strict=True):
        shown = np.ma.getdata(ax.images[0].get_array())
        visible = np.isfinite(steps[name])
        np.testing.assert_allclose(shown[visible], steps[name][visible])
    assert axes[0].figure.get_suptitle() == "一步一步"


def test_scores_share_a_norm_so_that_scaling_is_seen(steps):
    axes = plot_steps(steps, KEYS, QUERIES)
    limit = np.abs(steps["scores"]).max()
    assert [ax.images[0].get_clim() for ax in axes[:3]] == [(-limit, limit)] * 3
    assert axes[3].images[0].get_clim() == (0, 1)
    bars = [ax for ax in axes[0].figure.axes if ax not in axes]
    assert [bar.get_xlabel() for bar in bars] == ["score", "weight", "output"]


@pytest.mark.parametrize("lowest", [-np.inf, -1e9, float(np.finfo("float32").min)])
def test_what_the_mask_hides_is_hatched_from_then_on(steps, hatched, texts, lowest):
    hidden = np.isinf(steps["masked"])
    steps["masked"] = np.where(hidden, lowest, steps["masked"])
    axes = plot_steps(steps, KEYS, QUERIES)
    shown = [hatched(ax, *steps["scores"].shape) for ax in axes[:4]]
    assert not shown[0].any()
    assert not shown[1].any()
    np.testing.assert_array_equal(shown[2], hidden)
    np.testing.assert_array_equal(shown[3], hidden)
    assert len(texts(axes[2].texts)) - 1 == (~hidden).sum()  # numbers, and an arrow


def test_labels_are_keys_but_features_at_the_output(steps, texts, overlaps):
    axes = plot_steps(steps, KEYS, QUERIES)
    assert texts(axes[0].yaxis) == QUERIES
    assert [texts(ax.xaxis) for ax in axes] == [KEYS] * 4 + [["0", "1"]]
    assert not overlaps(axes[0].figure)


def test_steps_may_be_few_and_axes_given(steps):
    figure, given = plt.subplots(1, 2)
    axes = plot_steps({"weights": steps["weights"], "scaled": steps["scaled"]}, KEYS, QUERIES, axes=given)
    assert list(axes) == list(given)
    assert [ax.get_title().split("\n")[0] for ax in axes] == ["1 scaled", "2 weights"]
    assert len(figure.axes) == 2


def test_mistakes_are_named(steps):
    with pytest.raises(ValueError, match="no step to draw: query given, but scores, scaled"):
        plot_steps({"query": steps["query"]}, KEYS, QUERIES)
    with pytest.raises(ValueError, match="scores: weights have 4 columns but there are 3 source tokens"):
        plot_steps(steps, KEYS[:3], QUERIES)
    with pytest.raises(ValueError, match="output: weights have 2 rows but there are 3 target tokens"):
        plot_steps({"output": steps["output"][:2]}, KEYS, QUERIES)
    with pytest.raises(ValueError, match="2 Axes for 5 steps: scores, scaled, masked, weights, output"):
        plot_steps(steps, KEYS, QUERIES, axes=plt.subplots(2)[1])
