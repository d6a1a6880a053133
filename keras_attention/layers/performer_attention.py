"""Performer's attention: softmax attention estimated by random features, FAVOR+."""

import random

import keras
from keras import ops

from keras_attention.kernels import gaussian_projection, positive_features
from keras_attention.layers.base import check_positive
from keras_attention.layers.linear_attention import KernelAttention

SMALLEST, LARGEST = -60.0, 60.0  # powers of e whose sums float32 holds


@keras.saving.register_keras_serializable(package="keras_attention")
class PerformerAttention(KernelAttention):
    """softmax(q_i · k_j / √Dk) estimated by φ(q_i) · φ(k_j) with φ(x) = exp(W x − |x|² / 2) / √M, where x is
    q / Dk^¼ or k / Dk^¼ and the M rows of W are random directions. Time and memory are n · M · Dv.

    The squared error of an estimated exp(x · y) is exp(2 x · y) (exp(|x + y|²) − 1) / M on average: the error
    falls as 1 / √M and explodes with the length of queries and keys. The estimate is good where |x + y|² is 1
    or 2, and useless far beyond: for queries and keys of 64 features of unit variance, where |x + y|² is 16,
    the output is off by 3.3 times its own size with M = 256, and by 2.7 times with 4096 (measured for 512
    tokens; with half that size, by 0.4 and 0.14). Such a layer must be trained as what it is. For given
    inputs, `exactness_report` measures the error, beside the predicted one.

    The features are float32 in every precision, and the same in training and evaluation. Each key has its own
    scale, between e⁻⁶⁰ and e⁶⁰; nothing of a later key enters, not even by a common maximum.

    Args:
        num_heads, key_dim, …: those of `MultiHeadAttention`.
        num_features: M.
        orthogonal: whether every Dk directions are orthogonal, which lowers the error.
        seed: seed of the directions, the same for all heads, and of the dropout; None draws one, which
            the config keeps.

    Call arguments, returns and errors: those of `EfficientAttention`; `prefill` and `step` are those of
    `KernelAttention`.

    Raises:
        ValueError: num_features is not positive.

    Paper: Choromanski et al., 2021, "Rethinking Attention with Performers".

    >>> layer = PerformerAttention(3, 4, num_features=32, seed=0)
    >>> layer(ops.ones((2, 5, 8)), use_causal_mask=True).shape
    TensorShape([2, 5, 8])
    """

    def __init__(self, num_heads, key_dim, num_features=256, *, orthogonal=True, seed=None, **kwargs):
        seed = random.randrange(2**31) if seed is None else seed
        super().__init__(num_heads, key_dim, seed=seed, **kwargs)
        check_positive(num_features=num_features)
        self.num_features = num_features
        self.orthogonal = orthogonal
        self.projection = gaussian_projection(num_features, key_dim, orthogonal, seed=seed)  # (M, Dk)

    def query_features(self, query):
        return self._features(query)[0]

    def key_features(self, key):
        features, scale = self._features(key)  # (B, H, n, M), (B, H, n, 1)
        return features * ops.exp(ops.clip(scale, SMALLEST, LARGEST))

    def _features(self, x):
        return positive_features(x / self.key_dim**0.25, ops.cast(self.projection, x.dtype))

    def get_config(self):
        return {
            **super().get_config(),
            "num_features": self.num_features,
            "orthogonal": self.orthogonal,
        }
