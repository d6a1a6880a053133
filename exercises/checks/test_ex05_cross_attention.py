"""Checks of ex05, with a reference in NumPy."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats, softmax

B, TQ, TK, DQ, DC, DK, DV, D = 2, 4, 5, 8, 9, 7, 3, 6
PARTS = ("output", "weights")


def cross_attention(query, context, w_query, w_key, w_value, mask=None):
    queries, keys, values = query.astype("float64") @ w_query, context @ w_key, context @ w_value
    scores = np.einsum("bqd,bkd->bqk", queries, keys) / np.sqrt(w_key.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    return weights @ values, weights


def decoder_attention(target, source, self_matrices, cross_matrices, target_mask, source_mask):
    past = np.tri(target.shape[1], dtype=bool)
    state = target + cross_attention(target, target, *self_matrices, past & target_mask[:, None])[0]
    found, weights = cross_attention(state, source, *cross_matrices, source_mask[:, None])
    return state + found, weights


def some_mask(rng, length, hidden):
    """In each sentence hides as many words, others in each, but never the first."""
    mask, words = np.ones((B, length), bool), 1 + rng.permutation(length - 1)
    for b, sentence in enumerate(mask):
        sentence[words[b : b + hidden]] = False
    return mask


def decoder_inputs(rng, source_length):
    """The masks hide different numbers of words, so that they never agree."""
    return {
        "target": floats(rng, B, TQ, D),
        "source": floats(rng, B, source_length, D),
        "self_matrices": [floats(rng, D, width) / 2 for width in (DK, DK, D)],
        "cross_matrices": [floats(rng, D, width) / 2 for width in (DK, DK, D)],
        "target_mask": some_mask(rng, TQ, hidden=1),
        "source_mask": some_mask(rng, source_length, hidden=2),
    }


@pytest.fixture
def matrices(rng):
    return [floats(rng, *shape) / 2 for shape in ((DQ, DK), (DC, DK), (DC, DV))]


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Who asks? query. Who answers? context: it gives the keys and the values.",
            "谁提问？query。谁回答？context：键和值都来自它。",
        ),
        (
            "Three products: query by w_query, context by w_key, context by w_value. The rest is ex01.",
            "三个乘法：query 乘 w_query，context 乘 w_key，context 乘 w_value。其余与 ex01 相同。",
        ),
        (
            "scores = (query @ w_query) @ swapaxes(context @ w_key, 1, 2) / sqrt(w_key.shape[-1])",
            "scores = (query @ w_query) @ swapaxes(context @ w_key, 1, 2) / sqrt(w_key.shape[-1])",
        ),
    ],
)
def test_values(student, rng, matrices):
    """Queries come from one sequence, keys and values from the other.

    查询来自一个序列，键和值来自另一个。
    """
    query, context = floats(rng, B, TQ, DQ), floats(rng, B, TK, DC)
    output, weights = student.call("cross_attention", query, context, *matrices, returns=PARTS)
    expected = cross_attention(query, context, *matrices)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "What stands in a hidden word of the context must change nothing.",
            "context 里被遮住的词是什么，都不应影响结果。",
        ),
        (
            "Replace hidden scores by a very negative number before the softmax.",
            "在 softmax 之前，把被遮住的分数换成绝对值很大的负数。",
        ),
        ("scores = where(mask, scores, -1e9)", "scores = where(mask, scores, -1e9)"),
    ],
)
def test_mask(student, rng, matrices):
    """What the mask hides of the context has no weight, whatever it is.

    context 里被遮住的词没有权重，不管它是什么。
    """
    query, context, real = floats(rng, B, TQ, DQ), floats(rng, B, TK, DC), some_mask(rng, TK, hidden=2)
    changed = np.where(real[..., None], context, 100 * floats(rng, B, TK, DC)).astype("float32")
    mask = real[:, None]
    expected = cross_attention(query, context, *matrices, mask)
    for seen in (context, changed):
        output, weights = student.call("cross_attention", query, seen, *matrices, mask, returns=PARTS)
        equal(weights, expected[1], "weights")
        equal(output, expected[0], "output")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Call cross_attention twice: target with target, then the state with source.",
            "调用两次 cross_attention：先是 target 与 target，再是 state 与 source。",
        ),
        (
            "Each result is added to what went in: state = target + …, output = state + ….",
            "每次的结果都加到输入上：state = target + …，output = state + …。",
        ),
        (
            "cross_attention(state, source, *cross_matrices, mask=source_mask[:, None, :])",
            "cross_attention(state, source, *cross_matrices, mask=source_mask[:, None, :])",
        ),
    ],
)
def test_decoder(student, rng):
    """The decoder attends to itself first, then to the source, and adds both.

    解码器先看自己，再看源句，两个结果都加上。
    """
    inputs = decoder_inputs(rng, TK)
    output, weights = student.call("decoder_attention", **inputs, returns=PARTS)
    expected = decoder_attention(**inputs)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "Change the last word of the target: which outputs may change? Only the last.",
            "改变目标句的最后一个词：哪些输出会变？只有最后一个。",
        ),
        (
            "The self-attention needs two masks at once: the past, and the real words.",
            "自注意力同时需要两个掩码：过去的词，以及真实的词。",
        ),
        (
            "With i = arange(Tq): past = i[:, None] >= i[None, :]; the mask is past & target_mask[:, None].",
            "令 i = arange(Tq)，past = i[:, None] >= i[None, :]；掩码是 past & target_mask[:, None]。",
        ),
    ],
)
def test_future(student, rng):
    """The words to come change nothing.

    后面的词不影响前面的结果。
    """
    inputs = decoder_inputs(rng, TK)
    end = int(rng.integers(2, TQ))
    target = inputs["target"].copy()
    target[:, end:] = 5 * floats(rng, B, TQ - end, D)
    parts = student.call("decoder_attention", **{**inputs, "target": target}, returns=PARTS)
    for part, expected, name in zip(parts, decoder_attention(**inputs), PARTS, strict=True):
        equal(part, expected, name, where=np.arange(TQ)[:, None] < end)


@pytest.mark.check(
    points=1,
    hints=[
        (
            "When both sentences have one length, a mask in the wrong place raises no error.",
            "两个句子一样长时，掩码用错地方不会报错。",
        ),
        (
            "The mask is always that of the keys: of the target in self-attention, of the source in "
            "cross-attention.",
            "掩码总是键的掩码：自注意力用目标句的，交叉注意力用源句的。",
        ),
        (
            "A word may look at all of the source: no causal mask there.",
            "每个词都能看整个源句：那里不用因果掩码。",
        ),
    ],
)
def test_equal_lengths(student, rng):
    """Each attention has its own mask, also where both sentences have the same length.

    两个句子一样长时，每种注意力也各用自己的掩码。
    """
    inputs = decoder_inputs(rng, TQ)
    output, weights = student.call("decoder_attention", **inputs, returns=PARTS)
    expected = decoder_attention(**inputs)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "build makes three weights: one is as high as the query is wide, two as the context is wide.",
            "build 创建三个权重：一个的行数是 query 的宽度，另外两个是 context 的宽度。",
        ),
        (
            "self.w_key = self.add_weight(shape=(context_shape[-1], self.key_dim)), and so on.",
            "self.w_key = self.add_weight(shape=(context_shape[-1], self.key_dim))，其余类似。",
        ),
        (
            "context_mask (B, Tk) needs an axis for the queries: context_mask[:, None, :]; it may be None.",
            "context_mask (B, Tk) 需要一个查询轴：context_mask[:, None, :]；它也可能是 None。",
        ),
    ],
)
def test_layer(student, rng, matrices):
    """The layer owns the three matrices and uses the context's mask.

    层拥有三个矩阵，并使用 context 的掩码。
    """
    query, context, mask = floats(rng, B, TQ, DQ), floats(rng, B, TK, DC), some_mask(rng, TK, hidden=2)
    output, weights = student.layer(
        "CrossAttention",
        query,
        context,
        context_mask=mask,
        options={"key_dim": DK, "value_dim": DV},
        weights=dict(zip(("w_query", "w_key", "w_value"), matrices, strict=True)),
        returns=PARTS,
    )
    expected = cross_attention(query, context, *matrices, mask[:, None])
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")
