"""How far an efficient layer is from dense attention, on given inputs."""
# mypy: disable-error-code="override"

import dataclasses
import itertools
import math

import numpy as np
from keras import ops
from keras.src.backend import get_keras_mask  # the public API has no name for it

from keras_attention.kernels import positive_features
from keras_attention.layers.performer_attention import PerformerAttention
from keras_attention.layers.reformer_attention import ITSELF, ReformerAttention, unit
from keras_attention.layers.self_attention import SelfAttention

__all__ = ["ExactnessReport", "exactness_report", "predicted_output_error"]


@dataclasses.dataclass(frozen=True)
class ExactnessReport:
    """What `exactness_report` finds, over the real tokens.

    Attributes:
        largest_error: the largest absolute difference of the outputs.
        mean_error: the mean absolute difference of the outputs.
        relative_error: |output − dense output| / |dense output|, Euclidean norms; 1 is as bad as zeros.
        covered_mass: share of the dense layer's attention that falls on keys that the layer sees, the mean
            over queries and heads: 1 for what sees all.
        kernel_error: for Performer, the relative error of its exp(q · k / √Dk): the root of the mean square,
            in which a pair counts by its dense weight; else None.
        predicted_kernel_error: the mean of that over all draws of independent features,
            √((exp(|q + k|² / √Dk) − 1) / M); orthogonal ones should do no worse. Where it is large, a single
            draw shows less, since the mean is made by rare draws.
        predicted_error: for Performer, the relative_error that independent features have on average, to first
            order in 1 / M, so for errors well below 1: see `predicted_output_error`.
    """

    largest_error: float
    mean_error: float
    relative_error: float
    covered_mass: float
    kernel_error: float | None = None
    predicted_kernel_error: float | None = None
    predicted_error: float | None = None


def exactness_report(layer, x, mask=None, causal=False):
    """Compares an efficient layer with dense attention of the same weights, on given inputs.

    The dense layer is `SelfAttention` in float32; for Reformer it shares queries and keys and looks at itself
    last, as Reformer does. It needs memory of n².

    Args:
        layer: `LongformerAttention`, `BigBirdAttention`, `PerformerAttention`, `ReformerAttention`,
            `LinearAttention` or another `SelfAttention`.
        x: (B, n, D).
        mask: (B, n), True = a real token; left out, it is the Keras mask of x.
        causal: hide the future.

    Returns:
        an `ExactnessReport`

    Raises:
        ValueError: the layer is of another kind.

    >>> from keras_attention.layers import LongformerAttention
    >>> x = np.random.default_rng(0).normal(size=(2, 9, 8)).astype("float32")
    >>> report = exactness_report(LongformerAttention(3, 4, window=8), x)
    >>> report.largest_error < 1e-5, round(report.covered_mass, 4)
    (True, 1.0)
    """
    if not isinstance(layer, SelfAttention):
        raise ValueError(
            f"{type(layer).__name__} is no self-attention with heads: pass one of the efficient layers."
        )
    mask = get_keras_mask(x) if mask is None else mask
    output, weights = layer(x, mask=mask, use_causal_mask=causal, return_attention_scores=True)
    dense = _dense_like(layer, x)
    dense_output, dense_weights = dense(x, mask=mask, use_causal_mask=causal, return_attention_scores=True)

    real = np.ones(x.shape[:2], bool) if mask is None else _array(mask) > 0  # (B, n)
    output, dense_output, dense_weights = _array(output), _array(dense_output), _array(dense_weights)
    error = abs(output - dense_output)[real]
    pattern = True
    if hasattr(layer, "pattern_mask"):
        pattern = _array(layer.pattern_mask(x.shape[1], causal=causal)) > 0  # (n, n) or (H, n, n)
    elif isinstance(layer, ReformerAttention):
        pattern = _array(weights) > 0  # (B, H, n, n)
    covered = np.sum(dense_weights * pattern, axis=-1)  # (B, H, n)
    of_performer = {}
    if isinstance(layer, PerformerAttention):
        query, key, value = map(_array, dense.heads)  # (B, H, n, ·)
        query, key = query / layer.key_dim**0.25, key / layer.key_dim**0.25
        kernel = _array(dense.output_dense.kernel)  # (H, Dv, …)
        value = value @ kernel.reshape(*kernel.shape[:2], -1)  # (B, H, n, E)
        squared = predicted_output_error(query, key, value, dense_weights) / layer.num_features  # (B, n)
        of_performer = {
            **_kernel_errors(layer, query, key, dense_weights),
            "predicted_error": math.sqrt(squared[real].sum()) / float(np.linalg.norm(dense_output[real])),
        }
    return ExactnessReport(
        largest_error=float(error.max()),
        mean_error=float(error.mean()),
        relative_error=float(np.linalg.norm(error) / np.linalg.norm(dense_output[real])),
        covered_mass=float(covered.mean(axis=1)[real].mean()),
        **of_performer,
    )


