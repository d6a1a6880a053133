"""Multiplicative attention, in the three forms of Luong et al."""

import keras
from keras import ops

from keras_attention.functional import additive_scores, dot_scores
from keras_attention.layers.base import AttentionLayer, check_built, check_positive


@keras.saving.register_keras_serializable(package="keras_attention")
class LuongAttention(AttentionLayer):
    """softmax(score(query, key)) · value, where the score is one of

        dot      query · keyᵀ                      equal widths, no weights, not scaled
        general  query · W · keyᵀ                  W: (D, Dk)
        concat   vᵀ tanh(W [query; key])           W: (D + Dk, U), v: (U,)

    Args:
        score: "dot", "general" or "concat".
        units: U, for "concat" alone; None means the query's width.
        dropout: share of the weights that is dropped in training.
        seed: seed of the dropout.

    Call arguments:
        query: (B, Tq, D), or (B, D) for one decoder step.
        value: (B, Tk, Dv).
        key: (B, Tk, Dk); None means the value.
        The others are those of `AttentionLayer`.

    Returns:
        output (B, Tq, Dv) or (B, Dv), and with `return_attention_scores` the weights (B, Tq, Tk) or (B, Tk).

    Raises:
        ValueError: the score is unknown, units are given for another than "concat", "dot" meets different
            widths; attention_mask is a float or of rank 2.

    Paper: Luong et al., 2015, "Effective Approaches to Attention-based Neural Machine Translation".

    >>> LuongAttention("general")(keras.ops.ones((2, 5, 6)), keras.ops.ones((2, 7, 4))).shape
    TensorShape([2, 5, 4])
    """

    def __init__(self, score="dot", units=None, dropout=0.0, seed=None, **kwargs):
        if score not in ("dot", "general", "concat"):
            raise ValueError(f'score is {score!r}, but it must be "dot", "general" or "concat".')
        if units is not None and score != "concat":
            raise ValueError(f'The score "{score}" has no units: leave them out, or use "concat".')
        if units is not None:
            check_positive(units=units)
        super().__init__(dropout, seed, **kwargs)
        self.form = score
        self.units = units

    def build(self, query_shape, value_shape, key_shape=None):
        query_width, key_width = query_shape[-1], (key_shape or value_shape)[-1]
        if self.form == "general":
            self.kernel = self.add_weight(name="kernel", shape=(query_width, key_width))
        elif self.form == "concat":
            units = query_width if self.units is None else self.units
            self.kernel = self.add_weight(name="kernel", shape=(query_width + key_width, units))
            self.vector = self.add_weight(name="vector", shape=(units,))

    def score(self, query, key):
        if self.form == "dot":
            return dot_scores(query, key, scale=1)  # (B, Tq, Tk)
        kernel = ops.convert_to_tensor(self.kernel)
        if self.form == "general":
            return dot_scores(ops.matmul(query, kernel), key, scale=1)  # (B, Tq, Tk)
        # W [query; key] = W_q query + W_k key
        query_kernel, key_kernel = kernel[: query.shape[-1]], kernel[query.shape[-1] :]  # (D, U), (Dk, U)
        return additive_scores(ops.matmul(query, query_kernel), ops.matmul(key, key_kernel), self.vector)

    def project_keys(self, key):
        """What scores need of the keys whatever the query: (B, Tk, Dk) → (B, Tk, …)."""
        if self.form == "dot":
            return key
        check_built(self)
        kernel = ops.convert_to_tensor(self.kernel)
        if self.form == "general":
            return ops.matmul(key, ops.transpose(kernel))  # (B, Tk, D)
        return ops.matmul(key, kernel[-key.shape[-1] :])  # (B, Tk, U)

    def get_config(self):
        return {**super().get_config(), "score": self.form, "units": self.units}
