"""Cross-attention: one sequence attends to another."""
# mypy: disable-error-code="override"

import keras
from keras import ops
from keras.src.backend import get_keras_mask  # the public API has no name for it

from keras_attention.layers.base import check_built
from keras_attention.layers.cache import full_cache
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.masks import as_mask


@keras.saving.register_keras_serializable(package="keras_attention")
class CrossAttention(MultiHeadAttention):
    """Multi-head attention with key = value = context, such as an encoder's output.

    Args:
        num_heads, key_dim, …: those of `MultiHeadAttention`, and the same formula.

    Call arguments:
        query: (B, Tq, Dq).
        context: (B, Tk, Dk), or None with a cache.
        cache: what `cache_context` gave, so that a decoder projects its context once and not at every step.
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
        context=None,
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

    def cache_context(self, context, context_mask=None):
        """The keys and values of a context, for `cache=` in place of the context.

        Raises:
            ValueError: the layer is rotary, where the keys' positions depend on the queries, or is not built.
        """
        if self.rotary:
            raise ValueError("The context of a rotary layer cannot be cached: pass it to every call.")
        check_built(self)
        context_mask = get_keras_mask(context) if context_mask is None else context_mask
        if context_mask is not None:
            context = ops.where(as_mask(context_mask)[..., None], context, 0)  # (B, Tk, Dk)
        heads = self.project_keys(context, context)  # (B, Hkv, Tk, ·)
        key, value = (ops.cast(x, self.compute_dtype) for x in heads)
        return full_cache(key, value, context_mask)

    def compute_output_shape(self, query_shape, context_shape):
        return self.shapes(query_shape, context_shape)[0]

    def compute_output_spec(self, query, context=None, *masks, **options):
        return super().compute_output_spec(query, context, **options)
