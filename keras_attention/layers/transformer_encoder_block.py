"""A block of a Transformer's encoder."""

import keras
from keras.src.backend import get_keras_mask  # the public API has no name for it

from keras_attention.layers.self_attention import SelfAttention
from keras_attention.layers.transformer_block import TransformerBlock, unpacked, with_mask, without_padding


@keras.saving.register_keras_serializable(package="keras_attention")
class TransformerEncoderBlock(TransformerBlock):
    """Every token looks at all others, then each is transformed by itself.

        y = x + SelfAttention(norm(x))
        output = y + W₂ · activation(W₁ · norm(y) + b₁) + b₂

    Args:
        num_heads, hidden_dim, …: those of `TransformerBlock`.

    Call arguments:
        inputs: x, (B, T, D).
        mask: (B, T), True = a real token; left out, it is the Keras mask of the inputs.
        attention_mask, attention_bias, return_attention_scores, training, use_causal_mask: those of
            `SelfAttention`.

    Returns:
        output (B, T, D), and with `return_attention_scores` the weights (B, H, T, T).

    Raises:
        ValueError: the heads do not divide the width, or a mask is not one of `SelfAttention`.

    Papers: Vaswani et al., 2017, "Attention Is All You Need"; Xiong et al., 2020, "On Layer Normalization in
    the Transformer Architecture" (pre-norm).

    >>> block = TransformerEncoderBlock(num_heads=2, hidden_dim=16)
    >>> output, weights = block(keras.ops.ones((2, 5, 8)), return_attention_scores=True)
    >>> output.shape, weights.shape
    (TensorShape([2, 5, 8]), TensorShape([2, 2, 5, 5]))
    """

    def build(self, inputs_shape):
        width = inputs_shape[-1]
        self.attention_norm = self.norm(width, "attention_norm")
        self.self_attention = self.attention(SelfAttention, width, "self_attention", rotary=self.rotary)
        self.self_attention.build(inputs_shape)
        self.build_feed_forward(width)

    def call(
        self,
        inputs,
        mask=None,
        attention_mask=None,
        attention_bias=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
    ):
        mask = get_keras_mask(inputs) if mask is None else mask
        x = without_padding(inputs, mask)
        result = self.self_attention(
            self.attention_norm(x),
            mask=mask,
            attention_mask=attention_mask,
            attention_bias=attention_bias,
            return_attention_scores=return_attention_scores,
            use_causal_mask=use_causal_mask,
        )
        attended, weights = unpacked(result, return_attention_scores)
        x = x + self.drop(attended, training=training)
        output = with_mask(self.feed_forward(x, training), mask)
        return (output, weights) if return_attention_scores else output

    def compute_output_shape(self, inputs_shape):
        return inputs_shape

    def compute_output_spec(self, inputs, *masks, return_attention_scores=False, **options):
        output = keras.KerasTensor(inputs.shape, dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        batch, length, _ = inputs.shape
        return output, keras.KerasTensor((batch, self.num_heads, length, length), dtype=self.compute_dtype)
