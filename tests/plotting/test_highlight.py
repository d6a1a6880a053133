import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba

from keras_attention.plotting import plot_highlight

TOKENS = ["not", "a", "bad", "film", "a", "[PAD]"]
WEIGHTS = np.array([0.5, 0.0, 0.3, 0.15, 0.05, 0.0])


def words(ax, tokens):
    """The text artists of the tokens, without those of the numbers."""
    return [text for text in ax.texts if text.get_bbox_patch() is not None]


def test_every_token_stands_on_the_colour_of_its_weight(texts):
    ax = plot_highlight(TOKENS, WEIGHTS, "negative")
    shown = words(ax, TOKENS)
    assert texts(shown) == TOKENS
    for text, weight in zip(shown, WEIGHTS, strict=True):
        colour = plt.get_cmap("Blues")(weight / 0.6667)  # four times the mean of 1/6
        np.testing.assert_allclose(text.get_bbox_patch().get_facecolor(), colour, atol=0.01)
        assert text.get_color() == ("#ffffff" if weight == 0.5 else "#000000")
    assert ax.get_title("left") == "negative"


def test_weights_stand_below_their_tokens(texts):
    ax = plot_highlight(TOKENS, WEIGHTS)
    by_place = {text.get_position()[0]: [] for text in ax.texts}
    for text in ax.texts:
        by_place[text.get_position()[0]].append(text)
    for (above, below), token, weight in zip(by_place.values(), TOKENS, WEIGHTS, strict=True):
        assert above.get_text() == token
        assert float(below.get_text()) == pytest.approx(weight)
        assert below.get_position()[1] < above.get_position()[1]
    assert texts(plot_highlight(TOKENS, WEIGHTS, annotate=False).texts) == TOKENS
    assert texts(plot_highlight(["a"] * 61, np.full(61, 1 / 61)).texts) == ["a"] * 61


def test_a_text_whose_words_weigh_the_same_stays_pale():
    ax = plot_highlight(list("abcdefgh"), np.full(8, 1 / 8))
    for text in words(ax, "abcdefgh"):
        np.testing.assert_allclose(
            text.get_bbox_patch().get_facecolor(), plt.get_cmap("Blues")(0.25), atol=0.01
        )


def test_the_bar_tells_the_weights():
    ax = plot_highlight(TOKENS, WEIGHTS, vmax=0.8)
    (bar,) = ax.child_axes
    assert bar.get_xlim() == (0, 0.8)
    assert bar.get_xlabel() == "attention weight"


def test_masked_tokens_are_hatched_and_have_no_number(texts):
    ax = plot_highlight(TOKENS, WEIGHTS, mask=np.arange(6) < 5)
    assert [bool(text.get_bbox_patch().get_hatch()) for text in words(ax, TOKENS)] == [False] * 5 + [True]
    assert len(ax.texts) == 6 + 5


def test_gold_tokens_are_underlined():
    gold = np.array([1, 0, 1, 0, 0, 0], bool)
    ax = plot_highlight(TOKENS, WEIGHTS, gold=gold)
    (lines,) = (artist for artist in ax.collections if isinstance(artist, LineCollection))
    middles = [segment[:, 0].mean() for segment in lines.get_segments()]
    places = [text.get_position()[0] for text in words(ax, TOKENS)]
    np.testing.assert_allclose(middles, [places[0], places[2]])
    assert lines.get_zorder() > words(ax, TOKENS)[0].get_zorder()


def test_lines_break_at_the_width_and_no_word_covers_another(overlaps):
    tokens = ("the music was quite wonderful but extraordinarily long " * 6).split()
    ax = plot_highlight(tokens, np.full(48, 1 / 48), "a long text")
    heights = {text.get_position()[1] for text in words(ax, tokens)}
    assert 3 < len(heights) < 12
    assert not overlaps(ax.figure)
    ax.figure.set_dpi(33)
    ax.figure.set_size_inches(9, 9)  # positions are in points on paper, so they hold
    assert not overlaps(ax.figure)


def test_right_to_left_text_runs_so():
    arabic = ["هذا", "فيلم", "رائع"]
    places = [text.get_position()[0] for text in words(plot_highlight(arabic, [0.2, 0.3, 0.5]), arabic)]
    assert places == sorted(places, reverse=True)
    mixed = ["I", "said", "שלום"]
    places = [text.get_position()[0] for text in words(plot_highlight(mixed, [0.2, 0.3, 0.5]), mixed)]
    assert places == sorted(places)


def test_letters_shrink_to_fit_given_axes():
    tokens = ("the music was quite wonderful " * 8).split()
    figure, (large, small) = plt.subplots(2, height_ratios=(2, 1), figsize=(6, 5))
    sizes = []
    for ax in (large, small):
        assert plot_highlight(tokens, np.full(40, 1 / 40), ax=ax) is ax
        sizes.append(words(ax, tokens)[0].get_fontsize())
        lowest = min(text.get_window_extent().y0 for text in ax.texts)
        assert lowest > ax.get_window_extent().y0 - 3
    assert sizes[1] < sizes[0] <= 11
    assert len(figure.axes) == 2


def test_what_is_no_attention_is_noticed():
    with pytest.warns(UserWarning, match="row 0 do not sum to 1"):
        plot_highlight(["a", "b"], [1, 1])
    with pytest.warns(UserWarning, match="NaN among the weights"):
        ax = plot_highlight(["a", "b"], [np.nan, 1])
    assert words(ax, "ab")[0].get_bbox_patch().get_facecolor() == to_rgba("tab:red")
    plot_highlight(["a", "b"], [0, 0])  # a text all masked


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="3 weights but 2 tokens"):
        plot_highlight(["a", "b"], [0.5, 0.25, 0.25])
    with pytest.raises(ValueError, match=r"got \(1, 2\): choose one text"):
        plot_highlight(["a", "b"], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="the string 'ab'"):
        plot_highlight("ab", [0.5, 0.5])
    with pytest.raises(ValueError, match="no token"):
        plot_highlight([], [])
