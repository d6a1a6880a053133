"""Checks of ex06. They look at what the Axes show, however it was drawn: see `Drawing`."""

import numpy as np
import pytest

from keras_attention.course.checks import drawing, equal, floats, require, softmax

H, TQ, TK = 3, 4, 6
SOURCE = ["the", "cat", "saw", "the", "bird", "."]  # one of them twice
TARGET = ["le", "chat", "vit", "l'", "oiseau"]


@pytest.fixture
def weights(rng):
    return softmax(2 * floats(rng, H, TQ, TK)).astype("float32")


@pytest.fixture
def tokens(rng):
    """Source and target, in random order."""
    return rng.permutation(SOURCE).tolist(), rng.permutation(TARGET)[:TQ].tolist()


@pytest.mark.check(
    points=2,
    hints=[
        (
            "weights[i, j] belongs to row i from the top and column j from the left.",
            "weights[i, j] 画在从上数第 i 行、从左数第 j 列。",
        ),
        (
            "imshow draws the first row at the top, unless told otherwise; pcolormesh at the bottom.",
            "imshow 默认把第一行画在最上面；pcolormesh 则画在最下面。",
        ),
        (
            "ax.imshow(weights, …), as they are: no transpose, no other order, no scaling.",
            "ax.imshow(weights, …)，直接画：不转置，不改顺序，不缩放。",
        ),
    ],
)
def test_image(student, weights, tokens):
    """Each cell shows the weight of its target token (row) and its source token (column).

    每一格是该行目标词对该列源词的权重。
    """
    shown = drawing(student.call("plot_attention", weights[0], *tokens))
    equal(shown.cells, weights[0], "image")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Every token stands at the middle of its own column or row, also one that occurs twice.",
            "每个词都对准自己那一列或那一行的中间，出现两次的词也一样。",
        ),
        (
            "Set the positions together with the labels: without positions, matplotlib places the ticks.",
            "位置和标签要一起设置：不给位置的话，刻度放在哪里由 matplotlib 决定。",
        ),
        (
            "ax.set_xticks(range(len(source_tokens)), labels=source_tokens), and the same for y.",
            "ax.set_xticks(range(len(source_tokens)), labels=source_tokens)，y 轴同理。",
        ),
    ],
)
def test_labels(student, weights, tokens):
    """Source tokens stand below their columns, target tokens beside their rows.

    源词在各列下面，目标词在各行旁边。
    """
    source, target = tokens
    for columns in (TK, 3):  # matplotlib's own ticks stand elsewhere for each
        shown = drawing(student.call("plot_attention", weights[0, :, :columns], source[:columns], target))
        equal(shown.columns, source[:columns], "xticklabels")
        equal(shown.rows, target, "yticklabels")


@pytest.mark.check(
    points=1,
    hints=[
        ("An axis says what stands along it.", "坐标轴要写明它表示什么。"),
        (
            "The columns are the source, and they stand along the x-axis.",
            "列是源词，沿 x 轴排列。",
        ),
        (
            'ax.set(xlabel="Source Tokens", ylabel="Target Tokens", title=title)',
            'ax.set(xlabel="Source Tokens", ylabel="Target Tokens", title=title)',
        ),
    ],
)
def test_words(student, rng, weights, tokens):
    """The axes and the figure have their names.

    坐标轴和图都有名字。
    """
    title = f"sentence {rng.integers(100)}"
    shown = drawing(student.call("plot_attention", weights[0], *tokens, title))
    equal(shown.xlabel, "Source Tokens", "xlabel")
    equal(shown.ylabel, "Target Tokens", "ylabel")
    equal(shown.title, title, "title")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "By default the darkest colour is the largest weight of this figure, whatever that is.",
            "默认情况下，最深的颜色是这张图里最大的权重，不管它是多少。",
        ),
        (
            "imshow takes the colour map, and the numbers of its first and last colour.",
            "imshow 可以指定颜色表，以及最浅和最深的颜色各表示哪个数。",
        ),
        (
            'image = ax.imshow(…, cmap="Blues", vmin=0, vmax=vmax); ax.figure.colorbar(image)',
            'image = ax.imshow(…, cmap="Blues", vmin=0, vmax=vmax); ax.figure.colorbar(image)',
        ),
    ],
)
def test_colours(student, weights, tokens):
    """The colours are blue, linear from 0 to vmax, which is 1 unless given; a colour bar says so.

    颜色是蓝色，从 0 到 vmax（默认 1）线性变化，并有颜色条。
    """
    for vmax, given in ((1.0, {}), (0.5, {"vmax": 0.5})):
        shown = drawing(student.call("plot_attention", weights[0], *tokens, **given))
        equal(shown.cmap, "Blues", "cmap")
        equal(shown.limits, np.array([0, vmax]), "(vmin, vmax)")
        equal(shown.norm, "Normalize", "norm")
        require(
            shown.colorbar,
            "There is no colour bar of these colours and limits.",
            "没有相应颜色和范围的颜色条。",
        )


