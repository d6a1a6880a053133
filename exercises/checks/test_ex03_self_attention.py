"""Checks of ex03, with a reference in NumPy."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats, softmax

B, T, D, DK, DV = 2, 5, 6, 7, 4
PARTS = ("output", "weights")


def self_attention(x, w_query, w_key, w_value, mask=None):
    query, key, value = (x.astype("float64") @ w for w in (w_query, w_key, w_value))
    scores = np.einsum("bqd,bkd->bqk", query, key) / np.sqrt(w_key.shape[-1])
    if mask is not None:
        scores = np.where(mask[:, None, :], scores, -np.inf)
    weights = softmax(scores)
    return weights @ value, weights


@pytest.fixture
def matrices(rng):
    return [floats(rng, D, width) / 2 for width in (DK, DK, DV)]


@pytest.fixture
def mask(rng):
    """Each sentence has another length, from 2 to T − 1."""
    lengths = 2 + rng.permutation(T - 2)[:B]
    return np.arange(T) < lengths[:, None]


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Three products with the same X: queries, keys, values. The rest is ex01.",
            "同一个 X 乘三个矩阵：查询、键、值。其余与 ex01 相同。",
        ),
        (
            "Each query, key and value has its own matrix. d_k is the width of the keys, not of X.",
            "查询、键、值各有自己的矩阵。d_k 是键的宽度，不是 X 的宽度。",
        ),
        (
            "scores = (x @ w_query) @ swapaxes(x @ w_key, 1, 2) / sqrt(w_key.shape[-1])",
            "scores = (x @ w_query) @ swapaxes(x @ w_key, 1, 2) / sqrt(w_key.shape[-1])",
        ),
    ],
)
def test_values(student, rng, matrices):
    """Without padding, every word looks at every word.

    没有填充时，每个词都看每个词。
    """
    x = floats(rng, B, T, D)
    output, weights = student.call("self_attention", x, *matrices, returns=PARTS)
    expected = self_attention(x, *matrices)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Which axis of the scores (B, T, T) is the keys? The last.",
            "分数 (B, T, T) 的哪个轴是键？最后一个。",
        ),
        (
            "The mask (B, T) hides keys, for all queries: give it an axis for the queries.",
            "掩码 (B, T) 对所有查询遮住键：给它加一个查询轴。",
        ),
        (
            "scores = where(mask[:, None, :], scores, -1e9), before the softmax.",
            "在 softmax 之前：scores = where(mask[:, None, :], scores, -1e9)。",
        ),
    ],
)
def test_mask(student, rng, matrices, mask):
    """No word attends to padding.

    没有词会看填充。
    """
    x = floats(rng, B, T, D)
    output, weights = student.call("self_attention", x, *matrices, mask, returns=PARTS)
    expected = self_attention(x, *matrices, mask)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "Change a padded word: which outputs of real words may change? None.",
            "改变一个填充词：真实的词的输出有哪些会变？都不会。",
        ),
        (
            "A padded word must be out before the softmax, whatever its score is.",
            "填充词无论分数多少，都要在 softmax 之前去掉。",
        ),
        ("Replace its scores, do not add to them or multiply them.", "替换它的分数，而不是加上或乘以什么。"),
    ],
)
def test_padding_does_not_matter(student, rng, matrices, mask):
    """What stands in the padding changes nothing for the real words.

    填充处的内容不影响真实的词。
    """
    x = floats(rng, B, T, D)
    changed = np.where(mask[..., None], x, 100 * floats(rng, B, T, D)).astype("float32")
    output, _ = student.call("self_attention", changed, *matrices, mask, returns=PARTS)
    expected, _ = self_attention(x, *matrices, mask)
    equal(output, expected, "output", where=mask[..., None])


@pytest.mark.check(
    points=2,
    hints=[
        (
            "build makes the weights, call uses them by the function above.",
            "build 创建权重，call 用上面的函数来使用它们。",
        ),
        (
            "self.w_query = self.add_weight(shape=(inputs_shape[-1], self.key_dim)), and so on.",
            "self.w_query = self.add_weight(shape=(inputs_shape[-1], self.key_dim))，其余类似。",
        ),
        (
            "call returns self_attention(inputs, self.w_query, self.w_key, self.w_value, mask).",
            "call 返回 self_attention(inputs, self.w_query, self.w_key, self.w_value, mask)。",
        ),
    ],
)
def test_layer(student, rng, matrices, mask):
    """The layer owns the three matrices and uses the mask.

    层拥有三个矩阵，并使用掩码。
    """
    x = floats(rng, B, T, D)
    output, weights = student.layer(
        "SelfAttention",
        x,
        mask=mask,
        options={"key_dim": DK, "value_dim": DV},
        weights=dict(zip(("w_query", "w_key", "w_value"), matrices, strict=True)),
        returns=PARTS,
    )
    expected = self_attention(x, *matrices, mask)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")
