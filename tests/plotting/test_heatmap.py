import matplotlib.pyplot as plt
import numpy as np
import pytest
from keras import ops
from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch

from keras_attention.plotting import plot_attention

SOURCE = ["the", "cat", "sleeps", "."]
TARGET = ["le", "chat", "dort"]
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"  # "I want", with a joiner that cannot be seen
WEIGHTS = np.array([[0.7, 0.1, 0.1, 0.1], [0.0, 0.9, 0.1, 0.0], [0.25, 0.0, 0.5, 0.25]])


def drawn(ax):
    """The figure as pixels; matplotlib's own warnings become errors here."""
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def colour_of_cell(ax, row, column, offset=0.3):
    """The pixel in a cell, right of and below its middle."""
    pixels = drawn(ax)
    x, y = ax.transData.transform((column + offset, row + offset))
    return pixels[int(pixels.shape[0] - y), int(x)]


def test_rows_are_targets_from_the_top_and_columns_sources():
    ax = plot_attention(WEIGHTS, SOURCE, TARGET)
    assert labels(ax.xaxis) == SOURCE
    assert labels(ax.yaxis) == TARGET
    assert list(ax.get_xticks()) == [0, 1, 2, 3]
    assert list(ax.get_yticks()) == [0, 1, 2]
    assert ax.yaxis_inverted()
    for row, column in [(0, 0), (1, 1), (2, 3)]:
        expected = np.array(plt.get_cmap("cividis")(WEIGHTS[row, column])) * 255
        np.testing.assert_allclose(colour_of_cell(ax, row, column), expected, atol=2)


def test_colours_span_0_to_1_whatever_the_weights():
    ax = plot_attention(np.full((3, 4), 0.25), SOURCE, TARGET, cmap="Blues")
    image = ax.images[0]
    assert image.get_clim() == (0, 1)
    assert image.get_cmap().name == "Blues"


def test_labels_stay_on_their_tokens_after_a_zoom():
    ax = plot_attention(WEIGHTS, SOURCE, TARGET)
    ax.set_xlim(1.5, 3.5)
    drawn(ax)
    shown = {tick.get_loc(): tick.label1.get_text() for tick in ax.xaxis.get_major_ticks()}
    assert shown[2] == "sleeps"
    assert shown[3] == "."


def test_draws_on_given_axes_without_a_colour_bar():
    figure, (left, right) = plt.subplots(1, 2)
    assert plot_attention(WEIGHTS, SOURCE, TARGET, "a title", ax=right) is right
    assert right.get_title() == "a title"
    assert not left.images
    assert len(figure.axes) == 2
    plot_attention(WEIGHTS, SOURCE, TARGET, ax=left, colorbar=True)
    assert len(figure.axes) == 3


def test_new_figure_has_a_colour_bar_unless_refused():
    assert len(plot_attention(WEIGHTS, SOURCE, TARGET).figure.axes) == 2
    assert len(plot_attention(WEIGHTS, SOURCE, TARGET, colorbar=False).figure.axes) == 1


def test_odd_tokens_are_shown_as_they_are():
    tokens = [
        "$x$",
        "$\\frac",
        "",
        " a",
        "a",
        "a",
        "\n",
        "😀",
        "▁the",
        "\xa0",
        "W" * 40,
        "שלום",
        PERSIAN,
    ]
    weights = np.eye(len(tokens))
    ax = plot_attention(weights, tokens, tokens, "$5 or \\$6$")
    expected = [
        "$x$",
        "$\\frac",
        "∅",
        "␣a",
        "a",
        "a",
        "⏎",
        "😀",
        "▁the",
        "\\xa0",
        "W" * 23 + "…",
        *tokens[-2:],
    ]
    drawn(ax)
    assert labels(ax.xaxis) == labels(ax.yaxis) == expected
    assert not any(text.get_parse_math() for text in [*ax.get_xticklabels(), *ax.get_yticklabels(), ax.title])


def test_long_sequences_get_fewer_labels_each_on_its_own_position():
    tokens = [f"t{i}" for i in range(300)]
    ax = plot_attention(np.eye(300), tokens, tokens)
    for axis in (ax.xaxis, ax.yaxis):
        assert 10 < len(labels(axis)) < 100
        assert labels(axis) == [f"t{int(i)}" for i in axis.get_ticklocs()]


def test_small_matrices_are_annotated_in_a_readable_colour():
    ax = plot_attention(WEIGHTS, SOURCE, TARGET)
    texts = {text.get_position(): text for text in ax.texts}
    assert len(texts) == WEIGHTS.size
    assert texts[1, 1].get_text() == "0.90"
    assert texts[1, 1].get_color() == "#000000"
    assert texts[0, 1].get_text() == "0.00"
    assert texts[0, 1].get_color() == "#ffffff"


