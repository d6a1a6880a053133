"""Checks of ex01, with a reference in NumPy. All dimensions differ: none can be taken for another."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats, softmax

B, TQ, TK, DK, DV = 2, 3, 5, 7, 4
PARTS = ("output", "weights")


def attention(query, key, value):
    scores = np.einsum("bqd,bkd->bqk", query, key, dtype="float64") / np.sqrt(query.shape[-1])
    weights = softmax(scores)
    return weights @ value, weights


@pytest.fixture
def inputs(rng):
    return 2 * floats(rng, B, TQ, DK), floats(rng, B, TK, DK), floats(rng, B, TK, DV)


@pytest.mark.check(
    points=1,
    hints=[
        (
            "Each row of the result sums to 1. Which axis is a row?",
            "结果每一行之和为 1。哪个轴是一行？",
        ),
        (
            "exp first, then divide by the sum along the last axis; keep that axis, so that it broadcasts.",
            "先取 exp，再除以最后一个轴上的和；保留该轴，才能正确广播。",
        ),
        (
            "Before exp: scores - max(scores, axis=-1, keepdims=True).",
            "取 exp 之前：scores - max(scores, axis=-1, keepdims=True)。",
        ),
    ],
)
def test_softmax(student, rng):
    """softmax gives weights along the last axis, for large scores too.

    softmax 沿最后一个轴给出权重，分数很大时也正确。
    """
    scores = floats(rng, B, TQ, TK)
    equal(student.call("softmax", scores), softmax(scores.astype("float64")), "weights")
    large = 1000 + 300 * floats(rng, TQ, TK)
    equal(student.call("softmax", large), softmax(large.astype("float64")), "weights")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "One weight for each pair of a query and a key: (B, Tq, Tk).",
            "每对查询和键有一个权重：(B, Tq, Tk)。",
        ),
        (
            "The scores are query · keyᵀ; only the last two axes of the keys are swapped.",
            "分数是 query · keyᵀ；只交换键的最后两个轴。",
        ),
        (
            "Divide by the square root of query.shape[-1], then softmax over the last axis.",
            "除以 query.shape[-1] 的平方根，再沿最后一个轴做 softmax。",
        ),
    ],
)
def test_weights(student, inputs):
    """The weights are softmax(Q Kᵀ / √d_k), over the keys.

    权重是 softmax(Q Kᵀ / √d_k)，对键做 softmax。
    """
    _, weights = student.call("attention", *inputs, returns=PARTS)
    equal(weights, attention(*inputs)[1], "weights")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Each output is an average of the values, with the weights of its query.",
            "每个输出是各个值的加权平均，权重来自它的查询。",
        ),
        (
            "(B, Tq, Tk) times (B, Tk, Dv) gives (B, Tq, Dv): a matrix product for each sentence.",
            "(B, Tq, Tk) 乘 (B, Tk, Dv) 得 (B, Tq, Dv)：批次中的每个句子各做一次矩阵乘法。",
        ),
        (
            "return matmul(weights, value), weights",
            "return matmul(weights, value), weights",
        ),
    ],
)
def test_output(student, inputs):
    """The output is the weighted sum of the values.

    输出是值的加权和。
    """
    output, _ = student.call("attention", *inputs, returns=PARTS)
    equal(output, attention(*inputs)[0], "output")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "With scores of several hundreds, what does exp give in float32?",
            "分数达到几百时，float32 的 exp 会得到什么？",
        ),
        (
            "softmax does not change when a number is subtracted from all scores of a row.",
            "一行分数同时减去一个数，softmax 不变。",
        ),
        (
            "Use your softmax, which subtracts the largest score of each row.",
            "用你写的 softmax，它会减去每行的最大值。",
        ),
    ],
)
def test_large_scores(student, inputs):
    """Large scores give sharp weights, no NaN.

    分数很大时权重变得尖锐，而不是 NaN。
    """
    query, key, value = inputs
    output, weights = student.call("attention", 300 * query, key, value, returns=PARTS)
    expected = attention(300 * query, key, value)
    equal(weights, expected[1], "weights", tolerance=1e-3)
    equal(output, expected[0], "output", tolerance=1e-3)
