"""Checks of ex10, with a reference in NumPy, one text at a time."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats, softmax

B, T, D, U = 3, 7, 5, 4
PARTS = ("output", "weights")


def attention_pooling(states, w, b, v, mask=None):
    scores = np.tanh(states.astype("float64") @ w + b) @ v
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    return np.einsum("bt,btd->bd", weights, states), weights


@pytest.fixture
def lengths(rng):
    """Another for each text, from 2 to T − 1."""
    return 2 + rng.permutation(T - 2)[:B]


@pytest.fixture
def mask(lengths):
    return np.arange(T) < lengths[:, None]


@pytest.fixture
def states(rng, mask):
    """What stands in the padding is large."""
    return np.where(mask[..., None], 1, 20).astype("float32") * floats(rng, B, T, D)


@pytest.fixture
def matrices(rng):
    return [floats(rng, D, U), floats(rng, U), 2 * floats(rng, U)]


@pytest.mark.check(
    points=1,
    hints=[
        (
            "Column −1 is padding in most texts. How many words of a text are real?",
            "大多数文本的第 −1 列是填充。一个文本有多少个真实的词？",
        ),
        (
            "The sum of the mask along T is the length; the last real word stands at length − 1.",
            "掩码沿 T 求和就是长度；最后一个真实的词在位置 length − 1。",
        ),
        (
            "In NumPy: states[arange(B), mask.sum(axis=1) - 1]; in keras.ops: take_along_axis.",
            "NumPy：states[arange(B), mask.sum(axis=1) - 1]；keras.ops：take_along_axis。",
        ),
    ],
)
def test_last_state(student, states, mask, lengths):
    """last_state finds the last real word of each text.

    last_state 找到每个文本最后一个真实的词。
    """
    expected = np.array([text[n - 1] for text, n in zip(states, lengths, strict=True)])
    equal(student.call("last_state", states, mask), expected, "state")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "A mean is a sum divided by a number. Which words are in the sum, and how many are they?",
            "平均等于总和除以个数。哪些词在总和里，一共多少个？",
        ),
        (
            "Multiply the states by the mask, sum along T, divide by the number of real words of each text.",
            "状态乘以掩码，沿 T 求和，再除以每个文本真实的词的个数。",
        ),
        (
            "With real = cast(mask, 'float32')[:, :, None]: sum(states * real, axis=1) / sum(real, axis=1).",
            "令 real = cast(mask, 'float32')[:, :, None]：sum(states * real, axis=1) / sum(real, axis=1)。",
        ),
    ],
)
def test_mean_state(student, states, mask, lengths):
    """mean_state is the mean of the real words alone.

    mean_state 只对真实的词取平均。
    """
    expected = np.array([text[:n].mean(axis=0) for text, n in zip(states, lengths, strict=True)])
    equal(student.call("mean_state", states, mask), expected, "mean")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "One score a word, one weight a word: (B, T). The weights of a text sum to 1.",
            "每个词一个分数、一个权重：(B, T)。每个文本的权重之和为 1。",
        ),
        (
            "hidden = tanh(states @ w + b) is (B, T, U); its product with v is the scores.",
            "hidden = tanh(states @ w + b)，形状 (B, T, U)；与 v 相乘得到分数。",
        ),
        (
            "weights = softmax(hidden @ v); output = sum(weights[:, :, None] * states, axis=1)",
            "weights = softmax(hidden @ v); output = sum(weights[:, :, None] * states, axis=1)",
        ),
    ],
)
def test_attention_pooling(student, rng, matrices):
    """Without padding, each word counts by its score.

    没有填充时，每个词的比重由它的分数决定。
    """
    states = floats(rng, B, T, D)
    output, weights = student.call("attention_pooling", states, *matrices, returns=PARTS)
    expected = attention_pooling(states, *matrices)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Padding gets the weight 0, and the real words share 1: hide its scores before the softmax.",
            "填充的权重为 0，真实的词的权重之和为 1：在 softmax 之前遮住它的分数。",
        ),
        (
            "A score of 0 still counts, since exp(0) = 1. Which number has the exponential 0?",
            "分数为 0 时仍有权重，因为 exp(0) = 1。x 是什么数时，exp(x) 才等于 0？",
        ),
        ("scores = where(mask, scores, -1e9)", "scores = where(mask, scores, -1e9)"),
    ],
)
def test_padding(student, states, matrices, mask):
    """Padding has no weight, whatever stands there.

    填充没有权重，不管那里是什么。
    """
    output, weights = student.call("attention_pooling", states, *matrices, mask, returns=PARTS)
    expected = attention_pooling(states, *matrices, mask)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=1,
    hints=[
        ("A text without words: nothing to sum, so the sum is 0.", "没有词的文本：没有可加的，和就是 0。"),
        (
            "If all scores are equally low, softmax makes them uniform: put zeros in afterwards.",
            "所有分数同样低时，softmax 会给出均匀的权重：之后要再置零。",
        ),
        (
            "After the softmax: weights = where(mask, weights, 0).",
            "softmax 之后：weights = where(mask, weights, 0)。",
        ),
    ],
)
def test_empty_text(student, rng, states, matrices, mask):
    """A text without real words gives zeros, neither NaN nor the mean of its padding.

    没有真实的词的文本得到 0，而不是 NaN 或填充的平均。
    """
    mask[rng.integers(B)] = False
    output, weights = student.call("attention_pooling", states, *matrices, mask, returns=PARTS)
    expected = attention_pooling(states, *matrices, mask)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "build makes the weights w, b and v, call uses them by the function above.",
            "build 创建权重 w、b、v，call 用上面的函数来使用它们。",
        ),
        (
            "self.w = self.add_weight(shape=(inputs_shape[-1], self.units)); b and v are (self.units,).",
            "self.w = self.add_weight(shape=(inputs_shape[-1], self.units))；b 和 v 的形状是 (self.units,)。",
        ),
        (
            "call returns attention_pooling(inputs, self.w, self.b, self.v, mask).",
            "call 返回 attention_pooling(inputs, self.w, self.b, self.v, mask)。",
        ),
    ],
)
def test_layer(student, states, matrices, mask):
    """The layer owns w, b and v, and uses the mask.

    层拥有 w、b、v，并使用掩码。
    """
    output, weights = student.layer(
        "AttentionPooling",
        states,
        mask=mask,
        options={"units": U},
        weights=dict(zip("wbv", matrices, strict=True)),
        returns=PARTS,
    )
    expected = attention_pooling(states, *matrices, mask)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")
