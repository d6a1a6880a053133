"""Checks of ex13, with a reference in NumPy."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats, softmax

B, T, H, D, F = 2, 5, 3, 12, 7
PARTS = ("output", "weights")
OPTIONS = {"width": D, "num_heads": H, "hidden_width": F}


def layer_norm(x, gain=1.0, shift=0.0):
    x = x.astype("float64")
    return gain * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6) + shift


def block(x, weights, mask=None):
    def dense(name, inputs):
        return inputs @ weights[f"{name}.kernel"] + weights[f"{name}.bias"]

    def norm(name, inputs):
        return layer_norm(inputs, weights[f"{name}.gain"], weights[f"{name}.shift"])

    normed = norm("norm_1", x)
    query, key, value = (np.split(dense(name, normed), H, -1) for name in ("query", "key", "value"))
    scores = np.stack([q @ np.swapaxes(k, 1, 2) for q, k in zip(query, key, strict=True)], 1) / np.sqrt(D / H)
    attention = softmax(scores if mask is None else np.where(mask[:, None], scores, -np.inf))
    heads = [attention[:, h] @ value[h] for h in range(H)]
    y = x + dense("merge", np.concatenate(heads, -1))
    return y + dense("contract", np.maximum(dense("expand", norm("norm_2", y)), 0)), attention


@pytest.fixture
def weights(rng):
    widths = dict.fromkeys(("query", "key", "value", "merge"), (D, D)) | {
        "expand": (D, F),
        "contract": (F, D),
    }
    dense = {f"{name}.kernel": floats(rng, *shape) / 3 for name, shape in widths.items()}
    dense |= {f"{name}.bias": floats(rng, shape[1]) / 3 for name, shape in widths.items()}
    return dense | {
        f"{norm}.{part}": floats(rng, D) for norm in ("norm_1", "norm_2") for part in ("gain", "shift")
    }


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Columns 0 and 1 are the sine and the cosine of one wave, columns 2 and 3 of the next.",
            "第 0、1 列是同一个波的正弦和余弦，第 2、3 列是下一个波的。",
        ),
        (
            "The angles are (T, D / 2): t in the rows, one wave in each column; 2i is arange(0, width, 2).",
            "角度的形状是 (T, D / 2)：每行一个 t，每列一个波；2i 就是 arange(0, width, 2)。",
        ),
        (
            "reshape(stack([sin(angle), cos(angle)], axis=-1), (length, width)) lets them take turns.",
            "reshape(stack([sin(angle), cos(angle)], axis=-1), (length, width)) 让它们交替排列。",
        ),
    ],
)
def test_positional_encoding(student, rng):
    """Sines and cosines take turns, each pair of a slower wave.

    正弦和余弦交替，每一对的波更慢。
    """
    length, width = int(rng.integers(100, 130)), 2 * int(rng.integers(8, 11))
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    expected = np.empty((length, width))
    expected[:, 0::2], expected[:, 1::2] = np.sin(angle), np.cos(angle)
    equal(student.call("positional_encoding", length, width), expected, "p")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Each word is normed by itself: which axis holds the features of a word?",
            "每个词单独归一化：哪个轴是一个词的特征？",
        ),
        (
            "mean and variance along the last axis, with keepdims=True, so that they broadcast.",
            "沿最后一个轴求均值和方差，用 keepdims=True，才能广播。",
        ),
        (
            "gain * (x - mean) / sqrt(variance + 1e-6) + shift: the 1e-6 stands below the root.",
            "gain * (x - mean) / sqrt(variance + 1e-6) + shift：1e-6 在根号里面。",
        ),
    ],
)
def test_layer_norm(student, rng):
    """LayerNorm norms the features of each word, also of one that is zero or nearly so.

    LayerNorm 对每个词的特征做归一化，词全为零或接近零时也正确。
    """
    x = 3 + 2 * floats(rng, B, T, D)
    x[:, 1], x[:, 3] = 0, 1e-3 * floats(rng, B, D)
    gain, shift = floats(rng, D), floats(rng, D)
    got = student.layer("LayerNorm", x, weights={"gain": gain, "shift": shift})
    equal(got, layer_norm(x, gain, shift), "output")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "A new layer should norm and do no more: by which gain and shift?",
            "新的层应只做归一化：gain 和 shift 应是多少？",
        ),
        ("The initializer of a weight says how it starts.", "权重的初始值由 initializer 决定。"),
        (
            'self.gain = self.add_weight(shape=…, initializer="ones"), shift with "zeros".',
            'self.gain = self.add_weight(shape=…, initializer="ones")，shift 用 "zeros"。',
        ),
    ],
)
def test_new_layer_norm(student, rng):
    """A new LayerNorm has the gain 1 and the shift 0.

    新的 LayerNorm 的 gain 是 1，shift 是 0。
    """
    x = 3 + 2 * floats(rng, B, T, D)
    equal(student.layer("LayerNorm", x), layer_norm(x), "output")


@pytest.mark.check(
    points=3,
    hints=[
        (
            "Two steps. Each norms its input, does its work, and adds the result to the input as it was.",
            "分两步。每步先归一化输入，做完自己的事，再把结果加到未归一化的输入上。",
        ),
        (
            "y = inputs + self.merge(…), where the attention works on self.norm_1(inputs).",
            "y = inputs + self.merge(…)，其中注意力作用在 self.norm_1(inputs) 上。",
        ),
        (
            "return y + self.contract(self.expand(self.norm_2(y))), weights",
            "return y + self.contract(self.expand(self.norm_2(y))), weights",
        ),
    ],
)
def test_block(student, rng, weights):
    """The block norms, attends and adds; then norms, feeds forward and adds.

    块先归一化、做注意力、相加；再归一化、做前馈、相加。
    """
    x = floats(rng, B, T, D)
    output, attention = student.layer("TransformerBlock", x, options=OPTIONS, weights=weights, returns=PARTS)
    expected = block(x, weights)
    equal(attention, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "Change the last word: the earlier ones must not notice, when the mask hides it from them.",
            "改变最后一个词：掩码遮住它时，前面的词不应受影响。",
        ),
        (
            "Only the attention looks at other words: it alone needs the mask.",
            "只有注意力会看别的词：只有它需要掩码。",
        ),
        (
            "Pass the mask on as it is: _attention(…, self.num_heads, mask).",
            "把掩码原样传下去：_attention(…, self.num_heads, mask)。",
        ),
    ],
)
def test_mask(student, rng, weights):
    """Neither padding nor the future changes a word, when the mask hides them.

    掩码遮住填充和未来时，它们不影响任何词。
    """
    x, word, end = floats(rng, B, T, D), np.arange(T), int(rng.integers(3, T))
    real = word != 1 + rng.permutation(end - 1)[:B, None]  # in each sentence another word is none
    mask = np.tri(T, dtype=bool) & real[:, None]
    kept = real & (word < end)
    changed = np.where(kept[..., None], x, 20 * floats(rng, B, T, D)).astype("float32")
    parts = student.layer(
        "TransformerBlock", changed, mask=mask, options=OPTIONS, weights=weights, returns=PARTS
    )
    rows = kept[..., None], kept[:, None, :, None]
    for part, right, row, name in zip(parts, block(x, weights, mask), rows, PARTS, strict=True):
        equal(part, right, name, where=row)