def test_annotation_can_be_asked_for_or_refused():
    assert not plot_attention(WEIGHTS, SOURCE, TARGET, annotate=False).texts
    tokens = [f"t{i}" for i in range(13)]
    assert not plot_attention(np.eye(13), tokens, tokens).texts
    assert len(plot_attention(np.eye(13), tokens, tokens, annotate=True).texts) == 169


def test_cells_too_small_for_numbers_have_none():
    _, (large, small) = plt.subplots(1, 2, width_ratios=(8, 1), figsize=(9, 4))
    assert len(plot_attention(WEIGHTS, SOURCE, TARGET, ax=large).texts) == 12
    assert not plot_attention(WEIGHTS, SOURCE, TARGET, ax=small).texts


def test_gold_cells_are_outlined():
    gold = np.zeros((3, 4), bool)
    gold[2, 1] = True
    ax = plot_attention(WEIGHTS, SOURCE, TARGET, gold=gold)
    outlines = [patch for patch in ax.patches if not patch.get_fill()]
    assert outlines
    for outline in outlines:
        box = outline.get_path().get_extents()
        assert 0.5 < box.x0 < 1 < box.x1 < 1.5
        assert 1.5 < box.y0 < 2 < box.y1 < 2.5
    assert not plot_attention(WEIGHTS, SOURCE, TARGET).patches


def test_masked_cells_are_hatched_and_look_unlike_a_zero():
    tokens = ["a", "b", "c"]
    weights = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0, 0.5]])
    ax = plot_attention(weights, tokens, tokens, mask=np.tril(np.ones((3, 3), bool)))
    (patch,) = [p for p in ax.patches if isinstance(p, PathPatch)]
    assert patch.get_hatch()
    inside = {
        (row, column)
        for row in range(3)
        for column in range(3)
        if patch.get_path().contains_point((column, row))
    }
    assert inside == {(0, 1), (0, 2), (1, 2)}
    assert (1, 2) not in {text.get_position()[::-1] for text in ax.texts}
    zero = np.array(to_rgba(plt.get_cmap("cividis")(0.0))) * 255
    np.testing.assert_allclose(colour_of_cell(ax, 2, 1), zero, atol=2)
    assert colour_of_cell(ax, 0, 2)[:3].min() > 100


def test_a_padding_mask_over_the_keys_covers_the_column():
    mask = np.array([True, True, False])
    ax = plot_attention([[0.5, 0.5, 0], [1, 0, 0]], ["a", "b", "[PAD]"], ["x", "y"], mask=mask)
    path = ax.patches[0].get_path()
    assert path.contains_point((2, 0))
    assert path.contains_point((2, 1))
    assert not path.contains_point((1, 0))


def test_length_mismatch_names_both_numbers():
    with pytest.raises(ValueError, match="weights have 4 columns but there are 5 source tokens"):
        plot_attention(WEIGHTS, [*SOURCE, "!"], TARGET)
    with pytest.raises(ValueError, match="weights have 3 rows but there are 2 target tokens"):
        plot_attention(WEIGHTS, SOURCE, TARGET[:2])


def test_bad_shapes_and_types_are_refused():
    with pytest.raises(ValueError, match=r"got \(1, 3, 4\): choose one sentence and one head"):
        plot_attention(WEIGHTS[None], SOURCE, TARGET)
    with pytest.raises(ValueError, match="0 target and 4 source"):
        plot_attention(np.zeros((0, 4)), SOURCE, [])
    with pytest.raises(ValueError, match="mask must be boolean, got float64"):
        plot_attention(WEIGHTS, SOURCE, TARGET, mask=np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"gold has shape \(4, 3\), the weights have \(3, 4\)"):
        plot_attention(WEIGHTS, SOURCE, TARGET, gold=np.ones((4, 3), bool))


def test_rows_that_do_not_sum_to_1_are_noticed():
    with pytest.warns(UserWarning, match=r"rows 0, 2 do not sum to 1 \(the first to 1\.40\)"):
        plot_attention(WEIGHTS * [[2 * 0.7], [1], [0.5]], SOURCE, TARGET)
    plot_attention(WEIGHTS * [[1], [0], [1]], SOURCE, TARGET)  # a query that may attend to nothing
    plot_attention(WEIGHTS * 3, SOURCE, TARGET, check=False)


def test_nan_is_noticed_and_drawn_in_red():
    weights = WEIGHTS.copy()
    weights[1, 2] = np.nan
    with pytest.warns(UserWarning, match="NaN among the weights of row 1"):
        ax = plot_attention(weights, SOURCE, TARGET)
    np.testing.assert_allclose(colour_of_cell(ax, 1, 2), np.array(to_rgba("tab:red")) * 255, atol=2)


