"""Longformer's attention: a sliding window, and a few global tokens that see all and are seen by all."""
# mypy: disable-error-code="override"

import keras
from keras import ops

from keras_attention.blocks import (
    HIDDEN,
    attend_blocks,
    merge_blocks,
    pad_to_blocks,
    replace,
    scatter_blocks,
    set_aside,
    split_blocks,
    with_neighbours,
)
from keras_attention.layers.efficient import BlockAttention
from keras_attention.masks import causal_mask, combine_masks, window_mask


@keras.saving.register_keras_serializable(package="keras_attention")
class LongformerAttention(BlockAttention):
    """softmax(q_i · k_j / √Dk) over the keys j with |i − j| ≤ window, and over all where i or j is global.

    Time and memory are n · 2½ · window: the sequence is cut into blocks of half a window, each of which meets
    itself and two neighbours on each side. It pays from a length of several windows.

    Args:
        num_heads, key_dim, …: those of `MultiHeadAttention`.
        window: how many neighbours are visible on each side, so that 2 · window + 1 keys are;
            `masks.window_from` converts the sizes of other libraries. 0 leaves the token itself.
        global_tokens: G positions that see all tokens and are seen by all, or a number: so many first ones.
        global_projections: whether global tokens look by query, key and value projections of their own, as in
            the paper. Those come last among the weights: a dense layer's drop in as
            `dense.get_weights() + dense.get_weights()[:6]`, whose last six (three without biases) are where
            the new projections start. Without them, `dense.get_weights()` is all.

    Call arguments, returns and errors: those of `EfficientAttention`.

    Raises:
        ValueError: the window or a global position is negative or no integer.

    Paper: Beltagy et al., 2020, "Longformer: The Long-Document Transformer".

    >>> layer = LongformerAttention(3, 4, window=1, global_tokens=1)
    >>> layer.pattern_mask(5).numpy().astype(int)
    array([[1, 1, 1, 1, 1],
           [1, 1, 1, 0, 0],
           [1, 1, 1, 1, 0],
           [1, 0, 1, 1, 1],
           [1, 0, 0, 1, 1]])
    >>> layer(ops.ones((2, 5, 8))).shape
    TensorShape([2, 5, 8])
    """

    def __init__(self, num_heads, key_dim, window, *, global_tokens=0, global_projections=False, **kwargs):
        super().__init__(num_heads, key_dim, **kwargs)
        numbers = [("window", window)]
        if isinstance(global_tokens, int):
            numbers.append(("global_tokens", global_tokens))
            global_tokens = range(global_tokens)
        numbers += [("A position in global_tokens", position) for position in global_tokens]
        for name, number in numbers:
            if not isinstance(number, int) or number < 0:
                raise ValueError(f"{name} is {number!r}, but it must be an integer of 0 or more.")
        self.window = window
        self.global_tokens = sorted(set(global_tokens))
        self.global_projections = global_projections
        self.block_length = max(-(-window // 2), 1)

    def build(self, inputs_shape):
        super().build(inputs_shape)
        if self.global_projections:
            locals_ = {"query": self.query_dense, "key": self.key_dense, "value": self.value_dense}
            self.global_denses = [
                self._dense(f"global_{name}", "btc,chd->bthd", "hd", dense.partial_output_shape[1:])
                for name, dense in locals_.items()
            ]
            for dense in self.global_denses:
                dense.build(inputs_shape)

    def pattern_mask(self, length, causal=False):
        """Which query sees which key: boolean (n, n).

        With `attention_mask=pattern_mask(n)[None]`, `SelfAttention` gives the same result.
        """
        is_global = ops.any(self._one_hot(length), axis=0)  # (n,)
        everything = ops.logical_or(is_global[:, None], is_global)
        mask = ops.logical_or(window_mask(length, window=self.window), everything)
        return combine_masks(mask, causal_mask(length) if causal else None)

    def attend(self, query, key, value, **options):
        if self.global_projections:
            query_dense, key_dense, value_dense = self.global_denses
            positions = ops.arange(ops.shape(query)[1])
            options["global_heads"] = (
                self.heads_of(query_dense, query, positions),  # (B, H, n, Dk)
                self.heads_of(key_dense, key, positions),  # (B, H, n, Dk)
                self.heads_of(value_dense, value),  # (B, H, n, Dv)
            )
        return super().attend(query, key, value, **options)

    def block_length_of(self, length):
        if not isinstance(length, int):
            return self.block_length
        return max(1, -(-length // max(1, -(-length // self.block_length))))  # all alike: little padding

    def attend_padded(self, query, key, value, kind, *, causal, dropout, return_weights, global_heads=None):
        length = ops.shape(query)[2]
        size = self.block_length_of(length)
        count, reach = length // size, -(-self.window // size)  # blocks on each side that the window meets
        reach = min(reach, count - 1) if isinstance(count, int) else reach
        before, after = reach, 0 if causal else reach
        is_global = ops.transpose(ops.any(self._one_hot(length), axis=0, keepdims=True))  # (n, 1)
        local = (key, value, ops.where(is_global, HIDDEN, kind))
        seen = [with_neighbours(split_blocks(x, size), before, after) for x in local]  # (B, H, N, K, ·)
        offset = ops.arange(-before * size, (after + 1) * size) - ops.arange(size)[:, None]  # (s, K), to key
        visible = (ops.abs(offset) <= self.window) & (offset <= (0 if causal else self.window))
        near = visible.shape[1]
        if self.global_tokens:
            positions = ops.reshape(ops.arange(length), (count, size, 1))  # (N, s, 1)
            past = self._positions() <= (positions if causal else length)  # (N, s, G) or (G,)
            visible = ops.concatenate(
                [ops.broadcast_to(x, (count, size, x.shape[-1])) for x in (visible, past)], axis=-1
            )  # (N, s, K + G)
            everywhere = (ops.repeat(self._take(x)[:, :, None], count, axis=2) for x in (key, value, kind))
            seen = [ops.concatenate(pair, axis=3) for pair in zip(seen, everywhere, strict=True)]

        output, weights, _ = attend_blocks(split_blocks(query, size), *seen, visible=visible, dropout=dropout)
        output = merge_blocks(output)  # (B, H, n, Dv)
        if return_weights:
            index = ops.arange(count)[:, None] + ops.arange(-before, after + 1)  # (N, K / s)
            columns = ops.matmul(
                merge_blocks(weights[..., near:]), ops.cast(self._one_hot(length), weights.dtype)
            )
            weights = scatter_blocks(weights[..., :near], index[None], count) + columns  # (B, H, n, n)
        if self.global_tokens:
            rows, rows_weights = self._global_rows(
                query, key, value, kind, causal=causal, dropout=dropout, global_heads=global_heads
            )
            output = replace(output, rows, self._positions())
            weights = replace(weights, rows_weights, self._positions()) if return_weights else None
        return output, weights if return_weights else None

    def _global_rows(self, query, key, value, kind, *, causal, dropout, global_heads):
        """What the global tokens see: output (B, H, G, Dv), weights (B, H, G, n)."""
        if global_heads is not None:
            query, key, value = (pad_to_blocks(x, self.block_length_of(x.shape[2])) for x in global_heads)
            key, value, _ = set_aside(key, value)
        query = self._take(query)  # (B, H, G, Dk)
        past = ops.arange(ops.shape(key)[2]) <= self._positions()[:, None]  # (G, n)
        one_block = (x[:, :, None] for x in (query, key, value, kind))  # (B, H, 1, G or n, ·)
        output, weights, _ = attend_blocks(*one_block, visible=past if causal else True, dropout=dropout)
        return output[:, :, 0], weights[:, :, 0]

    def _positions(self):
        return ops.convert_to_tensor(self.global_tokens, "int32")  # (G,)

    def _one_hot(self, length):
        """Where the global tokens are: boolean (G, n)."""
        return ops.equal(self._positions()[:, None], ops.arange(length))

    def _take(self, x):
        """The global tokens of x, zeros for those beyond the end: (B, H, n, ·) → (B, H, G, ·)."""
        positions, length = self._positions(), ops.shape(x)[2]
        inside = ops.less(positions, length)[:, None]  # (G, 1)
        return ops.where(inside, ops.take(x, ops.minimum(positions, length - 1), axis=2), 0)

    def get_config(self):
        return {
            **super().get_config(),
            "window": self.window,
            "global_tokens": self.global_tokens,
            "global_projections": self.global_projections,
        }
