"""A block of a Transformer's decoder."""

import keras
from keras.src.backend import get_keras_mask  # the public API has no name for it

from keras_attention.layers.base import results_of
from keras_attention.layers.cross_attention import CrossAttention
from keras_attention.layers.self_attention import SelfAttention
from keras_attention.layers.transformer_block import TransformerBlock, unpacked, with_mask, without_padding


@keras.saving.register_keras_serializable(package="keras_attention")
class TransformerDecoderBlock(TransformerBlock):
    """Every token looks at those before it, then at the context, then is transformed by itself.

        y = x + SelfAttention(norm(x)), which does not see the future
        z = y + CrossAttention(norm(y), context)
        output = z + W₂ · activation(W₁ · norm(z) + b₁) + b₂

    Args:
        num_heads, hidden_dim, …: those of `TransformerBlock`.

    Call arguments:
        query: x, (B, T, D).
        context: (B, Tk, Dk), such as an encoder's output; None with a context_cache.
        query_mask, context_mask: (B, T) and (B, Tk), True = a real token; left out, they are the Keras masks
            of the inputs.
        return_attention_scores: return (output, (self weights, cross weights)).
        training: whether to drop.
        cache: what `init_cache` or an earlier call gave: the query goes on where the cache ends. The longer
            cache is returned, too.
        context_cache: what `cache_context` gave, so that the context is projected once.

    Returns:
        output (B, T, D), and with `return_attention_scores` the weights (B, H, T, T) and (B, H, T, Tk), and
        with `cache` the longer cache.

    Raises:
        ValueError: the heads do not divide the width, or the cache is full.

    Papers: Vaswani et al., 2017, "Attention Is All You Need"; Xiong et al., 2020, "On Layer Normalization in
    the Transformer Architecture" (pre-norm).

    >>> block = TransformerDecoderBlock(num_heads=2, hidden_dim=16)
    >>> query, context = keras.ops.ones((2, 5, 8)), keras.ops.ones((2, 7, 6))
    >>> output, (to_itself, to_context) = block(query, context, return_attention_scores=True)
    >>> output.shape, to_itself.shape, to_context.shape
    (TensorShape([2, 5, 8]), TensorShape([2, 2, 5, 5]), TensorShape([2, 2, 5, 7]))
    """

    def build(self, query_shape, context_shape):
        width = query_shape[-1]
        self.self_norm, self.cross_norm = self.norm(width, "self_norm"), self.norm(width, "cross_norm")
        self.self_attention = self.attention(SelfAttention, width, "self_attention", rotary=self.rotary)
        self.cross_attention = self.attention(CrossAttention, width, "cross_attention")
        self.self_attention.build(query_shape)
        self.cross_attention.build(query_shape, context_shape)
        self.build_feed_forward(width)

    def init_cache(self, batch_size, max_length):
        """An empty cache for `cache=`, with room for max_length positions: a dict of tensors."""
        return self.self_attention.init_cache(batch_size, max_length)

    def cache_context(self, context, context_mask=None):
        """The keys and values of a context, for `context_cache=` in place of the context."""
        return self.cross_attention.cache_context(context, context_mask)

    def call(
        self,
        query,
        context=None,
        query_mask=None,
        context_mask=None,
        return_attention_scores=False,
        training=None,
        cache=None,
        context_cache=None,
    ):
        query_mask = get_keras_mask(query) if query_mask is None else query_mask
        x = without_padding(query, query_mask)
        past = {"use_causal_mask": True} if cache is None else {"cache": cache}
        result = self.self_attention(
            self.self_norm(x), mask=query_mask, return_attention_scores=return_attention_scores, **past
        )
        attended, self_weights, *cache = unpacked(result, return_attention_scores)
        x = x + self.drop(attended, training=training)

        keys = {"context_mask": context_mask} if context_cache is None else {"cache": context_cache}
        result = self.cross_attention(
            self.cross_norm(x),
            context,
            query_mask=query_mask,
            return_attention_scores=return_attention_scores,
            **keys,
        )
        attended, cross_weights, *_ = unpacked(result, return_attention_scores)
        x = x + self.drop(attended, training=training)

        output = with_mask(self.feed_forward(x, training), query_mask)
        weights = [(self_weights, cross_weights)] if return_attention_scores else []
        return (output, *weights, *cache) if weights or cache else output

    def compute_output_shape(self, query_shape, context_shape):
        return query_shape

    def compute_output_spec(
        self,
        query,
        context=None,
        *masks,
        return_attention_scores=False,
        cache=None,
        context_cache=None,
        **options,
    ):
        def spec(*shape):
            return keras.KerasTensor(shape, dtype=self.compute_dtype)

        batch, length, width = query.shape
        output = spec(batch, length, width)
        if not return_attention_scores:
            return results_of(output, None, cache)
        sides = (
            query if cache is None else cache["value"],
            context if context_cache is None else context_cache["value"],
        )
        weights = (spec(batch, self.num_heads, length, keys.shape[-2]) for keys in sides)
        return results_of(output, tuple(weights), cache)
