"""What every attention layer shares: its arguments, masks in and out, dropout on the weights, shapes."""

import keras
from keras import ops
from keras.src.backend import set_keras_mask  # the public API has no name for it

from keras_attention import functional
from keras_attention.masks import as_mask, check_attention_mask, combine_masks, pair_mask


class AttentionLayer(keras.layers.Layer):
    """softmax(score(query, key)) · value. A subclass gives `score`, or replaces `attend` as a whole.

    The formula's steps can be looked at: `trace`.

    Args:
        dropout: share of the weights that is dropped in training.
        seed: seed of the dropout.

    Call arguments:
        query: (B, Tq, D), or (B, D) for one step.
        value: (B, Tk, Dv).
        key: (B, Tk, Dk); None means the value.
        query_mask, value_mask, key_mask: (B, Tq) and (B, Tk), True = a real token. Left out, they are the
            Keras masks that the inputs carry. A masked query gets zero weights.
        attention_mask: boolean (B, Tq, Tk), or (B, H, Tq, Tk) where there are heads, True = may be attended
            to.
        attention_bias: added to the scores, to which it broadcasts.
        return_attention_scores: return (output, weights).
        training: whether to drop weights.
        use_causal_mask: hide the future; the last query stands at the last key.

    Raises:
        ValueError: attention_mask is a float (add numbers with attention_bias) or of an ambiguous rank.
    """

    has_heads = False

    def __init__(self, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.dropout = dropout
        self.seed = seed
        self.dropout_layer = keras.layers.Dropout(dropout, seed=seed, dtype=self.dtype_policy, name="dropout")

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        attention_bias=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
        **options,
    ):
        one_step = len(query.shape) == 2
        if one_step:
            query = query[:, None]  # (B, 1, D)
            query_mask = None if query_mask is None else query_mask[:, None]  # (B, 1)

        key_mask = combine_masks(value_mask, key_mask)  # (B, Tk)
        if attention_mask is not None:
            attention_mask = check_attention_mask(attention_mask, self.has_heads)
        query = _zero_hidden(query, query_mask, attention_mask, axis=-1)
        # with a cache, which has its own past, a mask is about more keys than the new ones
        keys_mask = None if "cache" in options else attention_mask
        value = _zero_hidden(value, key_mask, keys_mask, axis=-2)
        key = value if key is None else _zero_hidden(key, key_mask, keys_mask, axis=-2)

        output, weights, *cache = self.attend(
            query,
            key,
            value,
            query_mask=query_mask,
            key_mask=key_mask,
            attention_mask=attention_mask,
            bias=attention_bias,
            causal=use_causal_mask,
            dropout=self.dropout_layer if self.dropout and training else None,
            need_weights=return_attention_scores or functional.tracing(),
            **options,
        )
        if one_step:
            output = output[:, 0]  # (B, Dv)
            weights = None if weights is None else weights[:, 0]  # (B, Tk)
        elif query_mask is not None:
            set_keras_mask(output, query_mask)
        results = (output, weights, *cache) if return_attention_scores else (output, *cache)
        return results[0] if len(results) == 1 else results

    def attend(self, query, key, value, *, query_mask, key_mask, attention_mask, need_weights, **options):
        """(B, Tq, D), (B, Tk, Dk), (B, Tk, Dv) → output (B, Tq, Dv), weights (B, Tq, Tk).

        The weights may be None where they are not needed.
        """
        mask = pair_mask(query_mask, key_mask, attention_mask)
        return functional.attention(self.score, query, key, value, mask=mask, **options)

    def score(self, query, key):
        """(B, Tq, D), (B, Tk, Dk) → (B, Tq, Tk)."""
        raise NotImplementedError(f"{type(self).__name__} has no score.")

    def trace(self, *args, **kwargs):
        """Calls the layer and returns the formula's steps by name, in their order, as tensors.

        Returns:
            a dict of query, key, value (as they meet in the formula), scores = query · keyᵀ and scaled =
            scale · scores of a dot product (another score has scores alone), masked = scaled + bias with −inf
            at what is hidden, weights = softmax(masked), attended = weights · value, output. Their shapes are
            (B, T, ·), or (B, H, T, ·) where there are heads.

        >>> from keras_attention.layers import ScaledDotProductAttention
        >>> query, value = ops.array([[[1.0]]]), ops.array([[[2.0], [3.0]]])
        >>> steps = ScaledDotProductAttention().trace(query, value)
        >>> [(name, step.numpy().ravel().round(2).tolist()) for name, step in steps.items()][3:6]
        [('scores', [2.0, 3.0]), ('scaled', [2.0, 3.0]), ('masked', [2.0, 3.0])]
        """
        with functional.trace() as steps:
            result = self(*args, **kwargs)
        return {**steps, "output": result[0] if isinstance(result, tuple) else result}

    def shapes(self, query_shape, value_shape):
        """The shapes of output and weights."""
        return (*query_shape[:-1], value_shape[-1]), (*query_shape[:-1], value_shape[1])

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return self.shapes(query_shape, value_shape)[0]

    def compute_output_spec(self, query, value, key=None, *masks, return_attention_scores=False, **options):
        shapes = self.shapes(query.shape, value.shape)
        output, weights = (keras.KerasTensor(shape, dtype=self.compute_dtype) for shape in shapes)
        return (output, weights) if return_attention_scores else output

    def get_config(self):
        return {**super().get_config(), "dropout": self.dropout, "seed": self.seed}


def _zero_hidden(inputs, mask, attention_mask, axis):
    """Zeroes the positions that are hidden everywhere, so that garbage there spoils no kernel's gradient."""
    if attention_mask is not None:
        used = ops.any(attention_mask, axis=axis)  # (B, T) or (B, H, T)
        mask = combine_masks(mask, ops.any(used, axis=1) if len(used.shape) == 3 else used)
    if mask is None or inputs is None:
        return inputs
    return ops.where(as_mask(mask)[..., None], inputs, 0)  # (B, T, D)
