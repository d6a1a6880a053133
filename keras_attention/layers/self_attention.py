"""Self-attention: a sequence attends to itself."""
# mypy: disable-error-code="override"

import keras
from keras.src.backend import get_keras_mask  # the public API has no name for it

from keras_attention.layers.multi_head_attention import MultiHeadAttention


@keras.saving.register_keras_serializable(package="keras_attention")
class SelfAttention(MultiHeadAttention):
    """Multi-head attention with query = key = value = inputs.

    Args:
        num_heads, key_dim, …: those of `MultiHeadAttention`, and the same formula.

    Call arguments:
        inputs: (B, T, D).
        mask: (B, T), True = a real token; left out, it is the Keras mask of the inputs.
        The others are those of `MultiHeadAttention`.

    Returns:
        output (B, T, E), and with `return_attention_scores` the weights (B, H, T, T).

    Raises:
        ValueError: as in `MultiHeadAttention`.

    Paper: Vaswani et al., 2017, "Attention Is All You Need".

    >>> output, weights = SelfAttention(3, 4)(keras.ops.ones((2, 5, 8)), return_attention_scores=True)
    >>> output.shape, weights.shape
    (TensorShape([2, 5, 8]), TensorShape([2, 3, 5, 5]))
    """

    def build(self, inputs_shape):
        super().build(inputs_shape, inputs_shape)

    def call(
        self,
        inputs,
        mask=None,
        attention_mask=None,
        attention_bias=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
        **options,
    ):
        if mask is None:  # Keras fills it only where inputs is the only tensor, not beside an attention_mask
            mask = get_keras_mask(inputs)
        return super().call(
            inputs,
            inputs,
            query_mask=mask,
            value_mask=mask,
            attention_mask=attention_mask,
            attention_bias=attention_bias,
            return_attention_scores=return_attention_scores,
            training=training,
            use_causal_mask=use_causal_mask,
            **options,
        )

    def compute_output_shape(self, inputs_shape):
        return self.shapes(inputs_shape, inputs_shape)[0]

    def compute_output_spec(self, inputs, *masks, **options):
        return super().compute_output_spec(inputs, inputs, **options)
