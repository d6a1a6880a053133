"""Additive attention, by which a decoder learned to align."""

import keras

from keras_attention.functional import additive_scores
from keras_attention.layers.base import AttentionLayer


@keras.saving.register_keras_serializable(package="keras_attention")
class BahdanauAttention(AttentionLayer):
    """softmax(vᵀ tanh(W_q query + W_k key + b)) · value.

    Query and key may differ in width. W_k key + b does not depend on the query: a decoder computes it once
    for a sentence by `project_keys(value)` and passes it at every step as `projected_keys`.

    Args:
        units: U, width of the score's hidden layer.
        use_bias: whether there is a b.
        dropout: share of the weights that is dropped in training.
        seed: seed of the dropout.

    Call arguments:
        query: (B, Tq, D), or (B, D) for one decoder step.
        value: (B, Tk, Dv).
        key: (B, Tk, Dk); None means the value.
        projected_keys: (B, Tk, U), what `project_keys` gave for the key.
        The others are those of `AttentionLayer`.

    Returns:
        output (B, Tq, Dv) or (B, Dv), and with `return_attention_scores` the weights (B, Tq, Tk) or (B, Tk).

    Raises:
        ValueError: attention_mask is a float or of rank 2.

    Paper: Bahdanau et al., 2015, "Neural Machine Translation by Jointly Learning to Align and Translate".

    >>> layer = BahdanauAttention(units=8)
    >>> state, memory = keras.ops.ones((2, 6)), keras.ops.ones((2, 7, 4))
    >>> keys = layer.project_keys(memory)
    >>> layer(state, memory, projected_keys=keys).shape
    TensorShape([2, 4])
    """

    def __init__(self, units, use_bias=True, dropout=0.0, seed=None, **kwargs):
        super().__init__(dropout, seed, **kwargs)
        self.units = units
        self.use_bias = use_bias
        self.query_dense = keras.layers.Dense(units, use_bias=False, dtype=self.dtype_policy, name="query")
        self.key_dense = keras.layers.Dense(units, use_bias=use_bias, dtype=self.dtype_policy, name="key")
        self.query_dense.supports_masking = self.key_dense.supports_masking = True

    def build(self, query_shape, value_shape, key_shape=None):
        self.query_dense.build(query_shape)
        if not self.key_dense.built:
            self.key_dense.build(value_shape if key_shape is None else key_shape)
        self.vector = self.add_weight(name="vector", shape=(self.units,), initializer="glorot_uniform")

    def project_keys(self, key):
        """W_k key + b: (B, Tk, Dk) → (B, Tk, U)."""
        return self.key_dense(key)

    def attend(self, query, key, value, *, projected_keys=None, **options):
        query = self.query_dense(query)  # (B, Tq, U)
        key = self.project_keys(key) if projected_keys is None else projected_keys  # (B, Tk, U)
        return super().attend(query, key, value, **options)

    def score(self, query, key):
        return additive_scores(query, key, self.vector)  # (B, Tq, U), (B, Tk, U) → (B, Tq, Tk)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "use_bias": self.use_bias}