def test_nothing_but_nan_is_drawn_in_red():
    with pytest.warns(UserWarning, match=r"rows 0, 1, 2"):
        ax = plot_attention(np.full((3, 4), np.nan), SOURCE, TARGET)
    drawn(ax)
    assert not ax.texts


def test_weight_on_masked_cells_is_noticed():
    with pytest.warns(UserWarning, match="row 2 are not zero where the mask forbids"):
        plot_attention(WEIGHTS, SOURCE, TARGET, mask=np.arange(12).reshape(3, 4) != 8)


def test_infinite_and_negative_weights_are_noticed():
    weights = WEIGHTS.copy()
    weights[0] = [np.inf, 0, 0, 0]
    weights[2] = [-1, 1, 0.5, 0.5]
    with pytest.warns(UserWarning, match="infinity|negative") as caught:
        plot_attention(weights, SOURCE, TARGET)
    messages = [str(warning.message) for warning in caught]
    assert messages == [
        "infinity among the weights of row 0, drawn in red.",
        "Weights of row 2 are negative: are these scores?",
    ]
    assert {warning.filename for warning in caught} == {__file__}  # the warning points at who called


def test_a_string_is_no_list_of_tokens():
    with pytest.raises(ValueError, match="source_tokens is the string 'abcd', but a list"):
        plot_attention(WEIGHTS, "abcd", TARGET)


def test_tensors_are_drawn_as_arrays_are():
    ax = plot_attention(ops.convert_to_tensor(WEIGHTS, "bfloat16"), SOURCE, TARGET, mask=ops.ones(4, "bool"))
    np.testing.assert_allclose(ax.images[0].get_array(), WEIGHTS, atol=0.01)


def test_a_smaller_range_of_colours_is_told_by_the_bar():
    ax = plot_attention(np.full((3, 4), 0.25), SOURCE, TARGET, vmax=0.5)
    assert ax.images[0].get_clim() == (0, 0.5)
    (bar,) = (other for other in ax.figure.axes if other is not ax)
    assert bar.get_ylim() == (0, 0.5)
    assert ax.images[0].colorbar.extend == "neither"
    ax = plot_attention(WEIGHTS, SOURCE, TARGET, vmax=0.5)
    assert ax.images[0].colorbar.extend == "max"  # an arrow: there are larger weights


def test_a_map_of_512_tokens_has_few_artists():
    tokens = [f"t{i}" for i in range(512)]
    causal = np.tril(np.ones((512, 512), bool))
    ax = plot_attention(causal / causal.sum(1, keepdims=True), tokens, tokens, mask=causal)
    assert len(ax.patches) == 1
    assert len(ax.findobj()) < 700


def test_the_map_grows_with_the_tokens_up_to_a_page(softmax):
    def map_size(rows, columns):
        tokens = [["x"] * n for n in (columns, rows)]
        ax = plot_attention(softmax(rows, columns), *tokens)
        ax.figure.canvas.draw()
        box = ax.get_window_extent()
        return box.width / ax.figure.dpi, box.height / ax.figure.dpi

    width, height = map_size(6, 12)
    assert width == pytest.approx(2 * height, rel=0.02)  # square cells
    assert map_size(6, 18)[0] == pytest.approx(1.5 * width, rel=0.05)
    assert max(map_size(70, 200)) <= 9.3


@pytest.mark.parametrize("words", [["a", "bc"], ["syllable", "words"], list("我爱猫")])
def test_column_labels_turn_only_where_they_are_wider_than_their_cells(words, softmax):
    ax = plot_attention(softmax(3, 3), (words * 3)[:3], ["x", "y", "z"])
    turned = {label.get_rotation() for label in ax.get_xticklabels()}
    assert turned == ({45} if "words" in words else {0})
    narrow = plot_attention(softmax(3, 60), (words * 60)[:60], ["x", "y", "z"])
    assert {label.get_rotation() for label in narrow.get_xticklabels()} == (
        {0} if words[0] in ("a", "我") else {45}
    )


def test_long_titles_break_into_lines_within_the_figure(overlaps):
    title = "on Monday the old teacher reads a long book to the children: 老师星期一给孩子们读一本很长的书"
    ax = plot_attention(WEIGHTS, SOURCE, TARGET, title)
    assert ax.get_title().count("\n") > 1
    assert ax.get_title().replace("\n", "").replace(" ", "") == title.replace(" ", "")
    assert not overlaps(ax.figure)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (1, 30), (30, 1), (4, 40), (25, 25), (3, 300), (200, 2)])
@pytest.mark.parametrize("word", ["a", "consequently", "我们"])
def test_no_text_covers_another_whatever_the_shape(shape, word, softmax, overlaps):
    rows, columns = shape
    ax = plot_attention(softmax(rows, columns), [word] * columns, [word] * rows, "heads and tails")
    assert not overlaps(ax.figure)
