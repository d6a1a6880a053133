"""Known mistakes in ex10."""

from keras_attention.course.bank import Mistake

LAST = "ops.take_along_axis(states, length - 1, axis=1)[:, 0]"
MEAN = "ops.sum(states * real, axis=1) / ops.sum(real, axis=1)"
HIDDEN = "ops.tanh(ops.matmul(states, w) + b)"
SCORES = "scores = ops.matmul(hidden, v)"
HIDE = "ops.where(mask, scores, -1e9)"
SOFTMAX = "ops.softmax(scores)"
EMPTY = "ops.where(mask, weights, 0.0)"
OUTPUT = "ops.sum(weights[:, :, None] * states, axis=1), weights"
CALL = "attention_pooling(inputs, self.w, self.b, self.v, mask)"

MISTAKES = [
    Mistake(
        "last-column",
        fails="test_last_state",
        edits={LAST: "states[:, -1]"},
        en="You take the last column, which is padding in shorter texts: find the last real word.",
        zh="取了最后一列，较短的文本那里是填充：应找到最后一个真实的词。",
    ),
    Mistake(
        "last-column-zeroed",
        fails="test_last_state",
        edits={LAST: "ops.where(mask[:, :, None], states, 0.0)[:, -1]"},
        en="Padding is set to 0, but the last column is still padding: find the last real word.",
        zh="填充设成了 0，但最后一列仍是填充：应找到最后一个真实的词。",
    ),
    Mistake(
        "one-too-far",
        fails="test_last_state",
        edits={LAST: LAST.replace("length - 1", "length")},
        en="You take the padding after the text: counting starts at 0, so the last word is at length − 1.",
        zh="取了文本之后的第一个填充：从 0 开始数，最后一个词在 length − 1。",
    ),
    Mistake(
        "one-too-early",
        fails="test_last_state",
        edits={LAST: LAST.replace("length - 1", "length - 2")},
        en="You take the last word but one: it stands at length − 1.",
        zh="取了倒数第二个词：最后一个词在 length − 1。",
    ),
    Mistake(
        "first-word",
        fails="test_last_state",
        edits={LAST: "states[:, 0]"},
        en="You take the state of the first word.",
        zh="取了第一个词的状态。",
    ),
    Mistake(
        "length-of-the-longest",
        fails="test_last_state",
        edits={LAST: "states[:, int(ops.max(length)) - 1]"},
        en="All texts are read where the longest ends: each has its own length.",
        zh="所有文本都在最长文本的末尾取值：每个文本有自己的长度。",
    ),
    Mistake(
        "sum-of-words",
        fails="test_mean_state",
        edits={MEAN: "ops.sum(states * real, axis=1)"},
        en="This is the sum of the words: divide it by their number.",
        zh="这是各词之和：应再除以词数。",
    ),
    Mistake(
        "mean-with-padding",
        fails="test_mean_state",
        edits={MEAN: "ops.mean(states, axis=1)"},
        en="The mean counts padding: use the mask.",
        zh="平均把填充也算进去了：应使用掩码。",
    ),
    Mistake(
        "divided-by-columns",
        fails="test_mean_state",
        edits={MEAN: "ops.mean(states * real, axis=1)"},
        en="The sum leaves padding out, but is divided by T: divide it by the number of real words.",
        zh="总和去掉了填充，却除以了 T：应除以真实的词的个数。",
    ),
    Mistake(
        "divided-by-all-texts",
        fails="test_mean_state",
        edits={MEAN: "ops.sum(states * real, axis=1) / ops.sum(real)"},
        en="The sum is divided by the real words of all texts together: each text has its own number.",
        zh="总和除以了所有文本的总词数：每个文本有自己的词数。",
    ),
    Mistake(
        "mean-of-padding",
        fails="test_mean_state",
        edits={'ops.cast(mask, "float32")': '1.0 - ops.cast(mask, "float32")'},
        en="The mask is inverted: this is the mean of the padding.",
        zh="掩码反了：这是填充的平均。",
    ),
    Mistake(
        "no-tanh",
        fails="test_attention_pooling",
        edits={HIDDEN: "ops.matmul(states, w) + b"},
        en="The tanh is missing: without it W and v are one linear map.",
        zh="缺少 tanh：没有它，W 和 v 只相当于一个线性映射。",
    ),
    Mistake(
        "tanh-of-scores",
        fails="test_attention_pooling",
        edits={HIDDEN: "ops.matmul(states, w) + b", SCORES: "scores = ops.tanh(ops.matmul(hidden, v))"},
        en="The tanh is applied to the scores: apply it before the product with v.",
        zh="tanh 用在了分数上：应在与 v 相乘之前使用。",
    ),
    Mistake(
        "no-bias",
        fails="test_attention_pooling",
        edits={HIDDEN: "ops.tanh(ops.matmul(states, w))"},
        en="The bias b has no effect, as if added after the tanh, where softmax cancels it: add it before.",
        zh="偏置 b 不起作用：没有加，或加在 tanh 之后而被 softmax 抵消。应在 tanh 之前加。",
    ),
    Mistake(
        "no-vector",
        fails="test_attention_pooling",
        edits={SCORES: "scores = ops.sum(hidden, axis=2)"},
        en="The vector v is not used: the score is the product of v with the hidden layer, not its sum.",
        zh="没有用到向量 v：分数是 v 与隐藏层的点积，而不是隐藏层之和。",
    ),
    Mistake(
        "softmax-of-one",
        fails="test_attention_pooling",
        edits={SOFTMAX: "ops.softmax(scores[:, :, None])[:, :, 0]"},
        en="All weights are 1: your softmax runs over an axis of size 1, it should run over the words.",
        zh="所有权重都是 1：softmax 沿大小为 1 的轴做了，应沿词的轴。",
    ),
    Mistake(
        "softmax-over-batch",
        fails="test_attention_pooling",
        edits={SOFTMAX: "ops.softmax(scores, axis=0)"},
        en="Your softmax runs over the batch: it should run over the words of one text.",
        zh="softmax 沿批次轴做了：应沿同一文本的词。",
    ),
    Mistake(
        "sigmoid",
        fails="test_attention_pooling",
        edits={SOFTMAX: "ops.sigmoid(scores)"},
        en="The weights are sigmoids, each for itself: softmax lets the words compete for 1.",
        zh="权重是各自独立的 sigmoid：应使用 softmax，让各词的权重之和为 1。",
    ),
    Mistake(
        "scores-as-weights",
        fails="test_attention_pooling",
        edits={SOFTMAX: "scores"},
        en="The scores are used as weights: the softmax is missing.",
        zh="直接把分数当作权重：缺少 softmax。",
    ),
    Mistake(
        "mean-of-weighted",
        fails="test_attention_pooling",
        edits={OUTPUT: "ops.mean(weights[:, :, None] * states, axis=1), weights"},
        en="The weighted states are averaged: the weights sum to 1 already, so add the states up.",
        zh="对加权后的状态又取了平均：权重之和已是 1，相加即可。",
    ),
    Mistake(
        "plain-mean",
        fails="test_attention_pooling",
        edits={OUTPUT: "ops.mean(states, axis=1), weights"},
        en="The output is the plain mean of the states: the weights are not used.",
        zh="输出是状态的简单平均：没有用到权重。",
    ),
    Mistake(
        "states-not-summed",
        fails="test_attention_pooling",
        edits={OUTPUT: "weights[:, :, None] * states, weights"},
        en="The weighted states are not added up: the output is one vector a text, (B, D).",
        zh="加权后的状态没有相加：每个文本只输出一个向量 (B, D)。",
    ),
    Mistake(
        "hidden-summed",
        fails="test_attention_pooling",
        edits={OUTPUT: "ops.sum(weights[:, :, None] * hidden, axis=1), weights"},
        en="The output sums the hidden layer of the scores: it should sum the states.",
        zh="输出对分数的隐藏层求和了：应该对状态求和。",
    ),
    Mistake(
        "mask-ignored",
        fails="test_padding",
        edits={HIDE: "scores", EMPTY: "weights"},
        en="The mask is ignored: padding has weight.",
        zh="没有使用掩码：填充有权重。",
    ),
    Mistake(
        "mask-inverted",
        fails="test_padding",
        edits={HIDE: "ops.where(mask, -1e9, scores)", EMPTY: "ops.where(mask, 0.0, weights)"},
        en="The mask is inverted: True means a real word.",
        zh="掩码反了：True 表示真实的词。",
    ),
    Mistake(
        "mask-after-softmax",
        fails="test_padding",
        edits={HIDE: "scores"},
        en="The mask is applied after the softmax only: the weights no longer sum to 1.",
        zh="只在 softmax 之后用了掩码：权重之和不再是 1。",
    ),
    Mistake(
        "scores-times-mask",
        fails="test_padding",
        edits={HIDE: "scores * ops.cast(mask, scores.dtype)", EMPTY: "weights"},
        en="The scores of padding are set to 0, but exp(0) = 1: use a very negative number.",
        zh="填充的分数设成了 0，但 exp(0) = 1：应设成绝对值很大的负数。",
    ),
    Mistake(
        "padding-zeroed-first",
        fails="test_padding",
        edits={
            HIDE: "scores",
            EMPTY: "weights",
            f"hidden = {HIDDEN}": "if mask is not None:\n"
            "        states = ops.where(mask[:, :, None], states, 0.0)\n"
            f"    hidden = {HIDDEN}",
        },
        en="The states of padding are set to 0, but they still have a score, so a weight: hide their scores.",
        zh="填充的状态设成了 0，但仍有分数和权重：应遮住它们的分数。",
    ),
    Mistake(
        "infinity-times-zero",
        fails="test_padding",
        edits={HIDE: 'scores + (1.0 - ops.cast(mask, "float32")) * -float("inf")', EMPTY: "weights"},
        en="The scores are NaN, since 0 · (−∞) is NaN: choose by `where`, do not multiply.",
        zh="分数成了 NaN，因为 0 · (−∞) 是 NaN：应该用 where 选择，而不是相乘。",
    ),
    Mistake(
        "empty-text-uniform",
        fails="test_empty_text",
        edits={EMPTY: "weights"},
        en="A text without words gets the mean of its padding, since equal scores give equal weights.",
        zh="没有词的文本得到了填充的平均，因为分数相同则权重相同：应为 0。",
    ),
    Mistake(
        "empty-text-nan",
        fails="test_empty_text",
        edits={HIDE: 'ops.where(mask, scores, -float("inf"))', EMPTY: "weights"},
        en="A text without words gets NaN, since −∞ − (−∞) is NaN: it should get zeros.",
        zh="没有词的文本得到 NaN（−∞ − (−∞) 是 NaN）：应为 0。",
    ),
    Mistake(
        "layer-ignores-mask",
        fails="test_layer",
        edits={CALL: CALL.replace(", mask)", ")")},
        en="The layer does not pass the mask on to the function.",
        zh="层没有把掩码传给函数。",
    ),
    Mistake(
        "layer-without-bias",
        fails="test_layer",
        edits={CALL: CALL.replace("self.b", "0.0")},
        en="The layer does not use its bias b.",
        zh="层没有使用偏置 b。",
    ),
    Mistake(
        "layer-swaps-vectors",
        fails="test_layer",
        edits={CALL: CALL.replace("self.b, self.v", "self.v, self.b")},
        en="The layer swaps b and v, which have the same shape.",
        zh="层把 b 和 v 弄反了，它们形状相同。",
    ),
    Mistake(
        "layer-returns-output-only",
        fails="test_layer",
        edits={CALL: f"{CALL}[0]"},
        en="The layer returns its output alone: return (output, weights).",
        zh="层只返回了输出：应返回 (output, weights)。",
    ),
]
