"""Exact scaled dot-product attention in O(Tq + Tk) memory, forward and backward, on TensorFlow.

The weights of all heads, (B, H, Tq, Tk), never exist at once: one head attends after the other, a chunk of
its queries at a time, and the gradient computes the weights of a chunk again instead of keeping them.

Papers: Rabe and Staats, 2021, "Self-attention Does Not Need O(n²) Memory"; Dao et al., 2022,
"FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness".
"""

import math
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from keras_attention.functional import LOWEST, as_floats, dot_scores, fit_bias, hide_keys
from keras_attention.masks import as_mask, combine_masks, seen_keys

__all__ = ["chunked_attention"]

ROWS = 512  # queries in a chunk
CAUSAL_PARTS = 16  # of the queries; the keys behind the end of a part are left out


def chunked_attention(
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
    dropout=0.0,
    seed=None,
    rows=ROWS,
):
    """The output of `functional.scaled_dot_product_attention`, without the weights.

    Args:
        query: (B, H, Tq, D).
        key: (B, H, Tk, D).
        value: (B, H, Tk, Dv).
        query_mask, key_mask: (B, Tq) and (B, Tk), True = a real token.
        attention_mask: boolean, True = may be attended to: (B, Tq, Tk), or what broadcasts to (B, H, Tq, Tk).
        bias: added to the scores, of the same shapes as attention_mask; −inf hides as a mask does.
        causal: hide the future; the last query stands at the last key.
        scale: factor of the scores; None means 1 / √D.
        dropout: share of the weights that is dropped.
        seed: (2,) integers, of the dropout.
        rows: queries in a chunk. The largest tensors are (rows, Tk).

    Returns:
        output (B, H, Tq, Dv)

    >>> x = tf.random.stateless_normal((2, 3, 50, 4), seed=(0, 0))
    >>> chunked_attention(x, x, x, causal=True, rows=8).shape
    TensorShape([2, 3, 50, 4])
    """
    query, key, value = map(as_floats, (query, key, value))
    query_length, key_length = tf.shape(query)[2], tf.shape(key)[2]
    query_mask = None if query_mask is None else as_mask(query_mask)
    key_mask = None if key_mask is None else as_mask(key_mask)
    attention_mask = None if attention_mask is None else _rank4(as_mask(attention_mask))
    if bias is not None:
        bias = fit_bias(bias, (*query.shape[:3], key.shape[2]))
        attention_mask = combine_masks(attention_mask, bias != -math.inf)
    seen = seen_keys(query_length, key_length, query_mask, key_mask, attention_mask, causal)
    if seen is not None:
        key, value = hide_keys(key, value, seen)
    plan = _Plan(
        heads=tf.shape(query)[1],
        query_length=query_length,
        key_length=key_length,
        query_mask=None if query_mask is None else query_mask[:, None, :, None],
        key_mask=key_mask,
        attention_mask=attention_mask,
        causal=causal,
        scale=1 / math.sqrt(query.shape[-1]) if scale is None else scale,
        dropout=dropout,
        seed=None if seed is None else tf.cast(seed, "int32"),
        rows=min(rows, query.shape[2] or rows),
        width=query.shape[-1],
        value_width=value.shape[-1],
    )

    @tf.custom_gradient
    def attend(query, key, value, *bias):
        arrays = [plan.pad(_merge(query)), _merge(key), _merge(value)]  # (B · H, T, ·)
        output = _outputs(plan, *arrays, bias)  # (B · H, chunks · rows, Dv)

        def gradient(upstream):
            gradients, of_bias = _gradients(plan, *arrays, bias, output, plan.pad(_merge(upstream)))
            gradients[0], inputs = gradients[0][:, :query_length], (query, key, value)
            return *(tf.reshape(y, tf.shape(x)) for y, x in zip(gradients, inputs, strict=True)), *of_bias

        shape = tf.concat([tf.shape(query)[:3], tf.shape(value)[3:]], axis=0)
        return tf.ensure_shape(
            tf.reshape(output[:, :query_length], shape), (*query.shape[:3], value.shape[-1])
        ), gradient

    return attend(query, key, value, *([] if bias is None else [bias]))


