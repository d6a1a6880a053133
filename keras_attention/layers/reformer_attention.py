"""Reformer's attention: tokens look for those that a random hash finds similar."""
# mypy: disable-error-code="override"

import functools
import random

import keras
import numpy as np
from keras import ops

from keras_attention.blocks import (
    HIDDEN,
    attend_blocks,
    merge_blocks,
    reorder,
    scatter_blocks,
    split_blocks,
    with_neighbours,
)
from keras_attention.functional import LOWEST
from keras_attention.layers.base import check_positive
from keras_attention.layers.efficient import BlockAttention

HALF = 64  # half the largest number of buckets
CAUSAL_BUCKETS = 16
ITSELF = -1e5  # what a token scores with itself, which it looks at only where there is nothing else


@keras.saving.register_keras_serializable(package="keras_attention")
class ReformerAttention(BlockAttention):
    """softmax(q_i · q_j / |q_j|) over those j that share a chunk with i, in any of num_hashes rounds.

    Queries are keys as well (the key projection rests, but stays among the weights, so that a dense layer's
    drop in). In each round

        the bucket of a token is argmax [q R; −q R] for a random R, so that similar tokens share one,
        tokens are sorted by bucket (these in a random order) and position, and cut into chunks of chunk_size,
        each chunk sees itself and the one before.

    A key that several rounds find counts once, so that with enough rounds, and for a single chunk at once,
    the result is that of full attention with shared queries and keys. A token looks at itself only where it
    sees nothing else.

    When causal, cutting into chunks would let the future decide what the past can see. So i then sees the
    last chunk_size tokens before it in its own bucket: more rounds come near full attention without reaching
    it, and a single bucket is a window of the last chunk_size tokens. For the same reason the number of
    buckets does not follow the length then: choose about n / chunk_size for the lengths n to come.

    Time and memory are n · num_hashes · (2 · chunk_size + 64); sorting adds n log n to the time.

    Args:
        num_heads, key_dim, …: those of `MultiHeadAttention`.
        chunk_size: tokens in a chunk.
        num_hashes: number of rounds.
        num_buckets: 128 at most; None means about the number of chunks, and 16 when causal.
        seed: seed of the hashes, and of the dropout; None draws one, which the config keeps.

    Call arguments, returns and errors: those of `EfficientAttention`. Which keys are seen depends on the
    inputs: there is no pattern_mask, but the weights are above 0 where a key is seen.

    Raises:
        ValueError: chunk_size or num_hashes is not positive, or num_buckets is out of range.

    Paper: Kitaev et al., 2020, "Reformer: The Efficient Transformer".

    >>> layer = ReformerAttention(3, 4, chunk_size=2, num_hashes=2, seed=0)
    >>> layer(ops.ones((2, 5, 8))).shape
    TensorShape([2, 5, 8])
    """

    def __init__(
        self, num_heads, key_dim, chunk_size=64, num_hashes=1, *, num_buckets=None, seed=None, **kwargs
    ):
        seed = random.randrange(2**31) if seed is None else seed
        super().__init__(num_heads, key_dim, seed=seed, **kwargs)
        check_positive(chunk_size=chunk_size, num_hashes=num_hashes)
        if num_buckets is not None and num_buckets not in range(1, 2 * HALF + 1):
            raise ValueError(
                f"num_buckets is {num_buckets!r}, but it must be an integer from 1 to {2 * HALF}."
            )
        self.block_length = self.chunk_size = chunk_size
        self.num_hashes = num_hashes
        self.num_buckets = num_buckets
        rng = np.random.default_rng([seed, key_dim])
        self.rotations = rng.normal(size=(key_dim, num_hashes * HALF)).astype("float32")
        self.orders = [rng.permutation(2 * HALF).astype("int32") for _ in range(num_hashes)]

    def build(self, inputs_shape):
        super().build(inputs_shape)
        self.key_dense.trainable = False  # it rests

    def attend_sequence(self, query, key, value, **options):
        return super().attend_sequence(query, query, value, **options)

    def attend_padded(self, query, key, value, kind, *, causal, dropout, return_weights):
        length = ops.shape(key)[2]
        kind = ops.broadcast_to(kind, (*ops.shape(key)[:3], 1))  # (B, H, n, 1)
        marks = [kind, ops.broadcast_to(ops.arange(length)[:, None], ops.shape(kind))]
        rounds = []
        for bucket in self._buckets(key, kind, causal):  # (B, H, n)
            order = ops.argsort(bucket * length + ops.arange(length), axis=-1)  # (B, H, n)
            rank = ops.argsort(order, axis=-1)  # (B, H, n), the inverse
            # so that a token sees, in any round, the keys whose place is its own or up to `reach` below
            place = rank + 2 * length * bucket if causal else rank // self.chunk_size
            marks.append(place[..., None])
            rounds.append(self._round(key, value, marks, order, rank, causal, dropout, return_weights))

        outputs, totals, weights = zip(*rounds, strict=True)
        if self.num_hashes == 1:
            return outputs[0], weights[0]
        shares = ops.softmax(ops.concatenate(totals, axis=3), axis=3)  # (B, H, n, R)
        shares = ops.split(ops.cast(shares, value.dtype), self.num_hashes, axis=3)  # R × (B, H, n, 1)
        output = sum(share * x for share, x in zip(shares, outputs, strict=True))
        if not return_weights:
            return output, None
        return output, sum(share * x for share, x in zip(shares, weights, strict=True))

    def _buckets(self, x, kind, causal=False):
        """Where the hashes put each token, one array (B, H, n) a round; hidden tokens are put last."""
        count = self.num_buckets or CAUSAL_BUCKETS
        if self.num_buckets is None and not causal:
            length = ops.sum(ops.cast(kind[:, :1] != HIDDEN, "int32"), axis=2, keepdims=True)  # (B, 1, 1, 1)
            count = 2 * ops.clip(-(-length // (2 * self.chunk_size)), 1, HALF)[..., None]  # (B, 1, 1, 1, 1)
        x = ops.matmul(ops.cast(x, "float32"), self.rotations)  # (B, H, n, R · 64)
        x = ops.reshape(x, (*ops.shape(x)[:3], self.num_hashes, HALF))  # (B, H, n, R, 64)
        pairs = 2 * ops.arange(HALF)  # of a direction and its opposite
        x = ops.concatenate(
            [ops.where(pairs < count, x, LOWEST), ops.where(pairs + 1 < count, -x, LOWEST)], axis=-1
        )
        buckets = ops.argmax(ops.stop_gradient(x), axis=-1)  # (B, H, n, R)
        buckets = [ops.take(order, buckets[..., i]) for i, order in enumerate(self.orders)]  # (B, H, n) each
        return [ops.where(kind[..., 0] == HIDDEN, 2 * HALF, bucket) for bucket in buckets]

    def _round(self, key, value, marks, order, rank, causal, dropout, return_weights):
        """One round, for the tokens in their order.

        Args:
            marks: kind, position and the places in all rounds so far, (B, H, n, 1) each.
            order, rank: (B, H, n), of the sorted tokens.

        Returns:
            output (B, H, n, Dv), the logarithm of its divisor (B, H, n, 1), weights (B, H, n, n) or None
        """
        size, count = self.chunk_size, ops.shape(key)[2] // self.chunk_size
        queries, values, own = (
            split_blocks(reorder(x, order), size) for x in (key, value, ops.concatenate(marks, axis=3))
        )  # (B, H, N, s, ·)
        keys, values, theirs = (with_neighbours(x, after=0) for x in (unit(queries), values, own))

        _, position, *earlier, place = (
            i - ops.swapaxes(j, -1, -2)
            for i, j in zip(ops.split(own, len(marks), -1), ops.split(theirs, len(marks), -1), strict=True)
        )  # (B, H, N, s, 2 · s) each, from key to query
        reach = size if causal else 1
        visible = [~((other >= 0) & (other <= reach)) for other in earlier]  # those are counted there
        if causal:
            visible += [position >= 0, (place >= 0) & (place <= reach)]
        output, weights, scores = attend_blocks(
            queries,
            keys,
            values,
            theirs[..., :1],
            visible=functools.reduce(ops.logical_and, visible, True),
            bias=ops.where(position == 0, ITSELF, 0.0),
            scale=1.0,
            dropout=dropout,
        )
        total = ops.logsumexp(scores, axis=-1, keepdims=True) if self.num_hashes > 1 else scores[..., :1]
        output, total = (reorder(merge_blocks(x), rank) for x in (output, total))
        if not return_weights:
            return output, total, None
        index = ops.arange(count)[:, None] + ops.arange(-1, 1)  # (N, 2)
        weights = reorder(scatter_blocks(weights, index[None], count), rank)  # (B, H, n, n), its keys sorted
        return output, total, ops.swapaxes(reorder(ops.swapaxes(weights, 2, 3), rank), 2, 3)

    def get_config(self):
        names = ("chunk_size", "num_hashes", "num_buckets")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


def unit(x):
    """x / |x|, of the last axis."""
    long = ops.cast(x, keras.backend.result_type(x.dtype, "float32"))
    return ops.cast(long * ops.rsqrt(ops.sum(long**2, axis=-1, keepdims=True) + 1e-12), x.dtype)
