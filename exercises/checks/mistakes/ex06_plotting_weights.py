"""Known mistakes in ex06."""

from keras_attention.course.bank import Mistake

IMSHOW = 'ax.imshow(weights, cmap="Blues", vmin=0, vmax=vmax)'
XTICKS = 'ax.set_xticks(range(len(source_tokens)), labels=source_tokens, rotation="vertical")'
YTICKS = "ax.set_yticks(range(len(target_tokens)), labels=target_tokens)"
WORDS = 'ax.set(xlabel="Source Tokens", ylabel="Target Tokens", title=title)'
BAR = "ax.figure.colorbar(image)"
MASKED = "np.where(mask, weights, np.nan)"
HEAD = 'plot_attention(head, source_tokens, target_tokens, f"head {i + 1}", vmax=vmax, ax=axes[i])'


def image(new):
    return {IMSHOW: IMSHOW.replace("weights", new)}


MISTAKES = [
    Mistake(
        "transposed",
        fails="test_image",
        edits=image("np.transpose(weights)"),
        en="Your image is transposed: rows are target tokens, columns are source tokens.",
        zh="图像转置了：行是目标词，列是源词。",
    ),
    Mistake(
        "upside-down",
        fails="test_image",
        edits={IMSHOW: IMSHOW.replace(", vmin", ', origin="lower", vmin')},
        en="Your image is upside down: the first target token belongs at the top.",
        zh="图像上下颠倒了：第一个目标词应在最上面。",
    ),
    Mistake(
        "rows-reversed",
        fails="test_image",
        edits=image("weights[::-1]"),
        en="Your rows are in the opposite order, while their labels are not: draw the weights as they are.",
        zh="各行的顺序反了，而标签没有反：请直接画权重。",
    ),
    Mistake(
        "rows-scaled",
        fails="test_image",
        edits=image("weights / np.max(weights, axis=-1, keepdims=True)"),
        en="Each row is divided by its largest weight: draw the weights as they are.",
        zh="每一行都除以了该行最大的权重：请直接画权重。",
    ),
    Mistake(
        "image-scaled",
        fails="test_image",
        edits=image("weights / np.max(weights)"),
        en="The weights are divided by the largest of them: draw them as they are.",
        zh="权重除以了其中的最大值：请直接画权重。",
    ),
    Mistake(
        "softmax-again",
        fails="test_image",
        edits=image("np.exp(weights) / np.sum(np.exp(weights), axis=-1, keepdims=True)"),
        en="A softmax is taken of the weights, which have been through it already.",
        zh="又对权重做了一次 softmax，而权重已经做过 softmax 了。",
    ),
    Mistake(
        "no-labels",
        fails="test_labels",
        edits={XTICKS: "pass", YTICKS: "pass"},
        en="The ticks are numbers: label them with the tokens.",
        zh="刻度是数字：应标上词。",
    ),
    Mistake(
        "labels-without-positions",
        fails="test_labels",
        edits={
            XTICKS: "ax.set_xticklabels(source_tokens)",
            YTICKS: "ax.set_yticklabels(target_tokens)",
        },
        en="Labels are set without positions, so they stand where matplotlib's ticks happen to be.",
        zh="只设了标签，没有设位置，标签落在了 matplotlib 自己的刻度上。",
    ),
    Mistake(
        "labels-after-an-empty-one",
        fails="test_labels",
        edits={
            XTICKS: 'ax.set_xticklabels(["", *source_tokens])',
            YTICKS: 'ax.set_yticklabels(["", *target_tokens])',
        },
        en="An empty first label is to shift the others into place, but matplotlib's ticks are elsewhere.",
        zh="想用一个空标签把其他标签推到位，但 matplotlib 的刻度不在那里：应同时设置位置。",
    ),
    Mistake(
        "labels-one-late",
        fails="test_labels",
        edits={
            XTICKS: XTICKS.replace("range(len(source_tokens))", "range(1, len(source_tokens) + 1)"),
            YTICKS: YTICKS.replace("range(len(target_tokens))", "range(1, len(target_tokens) + 1)"),
        },
        en="Your labels are off by one: the first token stands at position 0.",
        zh="标签差了一位：第一个词在位置 0。",
    ),
    Mistake(
        "labels-at-the-edges",
        fails="test_labels",
        edits={
            XTICKS: XTICKS.replace("range(len(source_tokens))", "np.arange(len(source_tokens)) - 0.5"),
            YTICKS: YTICKS.replace("range(len(target_tokens))", "np.arange(len(target_tokens)) - 0.5"),
        },
        en="Your labels stand between the cells: the middle of column j is j, not j − 0.5.",
        zh="标签落在格子之间：第 j 列的中间是 j，而不是 j − 0.5。",
    ),
    Mistake(
        "labels-swapped",
        fails="test_labels",
        edits={
            XTICKS: XTICKS.replace("source_tokens", "target_tokens"),
            YTICKS: YTICKS.replace("target_tokens", "source_tokens"),
        },
        en="The labels are swapped: source tokens belong below the columns, target tokens beside the rows.",
        zh="标签放反了：源词在列下面，目标词在行旁边。",
    ),
    Mistake(
        "every-second-label",
        fails="test_labels",
        edits={
            XTICKS: "ax.set_xticks(range(0, len(source_tokens), 2), labels=source_tokens[::2])",
            YTICKS: "ax.set_yticks(range(0, len(target_tokens), 2), labels=target_tokens[::2])",
        },
        en="Only every second token has a label: label them all.",
        zh="只有一半的词有标签：每个词都要标上。",
    ),
    Mistake(
        "axes-names-swapped",
        fails="test_words",
        edits={WORDS: 'ax.set(xlabel="Target Tokens", ylabel="Source Tokens", title=title)'},
        en="The names of the axes are swapped: the source tokens stand along x.",
        zh="坐标轴的名字写反了：x 轴是源词。",
    ),
    Mistake(
        "no-names",
        fails="test_words",
        edits={WORDS: "ax.set(title=title)"},
        en="The axes have no names.",
        zh="坐标轴没有名字。",
    ),
    Mistake(
        "no-title",
        fails="test_words",
        edits={WORDS: WORDS.replace(", title=title", "")},
        en="The title is missing.",
        zh="缺少标题。",
    ),
    Mistake(
        "scale-of-its-own",
        fails="test_colours",
        edits={IMSHOW: 'ax.imshow(weights, cmap="Blues")'},
        en="The colours span the weights of this figure, so that figures do not compare: give both limits.",
        zh="颜色范围取决于这一张图的权重，图与图之间不能比较：请给出上下限。",
    ),
    Mistake(
        "lowest-weight-is-white",
        fails="test_colours",
        edits={IMSHOW: 'ax.imshow(weights, cmap="Blues", vmax=vmax)'},
        en="The lightest colour is the lowest weight of this figure: it should be 0.",
        zh="最浅的颜色是这张图里最小的权重：应为 0。",
    ),
    Mistake(
        "vmax-ignored",
        fails="test_colours",
        edits={IMSHOW: IMSHOW.replace("vmax=vmax", "vmax=1")},
        en="vmax is ignored: the darkest colour is always 1.",
        zh="没有使用 vmax：最深的颜色总是 1。",
    ),
    Mistake(
        "default-colours",
        fails="test_colours",
        edits={IMSHOW: IMSHOW.replace('cmap="Blues", ', "")},
        en='The colours are matplotlib\'s default: use "Blues".',
        zh='颜色是 matplotlib 的默认颜色：应使用 "Blues"。',
    ),
    Mistake(
        "colours-reversed",
        fails="test_colours",
        edits={IMSHOW: IMSHOW.replace("Blues", "Blues_r")},
        en="Your colours are reversed: the larger the weight, the darker.",
        zh="颜色反了：权重越大，颜色应越深。",
    ),
    Mistake(
        "no-colour-bar",
        fails="test_colours",
        edits={BAR: "pass"},
        en="There is no colour bar, so nobody knows what the colours mean.",
        zh="没有颜色条，看不出颜色表示多少。",
    ),
    Mistake(
        "mask-ignored",
        fails="test_mask",
        edits={MASKED: "weights"},
        en="The mask is ignored.",
        zh="没有使用掩码。",
    ),
    Mistake(
        "mask-inverted",
        fails="test_mask",
        edits={MASKED: "np.where(mask, np.nan, weights)"},
        en="The mask is inverted: cells are hidden where it is False.",
        zh="掩码反了：False 处才遮住。",
    ),
    Mistake(
        "masked-as-zero",
        fails="test_mask",
        edits={MASKED: "np.where(mask, weights, 0)"},
        en="Hidden cells are drawn as a weight of 0: give them no number, by NaN.",
        zh="被遮住的格子画成了权重 0：应设成 NaN，没有数。",
    ),
    Mistake(
        "blank-on-white",
        fails="test_mask",
        edits={'        ax.set_facecolor("lightgrey")\n': ""},
        en="Hidden cells are white, hardly to be told from a weight of 0: make the background grey.",
        zh="被遮住的格子是白色，与权重 0 几乎分不清：应把背景设成灰色。",
    ),
    Mistake(
        "each-head-its-scale",
        fails="test_heads",
        edits={HEAD: HEAD.replace("vmax=vmax", "vmax=head.max()")},
        en="Each head has a scale of its own, so the same blue means different weights: take one for all.",
        zh="每个头各用各的色标，同样的蓝色表示不同的权重：应共用一个。",
    ),
    Mistake(
        "heads-up-to-one",
        fails="test_heads",
        edits={HEAD: HEAD.replace("vmax=vmax, ", "")},
        en="The darkest colour is 1: it should be the largest weight of all heads.",
        zh="最深的颜色是 1：应为所有头中最大的权重。",
    ),
    Mistake(
        "heads-from-zero",
        fails="test_heads",
        edits={HEAD: HEAD.replace("{i + 1}", "{i}")},
        en="Your heads are counted from 0: the first is head 1.",
        zh="头从 0 开始编号了：第一个是 head 1。",
    ),
    Mistake(
        "first-head-only",
        fails="test_heads",
        edits={HEAD: HEAD.replace("(head,", "(weights[0],")},
        en="Every heat map shows the first head.",
        zh="每张热力图都是第一个头。",
    ),
    Mistake(
        "mean-of-heads",
        fails="test_heads",
        edits={HEAD: HEAD.replace("(head,", "(weights.mean(axis=0),")},
        en="Every heat map shows the mean of the heads.",
        zh="每张热力图都是各个头的平均。",
    ),
    Mistake(
        "figures-apart",
        fails="test_heads",
        edits={HEAD: HEAD.replace(", ax=axes[i]", "")},
        en="Each head has a figure of its own: draw them side by side in one.",
        zh="每个头单独一张图：应并排画在一张图里。",
    ),
    Mistake(
        "all-on-one",
        fails="test_heads",
        edits={HEAD: HEAD.replace("axes[i]", "axes[0]")},
        en="All heads are drawn on the same Axes, one over the other: each needs its own.",
        zh="所有头都画在同一个 Axes 上，互相覆盖：每个头要有自己的 Axes。",
    ),
]
