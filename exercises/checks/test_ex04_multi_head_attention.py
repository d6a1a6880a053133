"""Checks of ex04, with a reference in NumPy, one head at a time."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats, softmax

B, H, TQ, TK, D, DK, DV = 2, 3, 5, 7, 8, 6, 4
PARTS = ("output", "weights")


def attend(query, key, value, mask=None):
    """Each head takes its own columns."""
    outputs, weights = [], []
    for h in range(H):
        q, k = (x[..., h * DK : (h + 1) * DK].astype("float64") for x in (query, key))
        scores = np.einsum("bqd,bkd->bqk", q, k) / np.sqrt(DK)
        weights.append(softmax(scores if mask is None else np.where(mask, scores, -np.inf)))
        outputs.append(weights[-1] @ value[..., h * DV : (h + 1) * DV])
    return np.concatenate(outputs, -1), np.stack(weights, 1)


@pytest.fixture
def projected(rng):
    return floats(rng, B, TQ, H * DK), floats(rng, B, TK, H * DK), floats(rng, B, TK, H * DV)


@pytest.fixture
def padding(rng):
    """Of the keys: which are real; each sentence has another length."""
    lengths = 3 + rng.permutation(TK - 3)[:B]
    return np.arange(TK) < lengths[:, None]


@pytest.fixture
def mask(rng, padding):
    """Hides the padding, and of each query some other keys, but never the first."""
    return padding[:, None] & ((rng.random((B, TQ, TK)) < 0.6) | (np.arange(TK) == 0))


@pytest.mark.check(
    points=1,
    hints=[
        (
            "reshape cuts the last axis into heads, but it cannot move an axis.",
            "reshape 能把最后一个轴切成多个头，但不能移动轴。",
        ),
        (
            "Reshape to (B, T, H, Dk) first: neighbours stay neighbours. Then exchange T and H.",
            "先 reshape 成 (B, T, H, Dk)，相邻的仍然相邻；再交换 T 和 H。",
        ),
        (
            "transpose(reshape(x, (B, T, H, width // H)), (0, 2, 1, 3))",
            "transpose(reshape(x, (B, T, H, width // H)), (0, 2, 1, 3))",
        ),
    ],
)
def test_split_heads(student, rng):
    """split_heads gives head h the h-th block of features.

    split_heads 把第 h 段特征分给第 h 个头。
    """
    x = floats(rng, B, TQ, H * DK)
    expected = np.stack([x[..., h * DK : (h + 1) * DK] for h in range(H)], 1)
    equal(student.call("split_heads", x, H), expected, "heads")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "All heads' results for one word belong side by side, in the order of the heads.",
            "同一个词在各个头的结果应按头的顺序并排放。",
        ),
        (
            "Do the steps of split_heads backwards: exchange H and T, then reshape.",
            "把 split_heads 的步骤反过来：先交换 H 和 T，再 reshape。",
        ),
        (
            "reshape(transpose(heads, (0, 2, 1, 3)), (B, T, H * Dv))",
            "reshape(transpose(heads, (0, 2, 1, 3)), (B, T, H * Dv))",
        ),
    ],
)
def test_merge_heads(student, rng):
    """merge_heads lays the heads of each word side by side.

    merge_heads 把每个词的各个头并排放。
    """
    heads = floats(rng, B, H, TQ, DV)
    equal(student.call("merge_heads", heads), np.concatenate(list(np.swapaxes(heads, 0, 1)), -1), "x")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "After split_heads, (B, H) is like a larger batch: the rest is ex01 on the last two axes.",
            "split_heads 之后，(B, H) 就像更大的批次：其余与 ex01 相同，作用在最后两个轴上。",
        ),
        (
            "d_k is the width of one head, not of all heads together.",
            "d_k 是一个头的宽度，不是所有头加起来的宽度。",
        ),
        (
            "scores = matmul(q, transpose(k, (0, 1, 3, 2))) / sqrt(q.shape[-1]), with q and k split.",
            "scores = matmul(q, transpose(k, (0, 1, 3, 2))) / sqrt(q.shape[-1])，q 和 k 已分成多个头。",
        ),
    ],
)
def test_values(student, projected):
    """Each head attends by itself, and the outputs stand side by side.

    每个头各做各的注意力，输出并排。
    """
    output, weights = student.call("multi_head_attention", *projected, H, returns=PARTS)
    expected = attend(*projected)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "The scores are (B, H, Tq, Tk), the mask is (B, Tq, Tk). Which axis is missing?",
            "分数是 (B, H, Tq, Tk)，掩码是 (B, Tq, Tk)。缺了哪个轴？",
        ),
        (
            "Give the mask an axis for the heads, and let it broadcast: no copies are needed.",
            "给掩码加一个头的轴，让它广播，不需要复制。",
        ),
        (
            "scores = where(mask[:, None], scores, -1e9), before the softmax.",
            "在 softmax 之前：scores = where(mask[:, None], scores, -1e9)。",
        ),
    ],
)
def test_mask(student, projected, mask):
    """No head attends to what the mask hides.

    任何头都不看被遮住的键。
    """
    output, weights = student.call("multi_head_attention", *projected, H, mask, returns=PARTS)
    expected = attend(*projected, mask)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "Change a key that nobody may see: which outputs may change? None.",
            "改变一个谁都不能看的键：哪些输出会变？都不会。",
        ),
        (
            "A hidden score must be out before the softmax, however large it was.",
            "被遮住的分数无论多大，都要在 softmax 之前去掉。",
        ),
        ("Replace the score, do not add to it or multiply it.", "替换分数，而不是加上或乘以什么。"),
    ],
)
def test_padding_does_not_matter(student, rng, projected, padding):
    """What stands in the padding changes nothing.

    填充处的内容不影响结果。
    """
    query, key, value = projected
    mask = np.repeat(padding[:, None], TQ, axis=1)
    real = padding[..., None]
    changed = [np.where(real, x, 100 * floats(rng, *x.shape)).astype("float32") for x in (key, value)]
    output, weights = student.call("multi_head_attention", query, *changed, H, mask, returns=PARTS)
    expected = attend(query, key, value, mask)
    equal(weights, expected[1], "weights")
    equal(output, expected[0], "output")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Project, attend with the function above, project the output.",
            "先投影，再用上面的函数做注意力，最后投影输出。",
        ),
        (
            "w_query is (D, H · Dk), so that one product serves all heads; w_output is (H · Dv, D).",
            "w_query 是 (D, H · Dk)，一次乘法供所有头使用；w_output 是 (H · Dv, D)。",
        ),
        (
            "output, weights = multi_head_attention(query @ self.w_query, …, self.num_heads, mask); "
            "return output @ self.w_output, weights",
            "output, weights = multi_head_attention(query @ self.w_query, …, self.num_heads, mask); "
            "return output @ self.w_output, weights",
        ),
    ],
)
def test_layer(student, rng, mask):
    """The layer projects its three inputs and its output, and uses the mask.

    层投影三个输入和输出，并使用掩码。
    """
    query, key, value = floats(rng, B, TQ, D), floats(rng, B, TK, D), floats(rng, B, TK, D)
    shapes = {"w_query": (D, H * DK), "w_key": (D, H * DK), "w_value": (D, H * DV), "w_output": (H * DV, D)}
    weights = {name: floats(rng, *shape) / 3 for name, shape in shapes.items()}
    got, got_weights = student.layer(
        "MultiHeadAttention",
        query,
        key,
        value,
        mask=mask,
        options={"num_heads": H, "key_dim": DK, "value_dim": DV},
        weights=weights,
        returns=PARTS,
    )
    w_query, w_key, w_value, w_output = (weights[name].astype("float64") for name in shapes)
    merged, expected_weights = attend(query @ w_query, key @ w_key, value @ w_value, mask)
    equal(got_weights, expected_weights, "weights")
    equal(got, merged @ w_output, "output")
