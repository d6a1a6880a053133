"""Checks of ex02, with a reference in NumPy. Hidden scores are never compared: their form is free."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats, softmax

B, TQ, TK = 2, 3, 5


def masked_softmax(scores, mask):
    return softmax(np.where(mask, scores.astype("float64"), -np.inf))


def some_mask(rng):
    """Of each query, hides some keys but not all."""
    mask = rng.random((B, TQ, TK)) < 0.5
    hidden = rng.integers(TK, size=(B, TQ, 1))
    keys = np.arange(TK)
    return (mask | (keys == (hidden + 1) % TK)) & (keys != hidden)


@pytest.mark.check(
    points=1,
    hints=[
        ("Which tokens are real? Those that are not 0.", "哪些词是真实的？编号不为 0 的。"),
        (
            "The result has an axis of size 1 in the middle, for the queries.",
            "结果中间有一个大小为 1 的轴，留给查询。",
        ),
        ("(tokens != 0)[:, None, :]", "(tokens != 0)[:, None, :]"),
    ],
)
def test_padding_mask(student, rng):
    """padding_mask is True where a token is real, along the keys.

    padding_mask 在真实的词处为 True，沿键的方向。
    """
    tokens = rng.integers(1, 50, size=(B, TK)).astype("int32")
    tokens[0, 3:] = tokens[1, 4:] = 0
    equal(student.call("padding_mask", tokens), (tokens != 0)[:, None, :], "mask")


@pytest.mark.check(
    points=1,
    hints=[
        ("The first query sees one key, the last sees all.", "第一个查询看到一个键，最后一个看到所有键。"),
        (
            "Compare the number of the query (rows) with the number of the key (columns).",
            "比较查询的编号（行）与键的编号（列）。",
        ),
        (
            "With i = arange(length): i[:, None] >= i[None, :].",
            "令 i = arange(length)：i[:, None] >= i[None, :]。",
        ),
    ],
)
def test_causal_mask(student, rng):
    """causal_mask shows each query itself and the past.

    causal_mask 让每个查询看到自己和过去。
    """
    for length in 1 + rng.permutation(6)[:3]:
        expected = np.tril(np.ones((length, length), bool))
        equal(student.call("causal_mask", int(length)), expected, "mask")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "The weights of the visible keys sum to 1: so hide before the softmax, not after it.",
            "可见的键的权重之和为 1：所以要在 softmax 之前遮，而不是之后。",
        ),
        (
            "Give hidden scores a very negative number: exp of it is 0. A score of 0 would still count.",
            "把被遮住的分数换成绝对值很大的负数，exp 后为 0。换成 0 的话仍然会有权重。",
        ),
        (
            "where(mask, scores, -1e9), then softmax over the last axis.",
            "where(mask, scores, -1e9)，再沿最后一个轴做 softmax。",
        ),
    ],
)
def test_masked_softmax(student, rng):
    """Hidden keys get the weight 0, the visible ones share 1.

    被遮住的键权重为 0，可见的键权重之和为 1。
    """
    scores, mask = floats(rng, B, TQ, TK), some_mask(rng)
    scores += 200 * rng.permutation(B * TQ).reshape(B, TQ, 1)  # rows of quite different height
    equal(student.call("masked_softmax", scores, mask), masked_softmax(scores, mask), "weights")


@pytest.mark.check(
    points=1,
    hints=[
        ("What does a weight depend on? Not on hidden scores.", "权重取决于什么？不取决于被遮住的分数。"),
        (
            "Adding a large negative number to a hidden score does not hide a huge score: replace it.",
            "给被遮住的分数加一个负数，挡不住极大的分数：要替换它。",
        ),
        (
            "Take the row's maximum after hiding, not before.",
            "每行的最大值要在遮住之后取，而不是之前。",
        ),
    ],
)
def test_hidden_scores_do_not_matter(student, rng):
    """Hidden scores do not matter, however large they are.

    被遮住的分数无论多大都不影响结果。
    """
    scores, mask = floats(rng, B, TQ, TK), some_mask(rng)
    changed = np.where(mask, scores, 1e12 * floats(rng, B, TQ, TK)).astype("float32")
    equal(student.call("masked_softmax", changed, mask), masked_softmax(scores, mask), "weights")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "A sentence of padding only: nothing may be seen, so nothing is taken.",
            "整句都是填充：什么也看不到，就什么也不取。",
        ),
        (
            "If all scores of a row are equally low, softmax makes them uniform. Put zeros in afterwards.",
            "一行分数都同样低时，softmax 会给出均匀的权重。之后要再置零。",
        ),
        ("At the end: where(mask, weights, 0).", "最后：where(mask, weights, 0)。"),
    ],
)
def test_rows_without_keys(student, rng):
    """A query that may see nothing gets zeros, neither NaN nor equal weights; the mask broadcasts.

    什么都看不到的查询得到 0，而不是 NaN 或均匀权重；掩码可以广播。
    """
    scores, mask = floats(rng, B, TQ, TK), some_mask(rng)[:, :1]
    mask[rng.integers(B)] = False
    equal(student.call("masked_softmax", scores, mask), masked_softmax(scores, mask), "weights")
