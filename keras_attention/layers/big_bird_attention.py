"""BigBird's attention: a window, global and random tokens, all of them in blocks."""
# mypy: disable-error-code="override"

import random

import keras
import numpy as np
from keras import ops

from keras_attention.blocks import (
    HIDDEN,
    attend_blocks,
    merge_blocks,
    replace,
    scatter_blocks,
    split_blocks,
)
from keras_attention.layers.efficient import BlockAttention
from keras_attention.masks import block_mask, causal_mask, combine_masks

RANDOM_ROWS = 1024  # after so many blocks, the random numbers repeat


@keras.saving.register_keras_serializable(package="keras_attention")
class BigBirdAttention(BlockAttention):
    """softmax(q_i · k_j / √Dk) over the keys j of the blocks that the block of i sees:

        itself and its two neighbours,
        the global blocks, which also see all others,
        num_random_blocks others, which differ from head to head.

    The random blocks are spread: the rest of the sequence is divided into num_random_blocks equal parts, and
    each gives one block. No block is counted twice, nor drawn from what is visible anyway, so that a row sees
    exactly that many where there are as many left. When causal, they are drawn from the past.

    Time and memory are n · block_size · (3 + global + random blocks).

    Args:
        num_heads, key_dim, …: those of `MultiHeadAttention`.
        block_size: s, tokens in a block.
        num_random_blocks: r.
        global_blocks: indices of the global blocks; negative ones count from the end (of the batch, padding
            included), and are left out when causal, where the end is still to come.
        seed: seed of the pattern, and of the dropout; None draws one, which the config keeps. The pattern
            depends on it and on the number of blocks, and is the same in training and evaluation.

    Call arguments, returns and errors: those of `EfficientAttention`.

    Raises:
        ValueError: block_size is not positive, num_random_blocks is negative.

    Paper: Zaheer et al., 2020, "Big Bird: Transformers for Longer Sequences".

    >>> layer = BigBirdAttention(1, 4, block_size=1, num_random_blocks=1, global_blocks=[0], seed=0)
    >>> layer.pattern_mask(6).shape
    TensorShape([1, 6, 6])
    >>> layer(ops.ones((2, 6, 8))).shape
    TensorShape([2, 6, 8])
    """

    def __init__(
        self,
        num_heads,
        key_dim,
        block_size=64,
        num_random_blocks=3,
        *,
        global_blocks=(0, -1),
        seed=None,
        **kwargs,
    ):
        seed = random.randrange(2**31) if seed is None else seed
        super().__init__(num_heads, key_dim, seed=seed, **kwargs)
        for name, number, least in [
            ("block_size", block_size, 1),
            ("num_random_blocks", num_random_blocks, 0),
        ]:
            if not isinstance(number, int) or number < least:
                raise ValueError(f"{name} is {number!r}, but it must be an integer of {least} or more.")
        self.block_length = self.block_size = block_size
        self.num_random_blocks = num_random_blocks
        self.global_blocks = list(global_blocks)
        rng = np.random.default_rng([seed, num_heads])
        self._uniform = rng.random((num_heads, RANDOM_ROWS, num_random_blocks), "float32")

    def pattern_mask(self, length, causal=False):
        """Which query sees which key: boolean (H, n, n).

        With `attention_mask=pattern_mask(n)[None]`, `SelfAttention` gives the same result.
        """
        count = max(1, -(-length // self.block_size))
        index, visible = self.pattern(count, causal)  # (H, N, K)
        here = ops.equal(index[..., None], ops.arange(count))  # (H, N, K, N)
        blocks = ops.any(ops.logical_and(here, visible[..., None]), axis=2)  # (H, N, N)
        is_global = ops.any(ops.equal(ops.arange(count)[:, None], self._global_index(count, causal)), axis=1)
        blocks = ops.logical_or(blocks, is_global[:, None])
        heads = [block_mask(blocks[head], self.block_size, length, length) for head in range(self.num_heads)]
        return combine_masks(ops.stack(heads), causal_mask(length) if causal else None)

    def pattern(self, count, causal=False):
        """The blocks that each block sees (global ones see all, whatever this says).

        Args:
            count: N, the number of blocks.
            causal: draw the random blocks from the past.

        Returns:
            index (H, N, K), and visible (H, N, K), which is False where the index is none: beyond the ends,
            or a repetition.
        """
        own = ops.arange(count)[:, None]  # (N, 1)
        everywhere = self._global_index(count, causal)
        everywhere = ops.broadcast_to(everywhere, (count, len(self.global_blocks)))  # (N, G)
        fixed = ops.concatenate([own + ops.arange(-1, 2), everywhere], axis=1)  # (N, 3 + G)
        width = fixed.shape[1]
        earlier = ops.arange(width)[:, None] > ops.arange(width)
        repeated = ops.equal(fixed[:, :, None], fixed[:, None, :]) & earlier  # (N, 3 + G, 3 + G)
        visible = (fixed >= 0) & (fixed < count) & ~ops.any(repeated, axis=2)  # (N, 3 + G)

        # the blocks left, counted from 0, in equal parts; from each part the uniform numbers choose one
        end = ops.maximum(own - 1, 0) if causal else count + 0 * own  # (N, 1)
        taken = visible & (fixed < end)
        left = end - ops.sum(ops.cast(taken, "int32"), axis=1, keepdims=True)  # (N, 1)
        bounds = ops.arange(self.num_random_blocks + 1) * left // max(self.num_random_blocks, 1)  # (N, r + 1)
        start, size = bounds[:, :-1], bounds[:, 1:] - bounds[:, :-1]  # (N, r)
        uniform = ops.take(self._uniform, ops.arange(count) % RANDOM_ROWS, axis=1)  # (H, N, r)
        offset = ops.cast(uniform * ops.cast(size, "float32"), "int32")  # (H, N, r)
        chosen = start + ops.minimum(offset, size - 1)  # (H, N, r)
        for block in ops.split(ops.sort(ops.where(taken, fixed, count), axis=1), width, axis=1):
            chosen = chosen + ops.cast(chosen >= block, "int32")  # skip what is visible anyway

        index = ops.broadcast_to(fixed, (self.num_heads, count, width))
        index = ops.clip(ops.concatenate([index, chosen], axis=2), 0, count - 1)  # (H, N, K)
        visible = ops.concatenate([visible, size > 0], axis=1)  # (N, K)
        return index, ops.broadcast_to(visible, ops.shape(index))

    def attend_padded(self, query, key, value, kind, *, causal, dropout, return_weights):
        heads, length, size = self.num_heads, ops.shape(query)[2], self.block_size
        count = length // size
        index, visible = self.pattern(count, causal)  # (H, N, K)
        keys, values = self._take(key, index), self._take(value, index)  # (B, H, N, K · s, ·)
        kinds = ops.where(ops.repeat(visible, size, axis=2)[..., None], self._take(kind, index), HIDDEN)
        past = True
        if causal:
            positions = index[..., None] * size + ops.arange(size)  # (H, N, K, s)
            positions = ops.reshape(positions, (heads, count, 1, index.shape[2] * size))  # (H, N, 1, K · s)
            past = positions <= ops.reshape(ops.arange(length), (count, size, 1))  # (H, N, s, K · s)
        output, weights, _ = attend_blocks(
            split_blocks(query, size), keys, values, kinds, visible=past, dropout=dropout
        )
        output = merge_blocks(output)  # (B, H, n, Dv)
        weights = scatter_blocks(weights, index, count) if return_weights else None  # (B, H, n, n)
        if self.global_blocks:
            rows, rows_weights = self._global_rows(query, key, value, kind, causal, dropout)
            output = self._replace(output, rows, causal)
            weights = self._replace(weights, rows_weights, causal) if return_weights else None
        return output, weights

    def _take(self, x, index):
        """The blocks of each head by its index (H, N, K): (B, 1 or H, n, ·) → (B, H, N, K · s, ·)."""
        batch, heads, length, width = ops.shape(x)
        count, size = length // self.block_size, self.block_size
        blocks = ops.reshape(x, (batch, heads * count, size * width))
        first = ops.arange(self.num_heads)[:, None, None] % heads * count  # where the head starts
        seen = ops.take(blocks, index + first, axis=1)  # (B, H, N, K, s · ·)
        return ops.reshape(seen, (batch, self.num_heads, count, index.shape[2] * size, width))

    def _global_rows(self, query, key, value, kind, causal, dropout):
        """What the global blocks see: output (B, H, G · s, Dv), weights (B, H, G · s, n)."""
        batch, heads, length, width = ops.shape(query)
        size, count = self.block_size, length // self.block_size
        index = ops.clip(self._global_index(count, causal), 0, count - 1)  # (G,)
        query = ops.take(split_blocks(query, size), index, axis=2)  # (B, H, G, s, Dk)
        query = ops.reshape(query, (batch, heads, 1, index.shape[0] * size, width))  # (B, H, 1, G · s, Dk)
        positions = ops.reshape(index[:, None] * size + ops.arange(size), (index.shape[0] * size, 1))
        past = ops.arange(length) <= positions if causal else True  # (G · s, n)
        everything = (x[:, :, None] for x in (key, value, kind))  # (B, H, 1, n, ·)
        output, weights, _ = attend_blocks(query, *everything, visible=past, dropout=dropout)
        return output[:, :, 0], weights[:, :, 0]

    def _replace(self, x, rows, causal):
        """The rows of the global blocks in x: (B, H, n, ·), (B, H, G · s, ·) → (B, H, n, ·)."""
        count = ops.shape(x)[2] // self.block_size
        index = self._global_index(count, causal)[:, None]  # (G, 1)
        tokens = index * self.block_size + ops.arange(self.block_size)  # (G, s)
        return replace(x, rows, ops.reshape(tokens, (-1,)))

    def _global_index(self, count, causal):
        """The indices of the global blocks, counted from the start; any number where there is none."""
        index = ops.convert_to_tensor(self.global_blocks, "int32")
        return ops.where(index < 0, count if causal else index + count, index)

    def get_config(self):
        return {
            **super().get_config(),
            "block_size": self.block_size,
            "num_random_blocks": self.num_random_blocks,
            "global_blocks": self.global_blocks,
        }
