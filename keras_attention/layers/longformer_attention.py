"""Longformer's attention: a sliding window, and a few global tokens that see all and are seen by all."""
# mypy: disable-error-code="override"

import keras
from keras import ops

from keras_attention.blocks import (
    HIDDEN,
    as_bias,
    attend_biased,
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

BY_HEADS_FROM = 2**24  # scores of a sequence, whose float32 take 64 MB


@keras.saving.register_keras_serializable(package="keras_attention")
class LongformerAttention(BlockAttention):
    """softmax(q_i · k_j / √Dk) over the keys j with |i − j| ≤ window, and over all where i or j is global.

    Time and memory are n · 2½ · window: the sequence is cut into blocks of half a window, each of which meets
    itself and two neighbours on each side. It pays from a length of several windows. On TensorFlow, a long
    sequence of known length takes one head after the other and keeps the scores of one, unless weights are
    dropped; the gradient computes them again.

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

    def attend_padded(self, query, key, value, kind, *, causal, dropout, return_weights, global_heads=()):
        length = ops.shape(query)[2]
        size = self.block_length_of(length)
        count, reach = length // size, -(-self.window // size)  # blocks on each side that the window meets
        reach = min(reach, count - 1) if isinstance(count, int) else reach
        before, after = reach, 0 if causal else reach
        is_global = ops.transpose(ops.any(self._one_hot(length), axis=0, keepdims=True))  # (n, 1)
        offset = ops.arange(-before * size, (after + 1) * size) - ops.arange(size)[:, None]  # (s, K), to key
        visible = (ops.abs(offset) <= self.window) & (offset <= (0 if causal else self.window))
        near = visible.shape[1]
        if self.global_tokens:
            positions = ops.reshape(ops.arange(length), (count, size, 1))  # (N, s, 1)
            past = self._positions() <= (positions if causal else length)  # (N, s, G) or (G,)
            visible = ops.concatenate(
                [ops.broadcast_to(x, (count, size, x.shape[-1])) for x in (visible, past)], axis=-1
            )  # (N, s, K + G)

        def seen(x, local):
            """What each block sees, as `local` near it and as x of the global tokens: (B, H, N, K + G, ·)."""
            blocks = with_neighbours(split_blocks(local, size), before, after)
            if not self.global_tokens:
                return blocks
            return ops.concatenate([blocks, ops.repeat(self._take(x)[:, :, None], count, axis=2)], axis=3)

        pattern = as_bias(seen(kind, ops.where(is_global, HIDDEN, kind)), visible)
        past = ops.arange(length) <= self._positions()[:, None]  # (G, n)
        rows_pattern = as_bias(kind[:, :, None], past if causal else True)

        def attend(query, key, value, *global_heads):
            """(B, H, n, ·), of any number of heads → output (B, H, n, Dv), and weights (B, H, n, n)."""
            blocks = split_blocks(query, size), seen(key, key), seen(value, value)
            output, weights, _ = attend_biased(*blocks, *pattern, dropout=dropout)
            output = merge_blocks(output)  # (B, H, n, Dv)
            if return_weights:
                index = ops.arange(count)[:, None] + ops.arange(-before, after + 1)  # (N, K / s)
                columns = ops.matmul(
                    merge_blocks(weights[..., near:]), ops.cast(self._one_hot(length), weights.dtype)
                )
                weights = scatter_blocks(weights[..., :near], index[None], count) + columns  # (B, H, n, n)
            if self.global_tokens:
                query, key, value = global_heads or (query, key, value)
                one_block = (x[:, :, None] for x in (self._take(query), key, value))  # (B, H, 1, G or n, ·)
                rows, rows_weights, _ = attend_biased(*one_block, *rows_pattern, dropout=dropout)
                output = replace(output, rows[:, :, 0], self._positions())
                if return_weights:
                    weights = replace(weights, rows_weights[:, :, 0], self._positions())
            return [output, weights] if return_weights else [output]

        if global_heads:
            global_query, *others = (pad_to_blocks(x, size) for x in global_heads)
            global_heads = global_query, *set_aside(*others)[:2]
        heads = query, key, value, *global_heads
        large = isinstance(length, int) and self.num_heads * length * near >= BY_HEADS_FROM
        if large and dropout is None and keras.backend.backend() == "tensorflow":
            from keras_attention.by_heads import by_heads  # needs TensorFlow

            widths = [value.shape[-1], length] if return_weights else [value.shape[-1]]
            output, *weights = by_heads(attend, heads, widths)
        else:
            output, *weights = attend(*heads)
        return output, weights[0] if return_weights else None

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