class _Plan(NamedTuple):
    """How the queries of a head are cut into chunks, and what is the same for all of them."""

    heads: Any
    query_length: Any
    key_length: Any
    query_mask: Any  # (B, 1, Tq, 1)
    key_mask: Any  # (B, Tk)
    attention_mask: Any  # (B, H, Tq, Tk), each of them may be 1
    causal: bool
    scale: float
    dropout: float
    seed: Any
    rows: int
    width: int  # of queries and keys
    value_width: int

    def pad(self, x):
        """(B · H, Tq, ·) → (B · H, chunks · rows, ·)."""
        return tf.pad(x, [[0, 0], [0, -self.query_length % self.rows], [0, 0]])

    def parts(self):
        """(first chunk, number of chunks, keys that all their queries see, keys that some of them see)."""
        chunks = -(-self.query_length // self.rows)
        if not self.causal:
            yield 0, chunks, None, self.key_length
            return
        others = (self.query_mask, self.key_mask, self.attention_mask)
        length = -(-chunks // CAUSAL_PARTS)
        for part in range(CAUSAL_PARTS):
            first = tf.minimum(part * length, chunks)
            end = tf.minimum(first + length, chunks)
            past = self.keys_before(first) if all(mask is None for mask in others) else None
            yield first, end - first, past, self.keys_before(end)

    def keys_before(self, chunk):
        """How many keys stand before the chunk's first query, or beside an earlier one."""
        return tf.clip_by_value(chunk * self.rows + self.key_length - self.query_length, 0, self.key_length)


class _Chunk:
    """Some queries of one head, (rows,), and the first `keys` of its keys, whose `past` all of them see."""

    def __init__(self, plan, index, head, past, keys):
        self.plan, self.head, self.past, self.keys = plan, head, past, keys
        self.start = index * plan.rows
        self.positions = tf.minimum(self.start + tf.range(plan.rows), plan.query_length - 1)
        # the last key that causality leaves to each query: (rows, 1)
        self.last_key = self.positions[:, None] + (plan.key_length - plan.query_length)
        self.mask = self.make_mask()
        self.seeing = None  # which query sees anything: (rows, 1)
        if past is not None:
            self.seeing = self.last_key >= 0
        elif self.mask is not None:
            self.seeing = tf.reduce_any(self.mask, axis=-1, keepdims=True)

    def make_mask(self):
        """Which query sees which of the keys behind the past: broadcasts to (rows, keys − past), or None."""
        plan, masks = self.plan, []
        for mask in (plan.query_mask, plan.attention_mask):
            if mask is not None:
                masks.append(tf.gather_nd(mask, self.places(mask))[:, : self.keys])
        if plan.key_mask is not None:
            masks.append(plan.key_mask[self.head // plan.heads, None, : self.keys])
        if plan.causal:
            masks.append(tf.range(0 if self.past is None else self.past, self.keys) <= self.last_key)
        return combine_masks(*masks)

    def weights(self, query, key, bias):
        """(chunks · rows, D), (Tk, D), (B, H, Tq, Tk) → (rows, keys); nonsense where a query sees nothing."""
        query, key, past = self.queries(query), key[: self.keys], self.past
        if past is None:
            scores = self.scores(query, key)
            for x in bias:
                scores += tf.cast(tf.gather_nd(x, self.places(x))[:, : self.keys], scores.dtype)
            if self.mask is not None:
                scores = tf.where(self.mask, scores, LOWEST)
        else:
            hidden = tf.where(self.mask, self.scores(query, key[past:]), LOWEST)
            scores = tf.concat([self.scores(query, key[:past]), hidden], axis=1)
        return tf.nn.softmax(scores)

    def scores(self, query, key):
        scores = dot_scores(query, key, self.plan.scale)
        return tf.cast(scores, keras.backend.result_type(scores.dtype, "float32"))

    def queries(self, x):
        """The chunk's rows of (chunks · rows, ·), zero where a query sees nothing."""
        x = tf.slice(x, (self.start, 0), (self.plan.rows, tf.shape(x)[1]))
        return x if self.seeing is None else tf.where(self.seeing, x, 0)

    def dropout(self, x):
        """Drops the same of the weights and of their gradient."""
        if not self.plan.dropout:
            return x
        if self.plan.dropout == 1:
            return tf.zeros_like(x)
        seed = self.plan.seed + tf.stack([self.head, self.start])
        return tf.nn.experimental.stateless_dropout(x, self.plan.dropout, seed)

    def places(self, x):
        """Where the queries stand in (B, H, Tq, ·), of which each axis may be 1: (rows, 3)."""
        places = (self.head // self.plan.heads, self.head % self.plan.heads, self.positions)
        sizes = tf.unstack(tf.shape(x)[:3])
        return tf.stack(
            [
                tf.broadcast_to(tf.where(size == 1, 0, i), (self.plan.rows,))
                for i, size in zip(places, sizes, strict=True)
            ],
            axis=-1,
        )

    def add_to(self, total, x):
        """Adds (rows, keys) to those rows of (B, H, Tq, Tk), of which each axis may be 1."""
        width = tf.shape(total)[3]
        x = tf.cond(
            tf.equal(width, 1),
            lambda: tf.reduce_sum(x, axis=-1, keepdims=True),
            lambda: tf.pad(x, [[0, 0], [0, width - self.keys]]),
        )
        return tf.tensor_scatter_nd_add(total, self.places(total), tf.cast(x, total.dtype))


@tf.function(autograph=False, reduce_retracing=True)
def _outputs(plan, queries, keys, values, bias):
    """(B · H, chunks · rows, D), (B · H, Tk, D), (B · H, Tk, Dv) → (B · H, chunks · rows, Dv)."""

    def head_output(head, _):
        query, key, value = queries[head], keys[head], values[head]
        parts = []
        for first, count, past, seen in plan.parts():

            def chunk_output(i, _, first=first, past=past, seen=seen):
                chunk = _Chunk(plan, first + i, head, past, seen)
                weights = chunk.dropout(chunk.weights(query, key, bias))  # (rows, seen)
                output = tf.matmul(tf.cast(weights, value.dtype), value[:seen])  # (rows, Dv)
                return [], [output if chunk.seeing is None else tf.where(chunk.seeing, output, 0)]

            like = tf.TensorSpec((plan.rows, plan.value_width), value.dtype)
            _, (outputs,) = _loop(chunk_output, count, [], [like])
            parts.append(outputs)  # (count, rows, Dv)
        return [], [_unchunk(parts, plan.value_width)]

    like = tf.TensorSpec((None, plan.value_width), values.dtype)
    return _loop(head_output, tf.shape(queries)[0], [], [like])[1][0]


@tf.function(autograph=False, reduce_retracing=True)
def _gradients(plan, queries, keys, values, bias, outputs, upstreams):
    """Those of query, key and value, and of the bias. With P the weights of a chunk and O its output:

    dV = Pᵀ dO,  dP = dO Vᵀ,  dS = P ∘ (dP − rowsum(dO ∘ O)),  dQ = scale · dS K,  dK = scale · dSᵀ Q
    """
    wide = keras.backend.result_type(queries.dtype, "float32")

    def head_gradients(head, of_bias):
        query, key, value, output, upstream = (x[head] for x in (queries, keys, values, outputs, upstreams))
        of_queries, of_keys, of_values = [], tf.zeros_like(key, wide), tf.zeros_like(value, wide)
        for first, count, past, seen in plan.parts():

            def chunk_gradients(i, sums, first=first, past=past, seen=seen):
                of_keys, of_values, *of_bias = sums
                chunk = _Chunk(plan, first + i, head, past, seen)
                weights = chunk.weights(query, key, bias)  # (rows, seen)
                do = chunk.queries(upstream)  # (rows, Dv)
                row_sums = tf.reduce_sum(tf.cast(do * chunk.queries(output), wide), axis=-1, keepdims=True)
                dp = tf.cast(tf.matmul(do, value[:seen], transpose_b=True), wide)  # (rows, seen)
                ds = weights * (chunk.dropout(dp) - row_sums)  # (rows, seen)
                of_bias = [chunk.add_to(total, ds) for total in of_bias]
                ds = tf.cast(ds, query.dtype)
                of_query = tf.matmul(ds, key[:seen]) * plan.scale  # (rows, D)
                of_key = tf.matmul(ds, chunk.queries(query) * plan.scale, transpose_a=True)  # (seen, D)
                dropped = tf.cast(chunk.dropout(weights), do.dtype)  # (rows, seen)
                of_value = tf.matmul(dropped, do, transpose_a=True)  # (seen, Dv)
                sums = [of_keys + tf.cast(of_key, wide), of_values + tf.cast(of_value, wide), *of_bias]
                return sums, [of_query]

            sums = [of_keys[:seen], of_values[:seen], *of_bias]
            like = tf.TensorSpec((plan.rows, plan.width), query.dtype)
            (seen_keys, seen_values, *of_bias), (part,) = _loop(chunk_gradients, count, sums, [like])
            of_queries.append(part)  # (count, rows, D)
            of_keys = tf.concat([seen_keys, of_keys[seen:]], axis=0)  # (Tk, D)
            of_values = tf.concat([seen_values, of_values[seen:]], axis=0)  # (Tk, Dv)
        return of_bias, [
            _unchunk(of_queries, plan.width),
            tf.cast(of_keys, key.dtype),
            tf.cast(of_values, value.dtype),
        ]

    widths = (plan.width, plan.width, plan.value_width)
    likes = [tf.TensorSpec((None, width), queries.dtype) for width in widths]
    of_bias, gradients = _loop(head_gradients, tf.shape(queries)[0], [tf.zeros_like(x) for x in bias], likes)
    return gradients, of_bias


def _loop(body, count, sums, likes):
    """body(i, sums) → (sums, results) for each i < count: the last sums, and the results stacked.

    `likes` tell the shape and type of each result.
    """
    arrays = [tf.TensorArray(x.dtype, size=count, element_shape=x.shape) for x in likes]

    def step(i, sums, arrays):
        new, results = body(i, sums)
        new = [tf.ensure_shape(x, old.shape) for x, old in zip(new, sums, strict=True)]
        return i + 1, new, [array.write(i, x) for array, x in zip(arrays, results, strict=True)]

    _, sums, arrays = tf.while_loop(lambda i, *_: i < count, step, (0, sums, arrays), parallel_iterations=1)
    return sums, [array.stack() for array in arrays]


def _merge(x):
    """(B, H, T, ·) → (B · H, T, ·)."""
    shape = tf.shape(x)
    return tf.reshape(x, (shape[0] * shape[1], shape[2], x.shape[3]))


def _unchunk(parts, width):
    """Some (count, rows, ·) → (Σ count · rows, ·)."""
    return tf.reshape(tf.concat(parts, axis=0), (-1, width))


def _rank4(x):
    """(Tq, Tk) or (B, Tq, Tk) → (B, H, Tq, Tk)."""
    return x[None, None] if len(x.shape) == 2 else x[:, None] if len(x.shape) == 3 else x
