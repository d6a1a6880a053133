"""Known mistakes in ex05."""

from keras_attention.course.bank import Mistake

SCALE = " / math.sqrt(keys.shape[-1])"
SOFTMAX = "ops.softmax(scores)"
HIDE = "ops.where(mask, scores, -1e9)"
OUTPUT = "ops.matmul(weights, values), weights"
PAST = "position[:, None] >= position[None, :]"
VISIBLE = "ops.logical_and(past, target_mask[:, None, :])"
SELF = "cross_attention(target, target, *self_matrices, mask=visible)"
CROSS = "cross_attention(state, source, *cross_matrices, mask=source_mask[:, None, :])"
CALL = "cross_attention(query, context, self.w_query, self.w_key, self.w_value, mask)"

MISTAKES = [
    Mistake(
        "no-scale",
        fails="test_values",
        edits={SCALE: ""},
        en="This equals cross-attention without the 1/√d_k: divide the scores by the root of a key's width.",
        zh="结果等于没有除以 √d_k 的交叉注意力：分数要除以键宽度的平方根。",
    ),
    Mistake(
        "scale-by-query-width",
        fails="test_values",
        edits={SCALE: " / math.sqrt(query.shape[-1])"},
        en="The scores are divided by the root of the query sequence's width: d_k is the width of the keys.",
        zh="分数除以了 query 序列宽度的平方根：d_k 是键的宽度。",
    ),
    Mistake(
        "scale-by-context-width",
        fails="test_values",
        edits={SCALE: " / math.sqrt(context.shape[-1])"},
        en="The scores are divided by the root of the context's width: d_k is the width of the keys.",
        zh="分数除以了 context 宽度的平方根：d_k 是键的宽度。",
    ),
    Mistake(
        "softmax-over-queries",
        fails="test_values",
        edits={SOFTMAX: "ops.softmax(scores, axis=1)"},
        en="Your softmax runs over the queries: each word of the target shares out 1 over the source.",
        zh="softmax 沿查询轴做了：每个目标词对源句各词的权重之和应为 1。",
    ),
    Mistake(
        "softmax-over-batch",
        fails="test_values",
        edits={SOFTMAX: "ops.softmax(scores, axis=0)"},
        en="Your softmax runs over the batch: it should run over the last axis, the keys.",
        zh="softmax 沿批次轴做了：应沿最后一个轴（键）。",
    ),
    Mistake(
        "output-of-keys",
        fails="test_values",
        edits={OUTPUT: "ops.matmul(weights, keys), weights"},
        en="Keys and values are swapped: the output is a weighted sum of the keys.",
        zh="键和值弄反了：输出成了键的加权和。",
    ),
    Mistake(
        "values-not-projected",
        fails="test_values",
        edits={OUTPUT: "ops.matmul(weights, context), weights"},
        en="The output is a weighted sum of the context itself: project it by w_value.",
        zh="输出是 context 本身的加权和：应先用 w_value 投影。",
    ),
    Mistake(
        "weights-transposed",
        fails="test_values",
        edits={OUTPUT: "ops.matmul(weights, values), ops.swapaxes(weights, 1, 2)"},
        en="The weights are returned transposed: one row for each query, (B, Tq, Tk).",
        zh="返回的权重转置了：每个查询占一行，形状 (B, Tq, Tk)。",
    ),
    Mistake(
        "mask-ignored",
        fails="test_mask",
        edits={HIDE: "scores"},
        en="The mask is ignored.",
        zh="没有使用掩码。",
    ),
    Mistake(
        "mask-inverted",
        fails="test_mask",
        edits={HIDE: "ops.where(mask, -1e9, scores)"},
        en="The mask is inverted: True means that a key may be attended to.",
        zh="掩码反了：True 表示可以看。",
    ),
    Mistake(
        "mask-of-first-sentence",
        fails="test_mask",
        edits={HIDE: "ops.where(mask[0], scores, -1e9)"},
        en="All sentences get the mask of the first: each has its own.",
        zh="所有句子都用了第一句的掩码：每句有自己的掩码。",
    ),
    Mistake(
        "scores-times-mask",
        fails="test_mask",
        edits={HIDE: "scores * ops.cast(mask, scores.dtype)"},
        en="Hidden scores are set to 0, but exp(0) = 1: use a very negative number.",
        zh="被遮住的分数设成了 0，但 exp(0) = 1：应设成绝对值很大的负数。",
    ),
    Mistake(
        "infinity-times-zero",
        fails="test_mask",
        edits={HIDE: 'scores + ops.cast(ops.logical_not(mask), "float32") * -float("inf")'},
        en="The scores are NaN, since 0 · (−∞) is NaN: choose by `where`, do not multiply.",
        zh="分数成了 NaN，因为 0 · (−∞) 是 NaN：应该用 where 选择，而不是相乘。",
    ),
    Mistake(
        "mask-added-weakly",
        fails="test_mask",
        edits={HIDE: "scores - 60.0 * ops.cast(ops.logical_not(mask), scores.dtype)"},
        en="A number is subtracted from hidden scores, so a large score still counts: replace it.",
        zh="被遮住的分数只是减去一个数，分数很大时仍会起作用：应替换它。",
    ),
    Mistake(
        "mask-after-softmax",
        fails="test_mask",
        edits={
            HIDE: "scores",
            f"    weights = {SOFTMAX}\n": f"    weights = {SOFTMAX}\n"
            "    if mask is not None:\n"
            "        weights = ops.where(mask, weights, 0.0)\n",
        },
        en="The mask is applied after the softmax: the rows no longer sum to 1.",
        zh="掩码用在了 softmax 之后：每行之和不再是 1。",
    ),
    Mistake(
        "state-not-added",
        fails="test_decoder",
        edits={"state = target + seen": "state = seen"},
        en="The target is not added to the result of its self-attention.",
        zh="自注意力的结果没有加上 target。",
    ),
    Mistake(
        "output-not-added",
        fails="test_decoder",
        edits={"state + found, weights": "found, weights"},
        en="The state is not added to the result of the cross-attention.",
        zh="交叉注意力的结果没有加上 state。",
    ),
    Mistake(
        "target-added-again",
        fails="test_decoder",
        edits={"state + found, weights": "target + found, weights"},
        en="The target is added to the result of the cross-attention: add the state, which went into it.",
        zh="交叉注意力的结果加的是 target：应加它的输入 state。",
    ),
    Mistake(
        "target-asks",
        fails="test_decoder",
        edits={CROSS: CROSS.replace("(state,", "(target,")},
        en="The target asks the source: the state should, which is the target after self-attention.",
        zh="向源句提问的是 target：应是自注意力之后的 state。",
    ),
    Mistake(
        "no-self-attention",
        fails="test_decoder",
        edits={"state = target + seen": "state = target"},
        en="There is no self-attention: this equals cross-attention from the target alone.",
        zh="缺少自注意力：结果等于只从 target 做交叉注意力。",
    ),
    Mistake(
        "self-matrices-for-both",
        fails="test_decoder",
        edits={CROSS: CROSS.replace("cross_matrices", "self_matrices")},
        en="The cross-attention uses the matrices of the self-attention.",
        zh="交叉注意力用了自注意力的矩阵。",
    ),
    Mistake(
        "cross-matrices-for-both",
        fails="test_decoder",
        edits={SELF: SELF.replace("self_matrices", "cross_matrices")},
        en="The self-attention uses the matrices of the cross-attention.",
        zh="自注意力用了交叉注意力的矩阵。",
    ),
    Mistake(
        "padded-target-seen",
        fails="test_decoder",
        edits={VISIBLE: "past"},
        en="The self-attention sees words of the target that are not real: it needs target_mask, too.",
        zh="自注意力看到了目标句里的填充：还需要 target_mask。",
    ),
    Mistake(
        "padded-source-seen",
        fails="test_decoder",
        edits={CROSS: "cross_attention(state, source, *cross_matrices)"},
        en="The cross-attention sees padding of the source: it needs source_mask.",
        zh="交叉注意力看到了源句的填充：需要 source_mask。",
    ),
    Mistake(
        "future-seen",
        fails="test_future",
        edits={VISIBLE: "target_mask[:, None, :]"},
        en="The self-attention sees the future: it needs the causal mask.",
        zh="自注意力看到了未来：需要因果掩码。",
    ),
    Mistake(
        "causal-transposed",
        fails="test_future",
        edits={PAST: PAST.replace(">=", "<=")},
        en="The causal mask is transposed: it shows the future and hides the past.",
        zh="因果掩码转置了：它让人看未来，遮住了过去。",
    ),
    Mistake(
        "causal-without-itself",
        fails="test_future",
        edits={PAST: PAST.replace(">=", ">")},
        en="The causal mask is off by one: a word may see itself, too.",
        zh="因果掩码差了一位：词也能看自己。",
    ),
    Mistake(
        "causal-one-ahead",
        fails="test_future",
        edits={PAST: "position[:, None] + 1 >= position[None, :]"},
        en="The causal mask is off by one: it shows the next word.",
        zh="因果掩码差了一位：它露出了下一个词。",
    ),
    Mistake(
        "past-or-real",
        fails="test_future",
        edits={VISIBLE: VISIBLE.replace("and", "or")},
        en="The self-attention sees what is past or real: it should see what is both.",
        zh="自注意力看的是过去的词或真实的词：应只看同时满足两者的词。",
    ),
    Mistake(
        "source-with-target-mask",
        fails="test_equal_lengths",
        edits={CROSS: CROSS.replace("source_mask", "target_mask")},
        en="The cross-attention has the target's mask: its keys are the source's, and so is its mask.",
        zh="交叉注意力用了目标句的掩码：键来自源句，掩码也应是源句的。",
    ),
    Mistake(
        "target-with-source-mask",
        fails="test_equal_lengths",
        edits={VISIBLE: VISIBLE.replace("target_mask", "source_mask")},
        en="The self-attention has the source's mask: its keys are the target's, and so is its mask.",
        zh="自注意力用了源句的掩码：键来自目标句，掩码也应是目标句的。",
    ),
    Mistake(
        "source-with-causal-mask",
        fails="test_equal_lengths",
        edits={CROSS: CROSS.replace("source_mask[:, None, :]", "past")},
        en="The cross-attention has the causal mask: each word may look at all real words of the source.",
        zh="交叉注意力用了因果掩码：每个词都能看源句所有真实的词。",
    ),
    Mistake(
        "source-with-both-masks",
        fails="test_equal_lengths",
        edits={
            CROSS: CROSS.replace("source_mask[:, None, :]", "ops.logical_and(past, source_mask[:, None, :])")
        },
        en="The cross-attention is causal, too: each word may look at all real words of the source.",
        zh="交叉注意力也加了因果掩码：每个词都能看源句所有真实的词。",
    ),
    Mistake(
        "source-asks",
        fails="test_equal_lengths",
        edits={CROSS: CROSS.replace("state, source", "source, state")},
        en="The sides are swapped: the decoder's state asks, the source answers.",
        zh="两边弄反了：提问的是解码器的 state，回答的是源句。",
    ),
    Mistake(
        "state-answers",
        fails="test_equal_lengths",
        edits={CROSS: CROSS.replace("state, source", "state, state")},
        en="The source is never looked at: its words should be the keys and values of the cross-attention.",
        zh="没有看源句：交叉注意力的键和值应来自源句。",
    ),
    Mistake(
        "layer-ignores-mask",
        fails="test_layer",
        edits={CALL: CALL.replace(", mask)", ")")},
        en="The layer does not use context_mask.",
        zh="层没有使用 context_mask。",
    ),
    Mistake(
        "layer-shares-matrix",
        fails="test_layer",
        edits={CALL: CALL.replace("self.w_value", "self.w_key")},
        en="The layer uses w_key for the values, too.",
        zh="层对值也用了 w_key。",
    ),
    Mistake(
        "layer-returns-output-only",
        fails="test_layer",
        edits={CALL: f"{CALL}[0]"},
        en="The layer returns its output alone: return (output, weights).",
        zh="层只返回了输出：应返回 (output, weights)。",
    ),
]
