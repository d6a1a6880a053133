"""What every attention layer shares: its arguments, masks in and out, dropout on the weights, shapes."""

import math

import keras
from keras import ops
from keras.src.backend import set_keras_mask  # the public API has no name for it

from keras_attention import functional
from keras_attention.masks import (
    align_mask,
    causal_mask,
    check_attention_mask,
    combine_masks,
    pair_mask,
    seeing_queries,
    seen_keys,
)


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
        attention_bias: added to the scores: (Tq, Tk), (B, Tq, Tk), or (B, H, Tq, Tk) where there are heads;
            each axis may be 1. −inf hides as a mask does. Mixed precision rounds it first: in float16, −1e9
            is −inf.
        return_attention_scores: return (output, weights).
        training: whether to drop weights.
        use_causal_mask: hide the future; the last query stands at the last key.

    Raises:
        ValueError: attention_mask is a float (add numbers with attention_bias) or of an ambiguous rank, or
            attention_bias does not broadcast to the scores.
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
        if self.has_heads:
            check_ranks(query=query, key=key, value=value)
        one_step = len(query.shape) == 2
        if one_step:
            query = query[:, None]  # (B, 1, D)
            query_mask = None if query_mask is None else query_mask[:, None]  # (B, 1)

        key_mask = combine_masks(value_mask, key_mask)  # (B, Tk)
        if attention_mask is not None:
            attention_mask = check_attention_mask(attention_mask, self.has_heads)
        # with a cache, which has its own past, a mask is about more keys than the new ones
        cached = options.get("cache") is not None
        queries, keys = query.shape[-2], None if cached else value.shape[-2]
        if attention_bias is not None:
            heads = (self.num_heads,) if self.has_heads else ()
            shape = (*query.shape[:-2], *heads, queries, keys)
            attention_bias = functional.fit_bias(attention_bias, shape, "attention_bias")
        pairs = combine_masks(attention_mask, None if attention_bias is None else attention_bias != -math.inf)
        if use_causal_mask and None not in (queries, keys) and queries > keys:  # the first see nothing
            pairs = combine_masks(pairs, causal_mask(queries, keys)[None])
        query = _zero_hidden(query, seeing_queries(query_mask, None if cached else key_mask, pairs))
        if cached:
            seen = seen_keys(None, None, key_mask=key_mask)
        else:
            lengths = ops.shape(query)[-2], ops.shape(value)[-2]
            seen = seen_keys(*lengths, query_mask, key_mask, pairs, use_causal_mask)
        value = _zero_hidden(value, seen)
        key = value if key is None else _zero_hidden(key, seen)

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
        return (*query_shape[:-1], value_shape[-1]), (*query_shape[:-1], value_shape[-2])

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return self.shapes(query_shape, value_shape)[0]

    def compute_output_spec(
        self, query, value=None, key=None, *masks, return_attention_scores=False, cache=None, **options
    ):
        shapes = self.shapes(query.shape, (value if cache is None else cache["value"]).shape)
        output, weights = (keras.KerasTensor(shape, dtype=self.compute_dtype) for shape in shapes)
        return results_of(output, weights if return_attention_scores else None, cache)

    def get_config(self):
        return {**super().get_config(), "dropout": self.dropout, "seed": self.seed}


def results_of(output, weights, cache):
    """What a symbolic call returns, of which weights and cache may be None."""
    results = [x for x in (output, weights, cache) if x is not None]
    results = keras.tree.map_structure(lambda x: keras.KerasTensor(x.shape, x.dtype), results)
    return results[0] if len(results) == 1 else tuple(results)


def check_ranks(**inputs):
    """Raises unless each of them, a tensor, a shape or None, is (batch, length, width)."""
    for name, x in inputs.items():
        if x is not None and len(shape := getattr(x, "shape", x)) != 3:
            raise ValueError(f"The {name} has shape {tuple(shape)}, but (batch, length, width) is needed.")


def check_positive(**numbers):
    for name, number in numbers.items():
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"{name} is {number!r}, but it must be a positive integer.")


def check_built(layer):
    if not layer.built:
        raise ValueError(f"{layer.name} has no weights yet: call the layer first, or build it.")


def _zero_hidden(inputs, visible):
    """Zeroes what no head, (B, 1 or H, T), sees, so that garbage there spoils no kernel's gradient."""
    if visible is None or inputs is None:
        return inputs
    visible = ops.any(visible, axis=1)[..., None]  # (B, T, 1)
    return ops.where(align_mask(visible, rank=len(inputs.shape)), inputs, 0)  # (B, T, D)
