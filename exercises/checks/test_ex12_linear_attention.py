"""Checks of ex12. The reference is the other order of the products: the whole matrix φ(Q) φ(K)ᵀ, in NumPy."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats

B, TQ, TK, D, DV = 2, 3, 7, 5, 4
PARTS = ("output", "S", "z")


def features(x):
    x = x.astype("float64")
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_attention(query, key, value, visible):
    """`visible` (B or 1, Tq, Tk); the sums are those of the last query."""
    query, key = features(query), features(key)
    scores = np.where(visible, query @ key.swapaxes(1, 2), 0)  # (B, Tq, Tk)
    key = key * np.broadcast_to(visible, scores.shape)[:, -1, :, None]
    sums = key.swapaxes(1, 2) @ value
    return scores @ value / scores.sum(-1, keepdims=True), sums, key.sum(1)


def equal_parts(got, expected):
    for part, right, name in zip(got, expected, PARTS, strict=True):
        equal(part, right, name)


@pytest.mark.check(
    points=1,
    hints=[
        (
            "On the right of 0 it is a straight line, on the left an exponential; they meet at 1.",
            "0 的右边是直线，左边是指数函数，两者在 1 处相接。",
        ),
        (
            "elu(x) is exp(x) − 1 on the left, which is negative. Weights must not be.",
            "elu(x) 在左边是 exp(x) − 1，是负数，而权重不能为负。",
        ),
        ("elu(x) + 1, or where(x > 0, x + 1, exp(x)).", "elu(x) + 1，或 where(x > 0, x + 1, exp(x))。"),
    ],
)
def test_features(student, rng):
    """features is elu(x) + 1, for large numbers too.

    features 是 elu(x) + 1，数很大时也正确。
    """
    x = 2 * floats(rng, B, TK, D)
    x[:, 0, :2] = 0, 90
    equal(student.call("features", x), features(x), "features")
    equal(student.call("features", 30 * x[0]), features(30 * x[0]), "features")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "φ of the queries and of the keys first; the values stay as they are.",
            "先对查询和键求 φ；值不变。",
        ),
        (
            "S = φ(K)ᵀ V is (B, D, Dv), and z, the sum of φ(K) over the keys, is (B, D).",
            "S = φ(K)ᵀ V，形状 (B, D, Dv)；z 是 φ(K) 对键求和，形状 (B, D)。",
        ),
        (
            "matmul(φ(Q), S) is (B, Tq, Dv); divide it by matmul(φ(Q), z[:, :, None]), one number a query.",
            "matmul(φ(Q), S) 是 (B, Tq, Dv)；再除以 matmul(φ(Q), z[:, :, None])，每个查询一个数。",
        ),
    ],
)
def test_linear_attention(student, rng):
    """The output is φ(Q) S / φ(Q) · z, and the sums come back, too.

    输出是 φ(Q) S / φ(Q) · z，并返回这两个和。
    """
    inputs = floats(rng, B, TQ, D), floats(rng, B, TK, D), floats(rng, B, TK, DV)
    got = student.call("linear_attention", *inputs, returns=PARTS)
    equal_parts(got, linear_attention(*inputs, np.ones((1, TQ, TK), bool)))


@pytest.mark.check(
    points=1,
    hints=[
        (
            "A key with the features 0 adds nothing to S and nothing to z.",
            "特征为 0 的键，对 S 和 z 都没有贡献。",
        ),
        (
            "φ(0) is 1, not 0: so hide after φ, not before it.",
            "φ(0) 是 1，不是 0：所以要在 φ 之后遮，而不是之前。",
        ),
        (
            "After φ: key = where(mask[:, :, None], key, 0), before both sums.",
            "φ 之后、求和之前：key = where(mask[:, :, None], key, 0)。",
        ),
    ],
)
def test_mask(student, rng):
    """Padding adds to neither sum, whatever stands in it.

    填充对两个和都没有贡献，不管里面是什么。
    """
    query, key, value = floats(rng, B, TQ, D), floats(rng, B, TK, D), floats(rng, B, TK, DV)
    mask = np.arange(TK) < (2 + rng.permutation(TK - 3)[:B])[:, None]  # lengths from 2 to Tk − 2
    expected = linear_attention(query, key, value, mask[:, None, :])
    for scale in (1, 20):
        noisy = [
            np.where(mask[..., None], x, scale * floats(rng, *x.shape)).astype("float32")
            for x in (key, value)
        ]
        got = student.call("linear_attention", query, *noisy, mask=mask, returns=PARTS)
        equal_parts(got, expected)


@pytest.mark.check(
    points=3,
    hints=[
        (
            "Each word has sums of its own: S_i (B, T, D, Dv) and z_i (B, T, D).",
            "每个词有自己的和：S_i (B, T, D, Dv) 和 z_i (B, T, D)。",
        ),
        (
            "The sum over j ≤ i for every i is a cumsum along the words; i itself is part of it.",
            "对每个 i 求 j ≤ i 的和，就是沿词的方向做 cumsum；i 自己也算在内。",
        ),
        (
            "cumsum(key[:, :, :, None] * value[:, :, None, :], axis=1); at the end, the last word's sums.",
            "cumsum(key[:, :, :, None] * value[:, :, None, :], axis=1)；最后返回最后一个词的和。",
        ),
    ],
)
def test_causal_linear_attention(student, rng):
    """Each word sees itself and the past; what comes later changes nothing.

    每个词看到自己和过去；后面的词不影响前面的结果。
    """
    inputs = floats(rng, B, TK, D), floats(rng, B, TK, D), floats(rng, B, TK, DV)
    expected = linear_attention(*inputs, np.tri(TK, dtype=bool)[None])
    got = student.call("causal_linear_attention", *inputs, returns=PARTS)
    equal_parts(got, expected)
    changed = [np.concatenate([x[:, :4], 20 * floats(rng, B, 2, x.shape[-1])], axis=1) for x in inputs]
    output, _, _ = student.call("causal_linear_attention", *changed, returns=PARTS)
    equal(output, expected[0][:, :6], "output", where=np.arange(6)[:, None] < 4)


@pytest.mark.check(
    points=2,
    hints=[
        (
            "The new word sees itself, so its term is in the sums before its query reads them.",
            "新词能看到自己，所以要先把它的项加进和里，再用查询读出。",
        ),
        (
            "Its terms are φ(k) vᵀ (B, D, Dv) for S, and φ(k) (B, D) for z.",
            "它对 S 的项是 φ(k) vᵀ (B, D, Dv)，对 z 的项是 φ(k) (B, D)。",
        ),
        (
            "s + key[:, :, None] * value[:, None, :] and z + key, with key = features(key).",
            "令 key = features(key)：s + key[:, :, None] * value[:, None, :]，z + key。",
        ),
    ],
)
def test_step(student, rng):
    """Word by word, the recurrent form gives what the causal form gives.

    一个词一个词地递推，结果与因果形式相同。
    """
    query, key, value = floats(rng, B, TK, D), floats(rng, B, TK, D), floats(rng, B, TK, DV)
    output, _, _ = linear_attention(query, key, value, np.tri(TK, dtype=bool)[None])
    start = 2
    sums = [x.astype("float32") for x in sums_of(key, value, start)]
    for i in range(start, start + 3):
        got = student.call("step", query[:, i], key[:, i], value[:, i], *sums, returns=PARTS)
        equal_parts(got, (output[:, i], *sums_of(key, value, i + 1)))
        sums = got[1:]


def sums_of(key, value, length):
    key = features(key[:, :length])
    return key.swapaxes(1, 2) @ value[:, :length], key.sum(1)
