"""Greedy and beam search as one loop, for any decoder that can take a step."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf


class Found(NamedTuple):
    """The best output of each sentence: token ids (B, T), END included and 0 after it, the attention of
    each of its tokens (B, T, Tk), and its log-probability (B,), NaN where the logits are no numbers."""

    tokens: tf.Tensor
    attention: tf.Tensor
    score: tf.Tensor


def beam_search(
    step: Callable[[tf.Tensor, Any], tuple[tf.Tensor, Any, tf.Tensor]],
    state: Any,
    limit: tf.Tensor,
    *,
    start: int,
    end: int,
    never: Sequence[int] = (),
    beam_width: int | tf.Tensor = 1,
    length_penalty: float | tf.Tensor = 1.0,
) -> Found:
    """Find for each sentence the output y of the highest log p(y) / |y|^length_penalty.

    At every step the `beam_width` best unfinished outputs grow by a token. One that takes END among the
    best is finished, its score final; it competes with others only by that score. A sentence is done
    when `beam_width` outputs have finished, or none that is unfinished can still win. A beam of 1 is
    greedy search.

    Args:
        step: `step(tokens, state) -> (logits, state, attention)` for B·K rows: tokens (B·K,), logits
            (B·K, V), attention (B·K, Tk); the state is a nest of tensors (B·K, …). The K rows of a sentence
            follow each other; what stays the same for a sentence need not be in the state.
        state: the state before the first step, for the B sentences: a nest of tensors (B, …).
        limit: (B,), the most tokens of each output, END included; one that is not finished by then takes END.
        start, end: ids of START and END.
        never: ids that no output takes, whatever their probability.
        beam_width: K.
        length_penalty: 0 or more; 0 prefers short outputs, 1 compares log-probabilities per token.

    Paper: Wu et al., 2016, "Google's Neural Machine Translation System", for the length normalisation
    by a power of |y|.
    """
    K, batch = beam_width, tf.shape(limit)[0]
    state = tf.nest.map_structure(lambda x: tf.repeat(x, K, axis=0), state)  # (B, …) → (B·K, …)
    first_beam = tf.tile(tf.one_hot(0, K, 0.0, -float("inf"))[None], [batch, 1])  # K equal beams: keep one
    longest = tf.reduce_max(limit)
    arrays = [tf.TensorArray(dtype, longest) for dtype in (tf.int32, tf.int32, tf.float32)]
    best = (
        tf.fill([batch], -float("inf")),
        tf.fill([batch], float("nan")),
        tf.zeros([batch], tf.int32),
        tf.zeros([batch], tf.int32),
    )
    finished = tf.zeros([batch], tf.int32)

    def running(t, tokens, scores, state, best, finished, arrays):
        return (t < longest) & tf.reduce_any(open_sentences(t, scores, best, finished))

    def open_sentences(t, scores, best, finished):
        reachable = scores[:, 0] / tf.cast(limit, tf.float32) ** length_penalty
        return (t < limit) & (finished < K) & (reachable > best[0])

    def grow(t, tokens, scores, state, best, finished, arrays):
        is_open = open_sentences(t, scores, best, finished)  # (B,)
        logits, state, attention = step(tf.reshape(tokens, [-1]), state)
        V = logits.shape[-1]
        log_total = tf.reduce_logsumexp(logits, axis=-1)
        is_last = (t + 1 == tf.repeat(limit, K))[:, None]  # (B·K, 1)
        barred = tf.reduce_any(tf.range(V) == tf.constant(never, tf.int32, (len(never), 1)), axis=0)  # (V,)
        logits = tf.where(tf.where(is_last, tf.range(V) != end, barred), -float("inf"), logits)
        # the 2K best of a sentence are among the 2K best of each of its beams
        width = tf.minimum(2 * K, V)
        top, ids = tf.math.top_k(logits, width)  # (B·K, 2K)
        top = tf.reshape(scores, [-1, 1]) + top - log_total[:, None]
        top, pick = tf.math.top_k(tf.reshape(top, [batch, K * width]), 2 * K)  # (B, 2K)
        ids = tf.gather(tf.reshape(ids, [batch, K * width]), pick, batch_dims=1)
        parents = pick // width  # (B, 2K)

        # what takes END within the K best is finished
        ends = (ids == end) & (tf.range(2 * K) < K) & (top > -float("inf")) & is_open[:, None]
        normalised = tf.where(ends, top / tf.cast(t + 1, tf.float32) ** length_penalty, -float("inf"))
        winner = tf.argmax(normalised, axis=-1, output_type=tf.int32)
        challenge = tf.gather(normalised, winner, batch_dims=1)
        wins = challenge > best[0]
        candidate = (
            challenge,
            tf.gather(top, winner, batch_dims=1),
            tf.fill([batch], t),
            tf.gather(parents, winner, batch_dims=1),
        )
        best = tuple(tf.where(wins, new, old) for new, old in zip(candidate, best, strict=True))
        finished += tf.reduce_sum(tf.cast(ends, tf.int32), axis=-1)

        # the K best of the others go on
        scores, pick = tf.math.top_k(tf.where(ids == end, -float("inf"), top), K)  # (B, K)
        tokens = tf.gather(ids, pick, batch_dims=1)
        parents = tf.gather(parents, pick, batch_dims=1)
        rows = tf.reshape(parents + K * tf.range(batch)[:, None], [-1])
        state = tf.nest.map_structure(lambda x: tf.gather(x, rows), state)
        attention = tf.reshape(attention, [batch, K, -1])
        arrays = [a.write(t, x) for a, x in zip(arrays, (tokens, parents, attention), strict=True)]
        return t + 1, tokens, scores, state, best, finished, arrays

    tokens = tf.fill([batch, K], start)
    loop = (0, tokens, first_beam, state, best, finished, arrays)
    steps, _, _, _, best, _, arrays = tf.while_loop(running, grow, loop)
    tokens, parents, attention = (a.gather(tf.range(steps)) for a in arrays)
    _, score, last, beam = best
    tokens, attention = _trace_back(tokens, parents, attention, last, beam, end)
    return Found(tokens, attention, score)


def _trace_back(tokens, parents, attention, last, beam, end):
    """Follow the parents from the beam whose output took END at step `last`: (T, B, K) → (B, T)."""
    steps = tf.shape(tokens)[0]

    def back(t, beam, path, rows):
        def at(x, beam):
            return tf.gather(x[t], beam, batch_dims=1)

        token = tf.where(t < last, at(tokens, beam), tf.where(t == last, end, 0))
        beam = tf.where(t < last, at(parents, beam), beam)  # the beam that took step t
        row = tf.where((t <= last)[:, None], at(attention, beam), 0.0)
        return t - 1, beam, path.write(t, token), rows.write(t, row)

    start = (steps - 1, beam, tf.TensorArray(tf.int32, steps), tf.TensorArray(tf.float32, steps))
    *_, path, rows = tf.while_loop(lambda t, *_: t >= 0, back, start)
    return tf.transpose(path.stack()), tf.transpose(rows.stack(), (1, 0, 2))  # (B, T), (B, T, Tk)
