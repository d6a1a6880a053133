"""Attention with a kernel φ(q) · φ(k) in the place of exp(q · k), in time and memory linear in the length.

    output_i = Σ_j φ(q_i) · φ(k_j) v_j / Σ_j φ(q_i) · φ(k_j) = φ(q_i) · S / φ(q_i) · z

with S = Σ_j φ(k_j) v_jᵀ and z = Σ_j φ(k_j), of the same size however long the sequence; when causal, the sums
run over j ≤ i, and each step adds its own term to them.

Shapes: B batch, H heads, n length, D width of queries and keys, M number of features, Dv width of values.
"""

import math

import numpy as np
from keras import ops

from keras_attention.blocks import merge_blocks, pad_to_blocks, split_blocks

__all__ = [
    "gaussian_projection",
    "kernel_attention",
    "kernel_sums",
    "kernel_weights",
    "positive_features",
    "read_sums",
]

EPSILON = 1e-6


def kernel_attention(query, key, value, *, causal=False, chunk_size=128):
    """Σ_j φ(q_i) · φ(k_j) v_j / Σ_j φ(q_i) · φ(k_j).

    The causal sums are those of whole chunks, added up, and of what comes before i in its own chunk; nothing
    of a later token enters, not even a rounding error.

    Args:
        query, key: features φ(q), φ(k), (B, H, n, M), not negative. A key of zeros is never seen, a query of
            zeros gets zeros.
        value: (B, H, n, Dv).
        causal: sum over j ≤ i alone.
        chunk_size: of the causal form; the result does not depend on it.

    Returns:
        (B, H, n, Dv)

    Paper: Katharopoulos et al., 2020, "Transformers are RNNs: Fast Autoregressive Transformers with Linear
    Attention".

    >>> ones = ops.ones((1, 1, 3, 2))
    >>> kernel_attention(ones, ones, ops.array([[[[1.0], [2.0], [6.0]]]]), causal=True)[0, 0, :, 0].numpy()
    array([1. , 1.5, 3. ], dtype=float32)
    """
    value = ops.where(ops.any(key != 0, axis=-1, keepdims=True), value, 0)  # else 0 · NaN would be NaN
    if not causal:
        return read_sums(query, kernel_sums(key, value))
    length = ops.shape(query)[2]
    if isinstance(length, int):
        chunk_size = max(1, min(chunk_size, length))
    sound = ops.all(ops.isfinite(value), axis=-1, keepdims=True)  # (B, H, n, 1)
    key, value = ops.where(sound, key, math.nan), ops.where(sound, value, 0)  # NaN for those who see it alone
    value = _with_ones(value)  # (B, H, n, Dv + 1)
    query, key, value = (split_blocks(pad_to_blocks(x, chunk_size), chunk_size) for x in (query, key, value))

    scores = ops.matmul(query, ops.swapaxes(key, -1, -2))  # (B, H, N, s, s)
    past = np.tri(chunk_size, dtype=bool)
    inside = ops.matmul(ops.where(past, scores, 0), value)  # (B, H, N, s, Dv + 1)

    sums = ops.matmul(ops.swapaxes(key, -1, -2), value)  # (B, H, N, M, Dv + 1)
    before = ops.cumsum(sums[:, :, :-1], axis=2)  # (B, H, N − 1, M, Dv + 1)
    before = ops.pad(before, ((0, 0), (0, 0), (1, 0), (0, 0), (0, 0)))  # (B, H, N, M, Dv + 1)
    return _normalise(merge_blocks(inside + ops.matmul(query, before)))[:, :, :length]


def kernel_sums(key, value):
    """[S, z] = Σ_j φ(k_j) [v_j, 1]ᵀ: (B, H, n, M), (B, H, n, Dv) → (B, H, M, Dv + 1)."""
    return ops.matmul(ops.swapaxes(key, -1, -2), _with_ones(value))


def read_sums(query, sums):
    """φ(q_i) · S / φ(q_i) · z: (B, H, n, M), (B, H, M, Dv + 1) → (B, H, n, Dv); 0 where the divisor is 0."""
    return _normalise(ops.matmul(query, sums))


