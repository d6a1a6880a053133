import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_attention.plotting import plot_alignment
from keras_attention.plotting.alignment import alignment

SOURCE = ["the", "cat", "sleeps", "."]
TARGET = ["le", "chat", "dort"]


def test_gold_pairs_are_outlined_and_the_error_rate_is_in_the_title(softmax):
    gold = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]], bool)
    weights = np.array([[0.7, 0.3, 0, 0], [0.8, 0.2, 0, 0], [0, 0, 0.4, 0.6]])
    ax = plot_alignment(weights, SOURCE, TARGET, gold, "the cat")
    # predicted: the–le, the–chat, .–dort; two of these three are gold, of which there are four
    title = f"the cat alignment error rate {1 - 2 * 2 / (3 + 4):.2f} (gold outlined)"
    assert " ".join(ax.get_title().split()) == title
    outline = next(patch for patch in ax.patches if not patch.get_fill())
    inside = [[outline.get_path().contains_point((column, row)) for column in range(4)] for row in range(3)]
    np.testing.assert_array_equal(inside, gold)


def test_rows_without_a_gold_link_do_not_count():
    gold = np.array([[1, 0], [0, 0]], bool)
    ax = plot_alignment([[1, 0], [1, 0]], list("ab"), list("xy"), gold)
    assert "rate 0.00" in " ".join(ax.get_title().split())


def test_without_any_gold_link_there_is_no_rate():
    ax = plot_alignment([[1, 0]], list("ab"), ["x"], np.zeros((1, 2), bool))
    assert ax.get_title() == "no gold links"


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_the_rate_is_the_formula(rows, columns, seed):
    rng = np.random.default_rng(seed)
    weights, gold = rng.random((rows, columns)), rng.random((rows, columns)) < 0.4
    predicted = {(r, weights[r].argmax()) for r in range(rows) if gold[r].any()}
    links = set(map(tuple, np.argwhere(gold)))
    rate = alignment(weights, gold).error_rate
    if links:
        assert rate == pytest.approx(1 - 2 * len(predicted & links) / (len(predicted) + len(links)))
    else:
        assert np.isnan(rate)


def test_gold_must_fit():
    with pytest.raises(ValueError, match=r"gold has shape \(3, 2\), the weights have \(1, 2\)"):
        plot_alignment([[1, 0]], list("ab"), ["x"], np.zeros((3, 2), bool))
