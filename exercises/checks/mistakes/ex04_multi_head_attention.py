"""Known mistakes in ex04."""

from keras_attention.course.bank import Mistake

SPLIT = """heads = ops.reshape(x, (batch, length, num_heads, width // num_heads))  # (B, T, H, Dk)
    return ops.transpose(heads, (0, 2, 1, 3))"""
MERGE = """x = ops.transpose(heads, (0, 2, 1, 3))  # (B, T, H, Dv)
    return ops.reshape(x, (batch, length, num_heads * width))"""
SCALE = " / math.sqrt(key.shape[-1])"
SOFTMAX = "ops.softmax(scores)"
HIDE = "ops.where(mask[:, None], scores, -1e9)"
OUTPUT = "merge_heads(ops.matmul(weights, value)), weights"
LAYER_OUTPUT = "ops.matmul(output, self.w_output), weights"

MISTAKES = [
    Mistake(
        "split-without-transpose",
        fails="test_split_heads",
        edits={SPLIT: "return ops.reshape(x, (batch, num_heads, length, width // num_heads))"},
        en="The heads are split by reshape alone, which mixes words: go by (B, T, H, Dk), then transpose.",
        zh="只用 reshape 分头会把词混在一起：先 reshape 成 (B, T, H, Dk)，再转置。",
    ),
    Mistake(
        "split-not-transposed",
        fails="test_split_heads",
        edits={SPLIT: "return ops.reshape(x, (batch, length, num_heads, width // num_heads))"},
        en="The heads are split, but their axis still stands after the words: transpose to (B, H, T, Dk).",
        zh="头已分开，但头的轴仍在词的轴之后：应转置成 (B, H, T, Dk)。",
    ),
    Mistake(
        "split-interleaved",
        fails="test_split_heads",
        edits={
            SPLIT: "heads = ops.reshape(x, (batch, length, width // num_heads, num_heads))\n"
            "    return ops.transpose(heads, (0, 3, 1, 2))"
        },
        en="Each head gets every H-th feature: it should get Dk neighbours, so reshape to (B, T, H, Dk).",
        zh="每个头从每 H 个特征中取一个：应取相邻的 Dk 个，即 reshape 成 (B, T, H, Dk)。",
    ),
    Mistake(
        "merge-without-transpose",
        fails="test_merge_heads",
        edits={MERGE: "return ops.reshape(heads, (batch, length, num_heads * width))"},
        en="The heads are merged by reshape alone, which mixes words: transpose to (B, T, H, Dv) first.",
        zh="只用 reshape 合并头会把词混在一起：先转置成 (B, T, H, Dv)。",
    ),
    Mistake(
        "merge-interleaved",
        fails="test_merge_heads",
        edits={
            MERGE: "x = ops.transpose(heads, (0, 2, 3, 1))\n"
            "    return ops.reshape(x, (batch, length, num_heads * width))"
        },
        en="The heads are interleaved feature by feature: all of head 0 comes first, then head 1.",
        zh="各个头的特征交错在一起了：应先放第 0 个头的全部，再放第 1 个头。",
    ),
    Mistake(
        "heads-averaged",
        fails="test_merge_heads",
        edits={MERGE: "return ops.mean(heads, axis=1)"},
        en="The heads are averaged: lay them side by side, so that the width is H · Dv.",
        zh="各个头被平均了：应并排放，宽度为 H · Dv。",
    ),
    Mistake(
        "heads-added",
        fails="test_merge_heads",
        edits={MERGE: "return ops.sum(heads, axis=1)"},
        en="The heads are added up: lay them side by side, so that the width is H · Dv.",
        zh="各个头被加在一起了：应并排放，宽度为 H · Dv。",
    ),
    Mistake(
        "no-scale",
        fails="test_values",
        edits={SCALE: ""},
        en="This equals attention without the 1/√d_k: divide the scores by the root of a head's width.",
        zh="结果等于没有除以 √d_k 的注意力：分数要除以每个头宽度的平方根。",
    ),
    Mistake(
        "scale-by-model-width",
        fails="test_values",
        edits={SCALE: " / math.sqrt(num_heads * key.shape[-1])"},
        en="The scores are divided by the root of all heads' width: d_k is the width of one head.",
        zh="分数除以了所有头总宽度的平方根：d_k 是一个头的宽度。",
    ),
    Mistake(
        "scale-without-root",
        fails="test_values",
        edits={SCALE: " / key.shape[-1]"},
        en="The scores are divided by d_k: divide by its square root.",
        zh="分数除以了 d_k：应除以 √d_k。",
    ),
    Mistake(
        "softmax-over-queries",
        fails="test_values",
        edits={SOFTMAX: "ops.softmax(scores, axis=2)"},
        en="Your softmax runs over the queries: it should run over the last axis, the keys.",
        zh="softmax 沿查询轴做了：应沿最后一个轴（键）。",
    ),
    Mistake(
        "softmax-over-heads",
        fails="test_values",
        edits={SOFTMAX: "ops.softmax(scores, axis=1)"},
        en="Your softmax runs over the heads: each head has its own weights, which sum to 1 over the keys.",
        zh="softmax 沿头的轴做了：每个头有自己的权重，对键求和为 1。",
    ),
    Mistake(
        "one-head",
        fails="test_values",
        edits={
            "(split_heads(x, num_heads) for x in (query, key, value))": (
                "(split_heads(x, 1) for x in (query, key, value))"
            )
        },
        en="This equals attention with a single head: split queries, keys and values first.",
        zh="结果等于只有一个头的注意力：先把查询、键、值分成多个头。",
    ),
    Mistake(
        "output-not-merged",
        fails="test_values",
        edits={OUTPUT: "ops.matmul(weights, value), weights"},
        en="The heads of the output are not merged: use merge_heads.",
        zh="输出的各个头没有合并：应使用 merge_heads。",
    ),
    Mistake(
        "weights-averaged",
        fails="test_values",
        edits={OUTPUT: "merge_heads(ops.matmul(weights, value)), ops.mean(weights, axis=1)"},
        en="The weights are averaged over the heads: return those of every head, (B, H, Tq, Tk).",
        zh="权重对各个头取了平均：应返回每个头的权重 (B, H, Tq, Tk)。",
    ),
    Mistake(
        "output-of-keys",
        fails="test_values",
        edits={OUTPUT: "merge_heads(ops.matmul(weights, key)), weights"},
        en="The output is a weighted sum of the keys: it should be one of the values.",
        zh="输出是键的加权和：应是值的加权和。",
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
        edits={HIDE: "ops.where(mask[:, None], -1e9, scores)"},
        en="The mask is inverted: True means that a key may be attended to.",
        zh="掩码反了：True 表示可以看。",
    ),
    Mistake(
        "mask-repeated-batch-major",
        fails="test_mask",
        edits={HIDE: "ops.where(ops.reshape(ops.tile(mask, (num_heads, 1, 1)), scores.shape), scores, -1e9)"},
        en="Heads get the mask of another sentence: repeat it for the heads of one sentence, mask[:, None].",
        zh="有的头用了别的句子的掩码：应该对同一句的各个头重复，即 mask[:, None]。",
    ),
    Mistake(
        "mask-of-first-sentence",
        fails="test_mask",
        edits={HIDE: "ops.where(mask[0], scores, -1e9)"},
        en="All sentences get the mask of the first: keep the batch axis, mask[:, None].",
        zh="所有句子都用了第一句的掩码：应保留批次轴，即 mask[:, None]。",
    ),
    Mistake(
        "mask-for-one-head",
        fails="test_mask",
        edits={
            HIDE: "ops.where(ops.logical_or(mask[:, None], "
            "ops.arange(num_heads)[:, None, None] > 0), scores, -1e9)"
        },
        en="Only the first head is masked: the mask holds for all heads.",
        zh="只有第一个头用了掩码：掩码对所有头都有效。",
    ),
    Mistake(
        "scores-times-mask",
        fails="test_mask",
        edits={HIDE: "scores * ops.cast(mask[:, None], scores.dtype)"},
        en="Hidden scores are set to 0, but exp(0) = 1: use a very negative number.",
        zh="被遮住的分数设成了 0，但 exp(0) = 1：应设成绝对值很大的负数。",
    ),
    Mistake(
        "infinity-times-zero",
        fails="test_mask",
        edits={HIDE: 'scores + ops.cast(ops.logical_not(mask[:, None]), "float32") * -float("inf")'},
        en="The scores are NaN, since 0 · (−∞) is NaN: choose by `where`, do not multiply.",
        zh="分数成了 NaN，因为 0 · (−∞) 是 NaN：应该用 where 选择，而不是相乘。",
    ),
    Mistake(
        "mask-after-softmax",
        fails="test_mask",
        edits={
            HIDE: "scores",
            f"    weights = {SOFTMAX}\n": f"    weights = {SOFTMAX}\n"
            "    if mask is not None:\n"
            "        weights = ops.where(mask[:, None], weights, 0.0)\n",
        },
        en="The mask is applied after the softmax: the rows no longer sum to 1.",
        zh="掩码用在了 softmax 之后：每行之和不再是 1。",
    ),
    Mistake(
        "mask-added-weakly",
        fails="test_padding_does_not_matter",
        edits={HIDE: "scores - 60.0 * ops.cast(ops.logical_not(mask[:, None]), scores.dtype)"},
        en="A number is subtracted from hidden scores, so a large score still counts: replace it.",
        zh="被遮住的分数只是减去一个数，分数很大时仍会起作用：应替换它。",
    ),
    Mistake(
        "layer-ignores-mask",
        fails="test_layer",
        edits={
            "multi_head_attention(query, key, value, self.num_heads, mask)": (
                "multi_head_attention(query, key, value, self.num_heads)"
            )
        },
        en="The layer does not pass the mask on to the function.",
        zh="层没有把掩码传给函数。",
    ),
    Mistake(
        "layer-shares-matrix",
        fails="test_layer",
        edits={"ops.matmul(key, self.w_key)": "ops.matmul(key, self.w_query)"},
        en="The layer uses w_query for the keys, too.",
        zh="层对键也用了 w_query。",
    ),
    Mistake(
        "layer-values-from-keys",
        fails="test_layer",
        edits={
            "key = ops.matmul(key, self.w_key)  # (B, Tk, H · Dk)\n"
            "        value = ops.matmul(value, self.w_value)": "value = ops.matmul(key, self.w_value)\n"
            "        key = ops.matmul(key, self.w_key)"
        },
        en="The layer projects its values from the keys: they come from `value`.",
        zh="层的值由键投影而来：应由 value 投影。",
    ),
    Mistake(
        "layer-keys-from-values",
        fails="test_layer",
        edits={"ops.matmul(key, self.w_key)": "ops.matmul(value, self.w_key)"},
        en="The layer projects its keys from the values: they come from `key`.",
        zh="层的键由值投影而来：应由 key 投影。",
    ),
    Mistake(
        "no-output-projection",
        fails="test_layer",
        edits={LAYER_OUTPUT: "output, weights"},
        en="The output is not projected by w_output: the heads are side by side, but not mixed.",
        zh="输出没有用 w_output 投影：各个头只是并排，没有混合。",
    ),
]