def kernel_weights(query, key, causal=False):
    """φ(q_i) · φ(k_j) / Σ_j φ(q_i) · φ(k_j), the weights that `kernel_attention` never forms: (B, H, n, n).

    >>> kernel_weights(ops.ones((1, 1, 2, 1)), ops.ones((1, 1, 2, 1)), causal=True).numpy()[0, 0]
    array([[1. , 0. ],
           [0.5, 0.5]], dtype=float32)
    """
    scores = ops.matmul(query, ops.swapaxes(key, -1, -2))  # (B, H, n, n)
    if causal:
        scores = ops.where(ops.tril(ops.ones_like(scores[0, 0], dtype="bool")), scores, 0)
    return _normalise(_with_sums(scores))


def positive_features(x, projection):
    """φ(x) = exp(W x − |x|² / 2) / √M, where E[φ(x) · φ(y)] = exp(x · y) for rows of W that are Gaussian.

    With independent rows the squared error is exp(2 x · y) (exp(|x + y|²) − 1) / M on average.

    Args:
        x: (..., n, D).
        projection: W, (M, D).

    Returns:
        features (..., n, M) and scale (..., n, 1), where φ(x) = features · exp(scale). The largest feature is
        1 / √M, and 10⁻⁶ / √M is added to all, so that they never vanish together.

    Paper: Choromanski et al., 2021, "Rethinking Attention with Performers".

    >>> x = ops.array([[0.3, 0.4]])
    >>> features, scale = positive_features(x, ops.convert_to_tensor(gaussian_projection(4096, 2, seed=0)))
    >>> estimate = float(ops.sum((features * ops.exp(scale)) ** 2))
    >>> abs(estimate - math.exp(0.3**2 + 0.4**2)) < 0.05
    True
    """
    exponents = ops.matmul(x, ops.transpose(projection))  # (..., n, M)
    largest = ops.stop_gradient(ops.max(exponents, axis=-1, keepdims=True, initial=-math.inf))  # (..., n, 1)
    share = 1 / math.sqrt(projection.shape[0])
    features = ops.exp(exponents - (largest - math.log(share))) + EPSILON * share
    return features, largest - ops.sum(x**2, axis=-1, keepdims=True) / 2


def gaussian_projection(num_features, width, orthogonal=True, *, seed):
    """Random directions, each N(0, I): (M, D), an array of NumPy, the same on every backend.

    Args:
        num_features: M.
        width: D.
        orthogonal: make every D rows orthogonal to one another (of lengths that are still those of Gaussian
            vectors), which keeps each row's distribution and lowers the error of `positive_features`.
        seed: an integer of 0 or more.

    >>> rows = gaussian_projection(3, 3, seed=0)
    >>> np.allclose(rows @ rows.T, np.diag(np.diag(rows @ rows.T)), atol=1e-6)
    True
    """
    rng = np.random.default_rng([seed, num_features, width])  # not the numbers that the data may come from
    rows = rng.normal(size=(num_features, width))
    if orthogonal:
        count = -(-num_features // width)
        directions, triangle = np.linalg.qr(rng.normal(size=(count, width, width)))
        directions *= np.sign(np.diagonal(triangle, axis1=1, axis2=2))[:, None]  # else they are not uniform
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = lengths * directions.reshape(-1, width)[:num_features]
    return rows.astype("float32")


def _with_ones(value):
    """[v, 1]: (..., Dv) → (..., Dv + 1)."""
    return ops.concatenate([value, ops.ones_like(value[..., :1])], axis=-1)


def _with_sums(scores):
    """(..., n) → (..., n + 1)."""
    return ops.concatenate([scores, ops.sum(scores, axis=-1, keepdims=True)], axis=-1)


def _normalise(x):
    """All but the last feature, divided by the last: (..., D + 1) → (..., D); 0 / 0 is 0."""
    total = x[..., -1:]
    empty = total == 0
    return ops.where(empty, 0, x[..., :-1] / ops.where(empty, 1, total))
