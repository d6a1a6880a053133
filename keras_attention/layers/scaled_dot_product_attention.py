"""Scaled dot-product attention as a layer without weights."""

import keras

from keras_attention.exact import dot_product_attention
from keras_attention.layers.base import AttentionLayer


@keras.saving.register_keras_serializable(package="keras_attention")
class ScaledDotProductAttention(AttentionLayer):
    """softmax(query · keyᵀ / √D) · value, without any weights.

    Args:
        scale: factor of the scores; None means 1 / √D.
        dropout: share of the weights that is dropped in training.
        seed: seed of the dropout.

    Call arguments:
        query: (B, Tq, D), or (B, D) for one step.
        value: (B, Tk, Dv).
        key: (B, Tk, D); None means the value.
        The others are those of `AttentionLayer`.

    Returns:
        output (B, Tq, Dv), and with `return_attention_scores` the weights (B, Tq, Tk).

    Raises:
        ValueError: query and key differ in width; attention_mask is a float or of rank 2.

    Paper: Vaswani et al., 2017, "Attention Is All You Need".

    >>> query, value = keras.ops.ones((2, 5, 4)), keras.ops.ones((2, 7, 4))
    >>> output, weights = ScaledDotProductAttention()(query, value, return_attention_scores=True)
    >>> output.shape, weights.shape
    (TensorShape([2, 5, 4]), TensorShape([2, 5, 7]))
    """

    def __init__(self, scale=None, dropout=0.0, seed=None, **kwargs):
        super().__init__(dropout, seed, **kwargs)
        self.scale = scale

    def attend(self, query, key, value, **options):
        return dot_product_attention(query, key, value, scale=self.scale, **options)

    def get_config(self):
        return {**super().get_config(), "scale": self.scale}