@pytest.mark.check(
    points=1,
    hints=[
        (
            "A hidden cell is no weight of 0: it has no number, and a colour that no weight has.",
            "被遮住的格子不是权重 0：它没有数，颜色也与任何权重都不同。",
        ),
        (
            "Where a number is NaN, matplotlib draws nothing, and the background of the Axes is seen.",
            "数是 NaN 的地方，matplotlib 什么也不画，露出 Axes 的背景。",
        ),
        (
            'weights = np.where(mask, weights, np.nan), and ax.set_facecolor("lightgrey").',
            'weights = np.where(mask, weights, np.nan)，以及 ax.set_facecolor("lightgrey")。',
        ),
    ],
)
def test_mask(student, rng, weights, tokens):
    """Where the mask is False the cell is grey, with no number.

    掩码为 False 的格子没有数，是灰色。
    """
    mask = rng.permuted(np.arange(TQ * TK).reshape(TQ, TK) % TK < 4, axis=1)  # four of six in each row
    shown = drawing(student.call("plot_attention", weights[0], *tokens, mask=mask))
    blank = np.isnan(shown.cells)
    equal(blank, ~mask, "blank cells")
    equal(np.where(blank, 0, shown.cells), np.where(mask, weights[0], 0), "image")
    require(shown.blank > 0.05, "Blank cells have the colour of a weight.", "空白的格子与某个权重颜色相同。")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "As many Axes in a row as there are heads; each is a figure as before, with its own title.",
            "有几个头就并排几个 Axes；每个都像之前那样画，各有标题。",
        ),
        (
            "plt.subplots(ncols=len(weights)) makes them; hand each to plot_attention as ax.",
            "用 plt.subplots(ncols=len(weights)) 创建，再逐个作为 ax 传给 plot_attention。",
        ),
        (
            "vmax=weights.max() for all of them, not the largest of each head.",
            "所有头都用 vmax=weights.max()，而不是各自的最大值。",
        ),
    ],
)
def test_heads(student, weights, tokens):
    """Each head has its own heat map and title; all are in one figure and have one scale.

    每个头有自己的热力图和标题；都在一张图里，共用一个色标。
    """
    titles = [f"head {i + 1}" for i in range(H)]
    shown = [drawing(head) for head in student.call("plot_heads", weights, *tokens, returns=titles)]
    equal([head.title for head in shown], titles, "titles")
    for head, expected in zip(shown, weights, strict=True):
        equal(head.panels, titles, "titles of one figure")
        equal(head.cells, expected, "image")
        equal(head.limits, np.array([0, weights.max()]), "(vmin, vmax)")
        equal(head.cmap, "Blues", "cmap")
        # heads that share an axis show its labels once
        equal(head.columns if any(head.columns) else tokens[0], tokens[0], "xticklabels")
        equal(head.rows if any(head.rows) else tokens[1], tokens[1], "yticklabels")
    labelled = any(any(head.columns) for head in shown) and any(any(head.rows) for head in shown)
    require(labelled, "No head has tick labels on both axes.", "没有一个头的两个轴都有刻度标签。")
    require(any(head.colorbar for head in shown), "There is no colour bar.", "没有颜色条。")
