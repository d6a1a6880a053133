"""Known mistakes in ex02."""

from keras_attention.course.bank import Mistake

HIDE = "visible = ops.where(mask, scores, -1e9)"
END = "return ops.where(mask, weights, 0.0)"

MISTAKES = [
    Mistake(
        "padding-inverted",
        fails="test_padding_mask",
        edits={"ops.not_equal(tokens, 0)": "ops.equal(tokens, 0)"},
        en="Your padding mask is inverted: True means that a token may be attended to.",
        zh="填充掩码反了：True 表示可以看。",
    ),
    Mistake(
        "padding-along-queries",
        fails="test_padding_mask",
        edits={"[:, None, :]": "[:, :, None]"},
        en="Your padding mask hides queries: it should hide keys, so its shape is (B, 1, Tk).",
        zh="填充掩码遮住了查询：应遮住键，形状是 (B, 1, Tk)。",
    ),
    Mistake(
        "causal-transposed",
        fails="test_causal_mask",
        edits={"position[:, None] >= position[None, :]": "position[:, None] <= position[None, :]"},
        en="Your causal mask is transposed: it shows the future and hides the past.",
        zh="因果掩码转置了：它让人看未来，遮住了过去。",
    ),
    Mistake(
        "causal-without-itself",
        fails="test_causal_mask",
        edits={"position[:, None] >= position[None, :]": "position[:, None] > position[None, :]"},
        en="Your causal mask is off by one: a query may see itself, too.",
        zh="因果掩码差了一位：查询也能看自己。",
    ),
    Mistake(
        "causal-one-ahead",
        fails="test_causal_mask",
        edits={"position[:, None] >= position[None, :]": "position[:, None] + 1 >= position[None, :]"},
        en="Your causal mask is off by one: it shows the next token, which is the one to predict.",
        zh="因果掩码差了一位：它露出了下一个词，而那正是要预测的词。",
    ),
    Mistake(
        "causal-inverted",
        fails="test_causal_mask",
        edits={"position[:, None] >= position[None, :]": "position[:, None] < position[None, :]"},
        en="Your causal mask is inverted: True means that a key may be attended to.",
        zh="因果掩码反了：True 表示可以看。",
    ),
    Mistake(
        "no-mask",
        fails="test_masked_softmax",
        edits={HIDE: "visible = scores", END: "return weights"},
        en="This equals softmax without any mask.",
        zh="结果等于完全没有用掩码的 softmax。",
    ),
    Mistake(
        "mask-inverted",
        fails="test_masked_softmax",
        edits={HIDE: "visible = ops.where(mask, -1e9, scores)", END: "return ops.where(mask, 0.0, weights)"},
        en="The mask is applied inverted: the keys that may be seen are hidden.",
        zh="掩码用反了：可以看的键被遮住了。",
    ),
    Mistake(
        "mask-after-softmax",
        fails="test_masked_softmax",
        edits={HIDE: "visible = scores"},
        en="The mask is applied after the softmax: the rows no longer sum to 1.",
        zh="掩码用在了 softmax 之后：每行之和不再是 1。",
    ),
    Mistake(
        "scores-times-mask",
        fails="test_masked_softmax",
        edits={HIDE: "visible = scores * ops.cast(mask, scores.dtype)", END: "return weights"},
        en="Hidden scores are set to 0, but exp(0) = 1: use a very negative number.",
        zh="被遮住的分数设成了 0，但 exp(0) = 1：应设成绝对值很大的负数。",
    ),
    Mistake(
        "nothing-renormalised-away",
        fails="test_masked_softmax",
        edits={HIDE: "visible = ops.where(mask, scores, 0.0)"},
        en="Hidden keys still take part in the sum, as scores of 0: use a very negative number.",
        zh="被遮住的键仍以分数 0 参与求和：应设成绝对值很大的负数。",
    ),
    Mistake(
        "added-not-replaced",
        fails="test_hidden_scores_do_not_matter",
        edits={HIDE: "visible = scores + ops.where(mask, 0.0, -1e9)"},
        en="A number is added to hidden scores, so a large hidden score still counts: replace the score.",
        zh="给被遮住的分数加了一个数，分数很大时仍会起作用：应替换分数。",
    ),
    Mistake(
        "added-and-not-zeroed",
        fails="test_hidden_scores_do_not_matter",
        edits={HIDE: "visible = scores + ops.where(mask, 0.0, -1e9)", END: "return weights"},
        en="A number is added to hidden scores, so a large hidden score still counts: replace the score.",
        zh="给被遮住的分数加了一个数，分数很大时仍会起作用：应替换分数。",
    ),
    Mistake(
        "empty-row-uniform",
        fails="test_rows_without_keys",
        edits={END: "return weights"},
        en="A query that may see nothing gets equal weights for hidden keys: it should get zeros.",
        zh="什么都看不到的查询得到了均匀的权重：应为 0。",
    ),
    Mistake(
        "empty-row-nan",
        fails="test_rows_without_keys",
        edits={"scores, -1e9)": 'scores, -float("inf"))', END: "return weights"},
        en="A query that may see nothing gets NaN, since −inf − (−inf) is NaN: it should get zeros.",
        zh="什么都看不到的查询得到 NaN（−inf − (−inf) 是 NaN）：应为 0。",
    ),
]
