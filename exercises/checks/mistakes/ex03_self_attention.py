"""Known mistakes in ex03."""

from keras_attention.course.bank import Mistake

HIDE = "ops.where(mask[:, None, :], scores, -1e9)"
SCALE = "math.sqrt(key.shape[-1])"
CALL = "self_attention(inputs, self.w_query, self.w_key, self.w_value, mask)"

MISTAKES = [
    Mistake(
        "shared-projection",
        fails="test_values",
        edits={"key = ops.matmul(x, w_key)": "key = ops.matmul(x, w_query)"},
        en="The keys are projected by w_query, like the queries: use w_key.",
        zh="键用了 w_query 投影，与查询相同：应使用 w_key。",
    ),
    Mistake(
        "queries-and-keys-swapped",
        fails="test_values",
        edits={
            "query = ops.matmul(x, w_query)": "query = ops.matmul(x, w_key)",
            "key = ops.matmul(x, w_key)": "key = ops.matmul(x, w_query)",
        },
        en="Queries and keys are swapped: the weights are those of the transposed scores.",
        zh="查询和键互换了：权重来自转置的分数。",
    ),
    Mistake(
        "no-scale",
        fails="test_values",
        edits={f" / {SCALE}": ""},
        en="This equals self-attention without the 1/√d_k: divide the scores by the root of the key's width.",
        zh="结果等于没有除以 √d_k 的自注意力：分数要除以键宽度的平方根。",
    ),
    Mistake(
        "scale-by-model-width",
        fails="test_values",
        edits={SCALE: "math.sqrt(x.shape[-1])"},
        en="The scores are divided by the root of X's width: d_k is the width of the keys.",
        zh="分数除以了 X 宽度的平方根：d_k 是键的宽度。",
    ),
    Mistake(
        "softmax-over-queries",
        fails="test_values",
        edits={"axis=-1": "axis=1"},
        en="Your softmax runs over the queries: each column sums to 1, but each row should (axis=-1).",
        zh="softmax 沿查询轴做了：每列之和为 1，而应是每行之和为 1（axis=-1）。",
    ),
    Mistake(
        "softmax-over-batch",
        fails="test_values",
        edits={"axis=-1": "axis=0"},
        en="Your softmax runs over the batch: it should run over the last axis, the keys.",
        zh="softmax 沿批次轴做了：应沿最后一个轴（键）。",
    ),
    Mistake(
        "values-not-projected",
        fails="test_values",
        edits={"value = ops.matmul(x, w_value)": "value = x"},
        en="The values are X itself: project it by w_value.",
        zh="值就是 X 本身：应该用 w_value 投影。",
    ),
    Mistake(
        "weights-transposed",
        fails="test_values",
        edits={
            "ops.matmul(weights, value), weights": "ops.matmul(ops.swapaxes(weights, 1, 2), value), weights"
        },
        en="The output is summed along the queries: the weights must not be transposed.",
        zh="输出沿查询求和了：权重不应转置。",
    ),
    Mistake(
        "mask-ignored",
        fails="test_mask",
        edits={HIDE: "scores"},
        en="The mask is ignored: words attend to padding.",
        zh="没有使用掩码：词看到了填充。",
    ),
    Mistake(
        "mask-inverted",
        fails="test_mask",
        edits={HIDE: "ops.where(mask[:, None, :], -1e9, scores)"},
        en="The mask is inverted: True means a real word, which may be attended to.",
        zh="掩码反了：True 表示真实的词，可以看。",
    ),
    Mistake(
        "mask-along-queries",
        fails="test_mask",
        edits={HIDE: "ops.where(mask[:, :, None], scores, -1e9)"},
        en="The mask hides queries: it should hide keys, mask[:, None, :].",
        zh="掩码遮住了查询：应遮住键，即 mask[:, None, :]。",
    ),
    Mistake(
        "scores-times-mask",
        fails="test_mask",
        edits={HIDE: "scores * ops.cast(mask[:, None, :], scores.dtype)"},
        en="Scores of padding are set to 0, but exp(0) = 1: use a very negative number.",
        zh="填充的分数设成了 0，但 exp(0) = 1：应设成绝对值很大的负数。",
    ),
    Mistake(
        "mask-after-softmax",
        fails="test_mask",
        edits={
            HIDE: "scores",
            "    weights = ops.softmax(scores, axis=-1)\n": "    weights = ops.softmax(scores, axis=-1)\n"
            "    if mask is not None:\n"
            "        weights = weights * ops.cast(mask[:, None, :], weights.dtype)\n",
        },
        en="The mask is applied after the softmax: the rows no longer sum to 1.",
        zh="掩码用在了 softmax 之后：每行之和不再是 1。",
    ),
    Mistake(
        "padding-zeroed-first",
        fails="test_mask",
        edits={
            HIDE: "scores",
            "    query = ops.matmul(x, w_query)": "    if mask is not None:\n"
            "        x = x * ops.cast(mask[:, :, None], x.dtype)\n"
            "    query = ops.matmul(x, w_query)",
        },
        en="Padded words are set to 0, but a score of 0 still gets a weight: hide their scores.",
        zh="填充词设成了 0，但分数 0 仍有权重：应遮住它们的分数。",
    ),
    Mistake(
        "mask-added-weakly",
        fails="test_padding_does_not_matter",
        edits={HIDE: "scores - 60.0 * ops.cast(ops.logical_not(mask[:, None, :]), scores.dtype)"},
        en="A number is subtracted from the scores of padding, so a large score still counts: replace it.",
        zh="填充的分数只是减去一个数，分数很大时仍会起作用：应替换它。",
    ),
    Mistake(
        "layer-ignores-mask",
        fails="test_layer",
        edits={CALL: CALL.replace(", mask)", ")")},
        en="The layer does not pass the mask on to the function.",
        zh="层没有把掩码传给函数。",
    ),
    Mistake(
        "layer-shares-matrix",
        fails="test_layer",
        edits={CALL: CALL.replace("self.w_key", "self.w_query")},
        en="The layer uses w_query for the keys, too.",
        zh="层对键也用了 w_query。",
    ),
]
