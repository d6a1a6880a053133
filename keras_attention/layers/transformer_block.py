"""What the encoder's and the decoder's block of a Transformer share."""

import keras
from keras import ops
from keras.src.backend import set_keras_mask  # the public API has no name for it

from keras_attention.layers.base import check_positive
from keras_attention.masks import as_mask

EPSILON = 1e-5  # of the normalisation


class TransformerBlock(keras.layers.Layer):
    """A feed-forward network behind attention, each part with a norm before and a residual around it.

    The norm before a part (pre-norm) leaves a straight way from the output to the inputs, on which the
    gradient of a deep stack arrives. The stack needs one more norm at its end.

    Args:
        num_heads: H; each head is width / H wide.
        hidden_dim: width of the feed-forward network's hidden layer.
        dropout: share of each part's output that is dropped in training.
        activation: of the hidden layer.
        rotary: turn the queries and keys of the self-attention by their positions.
        seed: seed of the dropout.

    Raises:
        ValueError: num_heads or hidden_dim is not positive, or the heads do not divide the width.

    Papers: Vaswani et al., 2017, "Attention Is All You Need"; Xiong et al., 2020, "On Layer Normalization in
    the Transformer Architecture" (pre-norm).
    """

    def __init__(
        self,
        num_heads,
        hidden_dim,
        dropout=0.0,
        activation="relu",
        *,
        rotary=False,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_positive(num_heads=num_heads, hidden_dim=hidden_dim)
        self.supports_masking = True
        self.num_heads, self.hidden_dim, self.dropout = num_heads, hidden_dim, dropout
        self.activation = keras.activations.get(activation)
        self.rotary, self.seed = rotary, seed
        # one generator for all parts: two of one seed would drop the same places
        self.drop = keras.layers.Dropout(dropout, seed=seed, dtype=self.dtype_policy, name="dropout")

    def attention(self, layer, width, name, **options):
        """An attention layer whose heads share the width."""
        if width % self.num_heads:
            raise ValueError(
                f"{self.num_heads} heads do not divide the width {width}: choose another number."
            )
        return layer(self.num_heads, width // self.num_heads, dtype=self.dtype_policy, name=name, **options)

    def norm(self, width, name):
        """A built LayerNormalization."""
        layer = keras.layers.LayerNormalization(epsilon=EPSILON, dtype=self.dtype_policy, name=name)
        layer.build((None, None, width))
        return layer

    def build_feed_forward(self, width):
        self.feed_forward_norm = self.norm(width, "feed_forward_norm")
        self.hidden_dense = keras.layers.Dense(
            self.hidden_dim, self.activation, dtype=self.dtype_policy, name="hidden"
        )
        self.output_dense = keras.layers.Dense(width, dtype=self.dtype_policy, name="output")
        self.hidden_dense.build((None, width))
        self.output_dense.build((None, self.hidden_dim))
        self.drop.build((None, width))

    def feed_forward(self, x, training):
        """x + W₂ · activation(W₁ · norm(x) + b₁) + b₂, position by position: (B, T, D) → (B, T, D)."""
        rows = ops.reshape(self.feed_forward_norm(x), (-1, x.shape[-1]))  # (B · T, D)
        rows = self.output_dense(self.hidden_dense(rows))
        return x + self.drop(ops.reshape(rows, ops.shape(x)), training=training)  # (B, T, D)

    def get_config(self):
        names = ("num_heads", "hidden_dim", "dropout", "rotary", "seed")
        return {
            **super().get_config(),
            **{name: getattr(self, name) for name in names},
            "activation": keras.activations.serialize(self.activation),
        }


def unpacked(result, scores):
    """What an attention layer returned, with or without its scores, as (output, weights or None, *cache)."""
    output, *others = result if isinstance(result, tuple) else (result,)
    return (output, *others) if scores else (output, None, *others)


def without_padding(x, mask):
    """x, zero where the mask is False, so that no garbage goes on by the residual way."""
    return x if mask is None else ops.where(as_mask(mask)[..., None], x, 0)  # (B, T, D)


def with_mask(x, mask):
    """x, carrying the Keras mask."""
    if mask is not None:
        set_keras_mask(x, mask)
    return x
