"""Attention within blocks: a sequence of n tokens as N blocks of s, each of which sees a few others.

Shapes: B batch, H heads, n length (a multiple of s, after padding), N = n / s blocks, K visible keys a
block, D width of queries and keys, Dv width of values; `·` is any width. No tensor has more than n · K
elements a head.
"""

import math

import keras
from keras import ops

from keras_attention.functional import LOWEST, dot_scores, masked_softmax

__all__ = [
    "BROKEN",
    "HIDDEN",
    "SOUND",
    "as_bias",
    "attend_biased",
    "attend_blocks",
    "merge_blocks",
    "pad_to_blocks",
    "reorder",
    "replace",
    "scatter_blocks",
    "set_aside",
    "split_blocks",
    "with_neighbours",
]

HIDDEN, SOUND, BROKEN = 0, 1, 2  # what a token may be, as a key: never seen, seen, seen as NaN


def pad_to_blocks(x, size):
    """Zeros at the end of axis 2, up to one or more whole blocks: (B, H, T, ·) → (B, H, n, ·).

    >>> pad_to_blocks(ops.ones((2, 3, 7, 4)), 5).shape
    TensorShape([2, 3, 10, 4])
    """
    length = ops.shape(x)[2]
    missing = -length % size + size * (0**length)  # of nothing, one block
    return ops.pad(x, ((0, 0), (0, 0), (0, missing), (0, 0)))


