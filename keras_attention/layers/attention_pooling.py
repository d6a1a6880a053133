"""Attention pooling: a sequence becomes one vector, and every token says how much it counts."""

import keras
from keras import ops

from keras_attention.functional import masked_softmax
from keras_attention.layers.base import check_positive
from keras_attention.masks import as_mask


@keras.saving.register_keras_serializable(package="keras_attention")
class AttentionPooling(keras.layers.Layer):
    """Σ_i α_i h_i with α = softmax(vᵀ tanh(W h + b)), or α = softmax(vᵀ tanh(h)) without units.

    With several heads, each has its own v and pools its own D / H of the features.

    Args:
        units: U, width of W h; None means no W.
        num_heads: H.

    Call arguments:
        inputs: (B, T, D).
        mask: (B, T), True = a real token; left out, it is the Keras mask of the inputs.
        return_attention_scores: return (output, weights).

    Returns:
        output (B, D), and with `return_attention_scores` the weights (B, T), or (B, H, T) of several heads.
        A sequence without tokens gives zeros. No Keras mask goes further.

    Raises:
        ValueError: the heads do not divide the features, the inputs are not of rank 3, the mask is a float.

    Papers: Yang et al., 2016, "Hierarchical Attention Networks for Document Classification" (with units);
    Zhou et al., 2016, "Attention-Based Bidirectional LSTM Networks for Relation Classification" (without).

    >>> output, weights = AttentionPooling(units=3)(ops.ones((2, 5, 8)), return_attention_scores=True)
    >>> output.shape, weights.shape
    (TensorShape([2, 8]), TensorShape([2, 5]))
    """

    def __init__(self, units=None, num_heads=1, **kwargs):
        super().__init__(**kwargs)
        check_positive(num_heads=num_heads)
        self.supports_masking = True
        self.units = units
        self.num_heads = num_heads
        self.hidden = None
        if units is not None:
            self.hidden = keras.layers.Dense(units, activation="tanh", dtype=self.dtype_policy, name="hidden")

    def build(self, inputs_shape):
        if len(inputs_shape) != 3:
            raise ValueError(
                f"The inputs have shape {tuple(inputs_shape)}, but (batch, length, width) is needed."
            )
        width = inputs_shape[-1]
        if width % self.num_heads:
            raise ValueError(f"{self.num_heads} heads do not divide {width} features: choose a divisor.")
        if self.hidden is not None:
            self.hidden.build(inputs_shape)
        shape = (width if self.units is None else self.units, self.num_heads)
        self.vector = self.add_weight(name="vector", shape=shape, initializer="glorot_uniform")

    def call(self, inputs, mask=None, return_attention_scores=False):
        inputs = ops.cast(inputs, self.compute_dtype)
        if mask is not None:
            mask = as_mask(mask)
            inputs = ops.where(mask[..., None], inputs, 0)
        hidden = ops.tanh(inputs) if self.hidden is None else self.hidden(inputs)  # (B, T, U)
        scores = ops.swapaxes(ops.matmul(hidden, self.vector), 1, 2)  # (B, H, T)
        weights = masked_softmax(scores, None if mask is None else mask[:, None])
        weights = ops.cast(weights, inputs.dtype)
        output = weighted_sum(weights, inputs)
        if not return_attention_scores:
            return output
        return output, weights[:, 0] if self.num_heads == 1 else weights

    def compute_mask(self, inputs, previous_mask):
        return None

    def compute_output_shape(self, inputs_shape):
        return inputs_shape[0], inputs_shape[-1]

    def compute_output_spec(self, inputs, mask=None, return_attention_scores=False):
        batch, length, width = inputs.shape
        output = keras.KerasTensor((batch, width), dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        shape = (batch, length) if self.num_heads == 1 else (batch, self.num_heads, length)
        return output, keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "num_heads": self.num_heads}


def weighted_sum(weights, inputs):
    """Head by head Σ_i α_i h_i: (B, H, T), (B, T, D) → (B, D), each head with D / H features of its own."""
    (batch, length, width), heads = ops.shape(inputs), ops.shape(weights)[1]
    parts = ops.reshape(inputs, (batch, length, heads, width // heads))
    parts = ops.transpose(parts, (0, 2, 1, 3))  # (B, H, T, D / H)
    return ops.reshape(ops.matmul(weights[:, :, None], parts), (batch, width))
