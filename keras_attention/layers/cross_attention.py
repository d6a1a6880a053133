"""Cross-attention: one sequence attends to another."""
# mypy: disable-error-code="override"

import keras

from keras_attention.layers.multi_head_attention import MultiHeadAttention


@keras.saving.register_keras_serializable(package="keras_attention")
class CrossAttention(MultiHeadAttention):
    """Multi-head attention with key = value = context, such as an encoder's output.

    Args:
        num_heads, key_dim, …: those of `MultiHeadAttention`, and the same formula.

    Call arguments:
        query: (B, Tq, Dq).
        context: (B, Tk, Dk).
        query_mask, context_mask: (B, Tq) and (B, Tk), True = a real token; left out, they are the Keras
            masks of the inputs.
        The others are those of `MultiHeadAttention`.

    Returns:
        output (B, Tq, E), and with `return_attention_scores` the weights (B, H, Tq, Tk).

    Raises:
        ValueError: as in `MultiHeadAttention`.

    Paper: Vaswani et al., 2017, "Attention Is All You Need".

    >>> query, context = keras.ops.ones((2, 5, 8)), keras.ops.ones((2, 7, 6))
    >>> output, weights = CrossAttention(3, 4)(query, context, return_attention_scores=True)
    >>> output.shape, weights.shape
    (TensorShape([2, 5, 8]), TensorShape([2, 3, 5, 7]))
    """

    def build(self, query_shape, context_shape):
        super().build(query_shape, context_shape)

    def call(
        self,
        query,
        context,
        query_mask=None,
        context_mask=None,
        attention_mask=None,
        attention_bias=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
        **options,
    ):
        return super().call(
            query,
            context,
            query_mask=query_mask,
            value_mask=context_mask,
            attention_mask=attention_mask,
            attention_bias=attention_bias,
            return_attention_scores=return_attention_scores,
            training=training,
            use_causal_mask=use_causal_mask,
            **options,
        )

    def compute_output_shape(self, query_shape, context_shape):
        return self.shapes(query_shape, context_shape)[0]

    def compute_output_spec(self, query, context, *masks, **options):
        return super().compute_output_spec(query, context, **options)