def predicted_output_error(query, key, value, weights):
    """M · E|Performer's output − the exact one|², to first order in 1 / M, for independent features.

    With p the exact weights, o_i = Σ_j p_ij v_j and directions that all heads share,

        M · E|Δo_i|² = Σ_jk p_ij p_ik exp((q_i + k_j) · (q_i + k_k)) (v_j − o_i) · (v_k − o_i)

    where j and k run over the keys of all heads, each with its head's q_i and o_i. For j = k the exponential
    is that of the error of a single weight.

    Args:
        query, key: (B, H, n, Dk), scaled by Dk^−¼ as the features are.
        value: (B, H, n, E), what each head adds to the output.
        weights: (B, H, n, n).

    Returns:
        (B, n)
    """
    output = weights @ value  # (B, H, n, E)
    total = 0.0
    for g, h in itertools.product(range(query.shape[1]), repeat=2):
        # of head g and of head h
        q, r, k, m, v, w, o, u = (x[:, head] for x in (query, key, value, output) for head in (g, h))
        left = weights[:, g] * np.exp(r @ k.mT)  # (B, n, n), i to j
        right = weights[:, h] * np.exp(q @ m.mT)  # (B, n, n), i to k
        middle = np.exp(k @ m.mT)  # (B, n, n), j to k
        both = (left @ middle) * right
        products = (
            np.sum((left @ (middle * (v @ w.mT))) * right, axis=-1)
            - np.sum(both * (o @ w.mT), axis=-1)
            - np.sum((right @ middle.mT) * left * (u @ v.mT), axis=-1)
            + np.sum(both, axis=-1) * np.sum(o * u, axis=-1)
        )  # (v_j − o_i) · (w_k − u_i), multiplied out
        total = total + np.exp(np.sum(q * r, axis=-1)) * products  # (B, n)
    return total


class _Dense(SelfAttention):
    """Dense attention that keeps what the heads see, and can share them as Reformer does."""

    shared = False

    def attend_heads(self, query, key, value, *, bias, **options):
        if self.shared:
            key = unit(query) * math.sqrt(self.key_dim)
            bias = ITSELF * ops.eye(ops.shape(query)[2])  # (n, n)
        self.heads = query, key, value
        return super().attend_heads(query, key, value, bias=bias, **options)


def _dense_like(layer, x):
    names = SelfAttention(1, 1).get_config()
    config = {name: value for name, value in layer.get_config().items() if name in names}
    dense = _Dense.from_config({**config, "dtype": "float32"})
    dense.shared = isinstance(layer, ReformerAttention)
    dense.build(x.shape)
    dense.set_weights(layer.get_weights()[: len(dense.weights)])
    return dense


def _kernel_errors(layer, x, y, weights):
    """The relative error of the estimated exp(x · y), as it is and as it is predicted."""
    product = x @ y.mT  # (B, H, n, n)
    norms = np.square(x).sum(-1)[..., :, None] + np.square(y).sum(-1)[..., None, :]  # (B, H, n, n)
    projection = ops.cast(layer.projection, "float64")
    (left, left_scale), (right, right_scale) = (
        map(_array, positive_features(ops.convert_to_tensor(z), projection)) for z in (x, y)
    )  # (B, H, n, M), (B, H, n, 1)
    estimate = left @ right.mT  # (B, H, n, n)
    ratio = estimate * np.exp(left_scale + right_scale.mT - product)
    share = weights / weights.sum()
    return {
        "kernel_error": math.sqrt(np.sum(share * np.square(ratio - 1))),
        "predicted_kernel_error": math.sqrt(
            np.sum(share * np.expm1(norms + 2 * product)) / layer.num_features
        ),
    }


def _array(x):
    return np.asarray(ops.convert_to_numpy(ops.cast(x, "float64")))