def split_blocks(x, size):
    """(B, H, n, ·) → (B, H, N, s, ·)."""
    batch, heads, length, width = ops.shape(x)
    return ops.reshape(x, (batch, heads, length // size, size, width))


def merge_blocks(x):
    """(B, H, N, s, ·) → (B, H, n, ·), the inverse of `split_blocks`."""
    batch, heads, count, size, width = ops.shape(x)
    return ops.reshape(x, (batch, heads, count * size, width))


def with_neighbours(blocks, before=1, after=1):
    """Every block with those before and after it: (B, H, N, s, ·) → (B, H, N, (before + 1 + after) · s, ·).

    Beyond the ends there are zeros.

    >>> blocks = ops.reshape(ops.arange(1, 7), (1, 1, 3, 2, 1))
    >>> with_neighbours(blocks, after=0)[0, 0, :, :, 0].numpy()
    array([[0, 0, 1, 2],
           [1, 2, 3, 4],
           [3, 4, 5, 6]], dtype=int32)
    """
    padded = ops.pad(blocks, ((0, 0), (0, 0), (before, after), (0, 0), (0, 0)))
    # slice, since the gradient of padded[:, :, i : i + N] is slow in TensorFlow
    shifted = [ops.slice(padded, (0, 0, i, 0, 0), ops.shape(blocks)) for i in range(before + 1 + after)]
    return ops.concatenate(shifted, axis=3)


def set_aside(key, value, mask=None):
    """Takes garbage out of keys and values, and says what each token is, since 0 · NaN is NaN.

    Args:
        key: (B, H, T, D).
        value: (B, H, T, Dv).
        mask: (B, T), True = a real token.

    Returns:
        key, value, with zeros for what is not finite; kind (B, 1, T, 1): HIDDEN, SOUND or BROKEN.

    >>> key, value, kind = set_aside(ops.ones((1, 1, 2, 1)), ops.array([[[[1.0], [math.nan]]]]))
    >>> value.numpy().ravel(), kind.numpy().ravel()
    (array([1., 0.], dtype=float32), array([1, 2], dtype=int32))
    """
    sound = ops.logical_and(
        ops.all(ops.isfinite(key), axis=(1, 3), keepdims=True),
        ops.all(ops.isfinite(value), axis=(1, 3), keepdims=True),
    )  # (B, 1, T, 1)
    kind = ops.where(sound, SOUND, BROKEN)
    if mask is not None:
        kind = ops.where(mask[:, None, :, None], kind, HIDDEN)
    return ops.where(sound, key, 0), ops.where(sound, value, 0), ops.cast(kind, "int32")


def attend_blocks(query, key, value, kind, *, visible=True, bias=0.0, scale=None, dropout=None):
    """softmax(scale · query · keyᵀ + bias) · value within each block, over the keys that are visible.

    Every query must see a key, or count for nothing.

    Args:
        query: (B, H, N, s, D).
        key: (B, H, N, K, D), those which the block sees.
        value: (B, H, N, K, Dv).
        kind: (B, H, N, K, 1), as from `set_aside`, of the keys. Who sees a BROKEN one gets NaN.
        visible: boolean, broadcasts to (B, H, N, s, K): the pattern.
        bias: added to the scores, of the same shapes.
        scale: None means 1 / √D.
        dropout: function applied to the weights before they meet the values.

    Returns:
        output (B, H, N, s, Dv), weights (B, H, N, s, K) before the dropout, scores (B, H, N, s, K)

    >>> query, key, value = ops.ones((1, 1, 1, 2, 1)), ops.zeros((1, 1, 1, 3, 1)), ops.ones((1, 1, 1, 3, 5))
    >>> output, weights, _ = attend_blocks(query, key, value, kind=ops.array([1, 1, 0])[:, None])
    >>> output.shape, weights.numpy()[0, 0, 0]
    (TensorShape([1, 1, 1, 2, 5]), array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ]], dtype=float32))
    """
    return attend_biased(query, key, value, *as_bias(kind, visible, bias), scale=scale, dropout=dropout)


def as_bias(kind, visible=True, bias=0.0):
    """What of `attend_blocks` is the same for all heads that see the same.

    Returns:
        bias (B, H, N, 1 or s, K), LOWEST at what is hidden; broken (B, H, N, 1 or s, 1), who gets NaN.
    """
    kind = ops.swapaxes(kind, -1, -2)  # (B, H, N, 1, K)
    visible = ops.logical_and(visible, kind != HIDDEN)  # (B, H, N, 1 or s, K)
    broken = ops.any(ops.logical_and(visible, kind == BROKEN), axis=-1, keepdims=True)
    return ops.where(visible, bias, LOWEST), broken


def attend_biased(query, key, value, bias, broken, *, scale=None, dropout=None):
    """`attend_blocks`, of what `as_bias` returns."""
    query, key, value = map(ops.convert_to_tensor, (query, key, value))
    scores = dot_scores(query, key, scale)  # (B, H, N, s, K)
    scores = ops.cast(scores, keras.backend.result_type(scores.dtype, "float32"))
    scores = scores + ops.cast(bias, scores.dtype)
    weights = ops.cast(masked_softmax(scores), value.dtype)
    output = ops.matmul(weights if dropout is None else dropout(weights), value)  # (B, H, N, s, Dv)
    return ops.where(broken, math.nan, output), weights, scores


def reorder(x, order):
    """Row i of axis 2 becomes row order[i]: (B, H, n, ·), (B, H, n) → (B, H, n, ·).

    >>> reorder(ops.array([[[[5.0], [6.0], [7.0]]]]), ops.array([[[2, 0, 1]]]))[0, 0, :, 0].numpy()
    array([7., 5., 6.], dtype=float32)
    """
    batch, heads, length, width = ops.shape(x)
    rows = batch * heads * length
    first = ops.reshape(ops.arange(batch * heads) * length, (batch, heads, 1))  # where each head starts
    index = ops.reshape(order + first, (rows,))
    # axis 1, since TensorFlow's gradient for axis 0 is sparse
    return ops.reshape(
        ops.take(ops.reshape(x, (1, rows, width)), index, axis=1), (batch, heads, length, width)
    )


def replace(x, rows, positions):
    """Row positions[g] of axis 2 becomes rows[g]; a position beyond the end is ignored.

    Args:
        x: (B, H, n, ·).
        rows: (B, H, G, ·).
        positions: (G,).

    >>> replace(ops.zeros((1, 1, 3, 1)), ops.ones((1, 1, 1, 1)), ops.array([1]))[0, 0, :, 0].numpy()
    array([0., 1., 0.], dtype=float32)
    """
    here = ops.equal(ops.arange(ops.shape(x)[2])[:, None], positions)  # (n, G)
    replaced = ops.any(here, axis=1)[:, None]  # (n, 1)
    return ops.where(replaced, ops.take(rows, ops.argmax(here, axis=1), axis=2), x)


def scatter_blocks(weights, index, count):
    """The matrix of which `attend_blocks` forms the visible part alone; needs memory of n².

    Args:
        weights: (B, H, N, s, K · s).
        index: (H or 1, N, K), the block that block i sees as its k-th, or none (below 0, or N and above).
        count: N.

    Returns:
        (B, H, n, n)

    >>> scatter_blocks(ops.ones((1, 1, 2, 1, 1)), ops.array([[[1], [0]]]), 2).numpy()[0, 0]
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    batch, heads, _, size, _ = ops.shape(weights)
    weights = ops.reshape(weights, (batch, heads, count, size, index.shape[-1], size))
    here = ops.cast(ops.equal(index[..., None], ops.arange(count)), weights.dtype)  # (H or 1, N, K, N)
    here = ops.broadcast_to(here, (heads, *ops.shape(here)[1:]))
    matrix = ops.einsum("bhnskt,hnkm->bhnsmt", weights, here)  # (B, H, N, s, N, s)
    return ops.reshape(matrix, (batch, heads, count * size, count * size))
