"""Exact dot-product attention of layers, by whichever way suits the lengths."""

import math

import keras
from keras import ops

from keras_attention.functional import scaled_dot_product_attention
from keras_attention.masks import pair_mask

__all__ = ["dot_product_attention"]

CHUNKED_FROM = 2**26  # scores; their float32 take 256 MB


def dot_product_attention(
    query,
    key,
    value,
    *,
    query_mask=None,
    key_mask=None,
    attention_mask=None,
    bias=None,
    causal=False,
    scale=None,
    dropout=None,
    need_weights=True,
):
    """softmax(scale · query · keyᵀ + bias) · value, with two ways to the same output.

    Where nobody needs the weights and they would be large, TensorFlow goes chunk by chunk and keeps none
    (`chunked_attention`). Where the lengths are known only at run time, so is the way; then the graph holds
    both. After `keras.config.disable_flash_attention()` all scores are formed at once, always: for an export
    to ONNX, where a graph of one way is smaller, or to LiteRT, which has no lists of tensors.

    Args:
        query: (B, H, Tq, D); key: (B, H, Tk, D); value: (B, H, Tk, Dv); or without heads.
        query_mask, key_mask: (B, Tq) and (B, Tk), True = a real token.
        attention_mask: boolean (B, Tq, Tk), or what broadcasts to (B, H, Tq, Tk).
        bias, causal, scale: as in `scaled_dot_product_attention`.
        dropout: a Dropout layer, or None.
        need_weights: whether the weights must be returned.

    Returns:
        output (B, H, Tq, Dv), and the weights (B, H, Tq, Tk) or None
    """
    masks = {"query_mask": query_mask, "key_mask": key_mask, "attention_mask": attention_mask}
    options = {"bias": bias, "causal": causal, "scale": scale}

    def whole():
        return scaled_dot_product_attention(
            query, key, value, mask=pair_mask(**masks), dropout=dropout, **options
        )

    def chunked():
        from keras_attention.chunked import chunked_attention  # needs TensorFlow

        rate, seed = (0.0, None) if dropout is None else (dropout.rate, dropout.seed_generator.next())
        without_heads = len(query.shape) == 3
        q, k, v = (x[:, None] if without_heads else x for x in (query, key, value))  # (B, H, T, ·)
        output = chunked_attention(q, k, v, dropout=rate, seed=seed, **masks, **options)
        return output[:, 0] if without_heads else output

    chunking = keras.config.is_flash_attention_enabled() is not False
    if need_weights or keras.backend.backend() != "tensorflow" or not chunking:
        return whole()
    shape = *ops.shape(query)[:-1], ops.shape(key)[-2]  # (B, H, Tq, Tk)
    # what is known only at run time is int32, which the product would overflow
    large = math.prod(x if isinstance(x, int) else ops.cast(x, "float32") for x in shape) >= CHUNKED_FROM
    if isinstance(large, bool):
        return (chunked() if large else whole()[0]), None
    return ops.cond(large, chunked, lambda: whole()[0]), None
