"""Checks of ex11, with a reference in NumPy: loops for the masks, and dense attention under a mask."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats, softmax

B, T, D, DV, WINDOW = 3, 11, 5, 4, 3
PARTS = ("output", "weights")


def window_mask(length, window):
    return np.array([[abs(i - j) <= window for j in range(length)] for i in range(length)])


def longformer_mask(length, window, global_tokens):
    mask = window_mask(length, window)
    mask[global_tokens] = True
    mask[:, global_tokens] = True
    return mask


def big_bird_mask(length, block_size, random_blocks):
    last = len(random_blocks) - 1

    def sees(i, j):
        return abs(i - j) <= 1 or {i, j} & {0, last} or j in random_blocks[i]

    blocks = [i // block_size for i in range(length)]
    return np.array([[bool(sees(i, j)) for j in blocks] for i in blocks])


def window_attention(query, key, value, mask, window):
    length = query.shape[1]
    scores = np.einsum("bqd,bkd->bqk", query, key, dtype="float64") / np.sqrt(query.shape[-1])
    visible = window_mask(length, window) & mask[:, None, :]
    weights = softmax(np.where(visible, scores, -np.inf))
    padded = np.pad(weights, ((0, 0), (0, 0), (window, window)))
    band = np.stack([padded[:, i, i : i + 2 * window + 1] for i in range(length)], axis=1)
    return weights @ value, band


@pytest.fixture
def inputs(rng):
    return 2 * floats(rng, B, T, D), floats(rng, B, T, D), floats(rng, B, T, DV)


@pytest.fixture
def mask(rng):
    """The sentences have different lengths; the last words of the shortest see nothing but padding."""
    lengths = T - WINDOW - 2 - 2 * rng.permutation(B)  # at most 6, at least 2
    return np.arange(T) < lengths[:, None]


@pytest.mark.check(
    points=1,
    hints=[
        (
            "How far is key j from query i? That is |i − j|, a matrix.",
            "第 j 个键离第 i 个查询多远？|i − j|，是一个矩阵。",
        ),
        (
            "Positions as a column minus positions as a row: position[:, None] - position[None, :].",
            "把位置写成列，减去写成行的位置：position[:, None] - position[None, :]。",
        ),
        (
            "abs(position[:, None] - position[None, :]) <= window",
            "abs(position[:, None] - position[None, :]) <= window",
        ),
    ],
)
def test_window_mask(student, rng):
    """window_mask shows each query itself and its neighbours on both sides.

    window_mask 让每个查询看到自己和两侧的邻居。
    """
    for length, window in ((int(8 + rng.integers(4)), 3), (int(5 + rng.integers(3)), 2), (3, 3), (4, 0)):
        equal(student.call("window_mask", length, window), window_mask(length, window), "mask")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "A global token fills its row, for it sees all, and its column, for all see it.",
            "全局词元的整行为 True（它看所有词），整列也为 True（所有词都看它）。",
        ),
        (
            "Make a vector (T,), True at the global tokens; as a column it fills rows, as a row columns.",
            "先做一个向量 (T,)，在全局词元处为 True；作为列广播填满行，作为行广播填满列。",
        ),
        (
            "window_mask(…) | is_global[:, None] | is_global[None, :]",
            "window_mask(…) | is_global[:, None] | is_global[None, :]",
        ),
    ],
)
def test_longformer_mask(student, rng):
    """longformer_mask adds global tokens, which see all and are seen by all.

    longformer_mask 加上全局词元：它们看所有词，也被所有词看到。
    """
    for count in (2, 1):
        length = int(9 + rng.integers(4))
        global_tokens = (3 + rng.permutation(length - 3)[:count]).tolist()
        expected = longformer_mask(length, 1, global_tokens)
        equal(student.call("longformer_mask", length, 1, global_tokens), expected, "mask")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "First the pattern of the blocks (N, N); then each of its cells becomes a square of tokens.",
            "先写块与块之间的模式 (N, N)；然后把每一格放大成词与词之间的一个方块。",
        ),
        (
            "The pattern is longformer_mask(N, 1, [0, N − 1]) or, in row i, the blocks of random_blocks[i].",
            "模式是 longformer_mask(N, 1, [0, N − 1])，再加上第 i 行中 random_blocks[i] 里的块。",
        ),
        (
            "Token i is in the block i // block_size: mask[i, j] = blocks[i // block_size, j // block_size].",
            "第 i 个词在第 i // block_size 块：mask[i, j] = blocks[i // block_size, j // block_size]。",
        ),
    ],
)
def test_big_bird_mask(student, rng):
    """big_bird_mask: neighbours, the first and the last block, and random ones; the last may not be full.

    big_bird_mask：相邻的块、第一块、最后一块和随机的块；最后一块可以不满。
    """
    for count, size in ((8, 3), (7, 2), (9, 1)):
        length = count * size - size // 2
        random_blocks = np.stack([draw_blocks(rng, i, count) for i in range(count)]).astype("int32")
        expected = big_bird_mask(length, size, random_blocks)
        equal(student.call("big_bird_mask", length, size, random_blocks), expected, "mask")


def draw_blocks(rng, i, count):
    """Two blocks that block i does not see anyway, unless it sees all."""
    seen = {i - 1, i, i + 1, 0, count - 1} if 0 < i < count - 1 else set()
    return rng.permutation([j for j in range(count) if j not in seen])[:2]


@pytest.mark.check(
    points=3,
    hints=[
        (
            "Query i sees the keys i − window … i + window. Write these numbers as a matrix, row by row.",
            "第 i 个查询看第 i − window 到 i + window 个键。把这些编号逐行写成矩阵。",
        ),
        (
            "Take the keys by that matrix (T, 2 · window + 1). The scores are their products with the query.",
            "用这个矩阵 (T, 2 · window + 1) 取出键。分数是它们与查询的点积。",
        ),
        (
            "Numbers below 0 or from T on are no keys: replace them by any that is, and hide their scores.",
            "小于 0 或不小于 T 的编号不是键：先换成任意有效的编号，再遮住它们的分数。",
        ),
    ],
)
def test_window_attention(student, inputs):
    """Attention within the window equals dense attention under its mask; its weights are a band.

    窗口内的注意力等于加了窗口掩码的稠密注意力；权重排成一条带。
    """
    mask = np.ones((B, T), bool)
    for window in (WINDOW, 1):
        output, weights = student.call("window_attention", *inputs, mask, window, returns=PARTS)
        expected = window_attention(*inputs, mask, window)
        equal(weights, expected[1], "weights")
        equal(output, expected[0], "output")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "The mask (B, T) belongs to the keys: take it by the same numbers as the keys.",
            "掩码 (B, T) 属于键：用取键的编号同样取出掩码。",
        ),
        (
            "A score counts only if its key is inside the sentence and real; hide it before the softmax.",
            "只有键在句内并且是真实的词，分数才算数；要在 softmax 之前遮住其余的分数。",
        ),
        (
            "A query deep in the padding sees no key: after the softmax, put zeros where nothing is visible.",
            "填充深处的查询看不到任何键：softmax 之后，把这样的行置零。",
        ),
    ],
)
def test_padding(student, rng, inputs, mask):
    """Padding is not seen, whatever stands in it; a query that sees no key gets zeros.

    填充不会被看到，不管里面是什么；看不到任何键的查询得到 0。
    """
    query, key, value = inputs
    real = mask[..., None]
    for scale in (1, 100):
        noisy = [np.where(real, x, scale * floats(rng, *x.shape)).astype("float32") for x in (key, value)]
        output, weights = student.call("window_attention", query, *noisy, mask, WINDOW, returns=PARTS)
        expected = window_attention(query, key, value, mask, WINDOW)
        equal(weights, expected[1], "weights")
        equal(output, expected[0], "output")
