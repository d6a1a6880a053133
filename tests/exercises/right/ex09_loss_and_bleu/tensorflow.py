import collections
import math

import tensorflow as tf


@tf.function
def masked_loss(logits, labels):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    losses = tf.where(labels > 0, losses, 0.0)
    return tf.reduce_sum(losses) / tf.cast(tf.math.count_nonzero(labels), tf.float32), losses


def words(row, end):
    row = tf.constant(row)
    ended = tf.cumsum(tf.cast(row == end, tf.int32)) > 0
    return tf.boolean_mask(row, ~ended)


def matches(written, reference, n):
    def count(tokens):
        return collections.Counter(zip(*[list(tokens)[i:] for i in range(n)], strict=False))

    mine, theirs = count(written), count(reference)
    return mine.total() - (mine - theirs).total(), mine.total()


def bleu(written, references, end):
    written = [words(row, end).numpy().tolist() for row in written]
    references = [words(row, end).numpy().tolist() for row in references]
    score = min(0.0, 1 - sum(map(len, references)) / sum(map(len, written)))
    for n in (1, 2, 3, 4):
        counts = [matches(a, b, n) for a, b in zip(written, references, strict=True)]
        found, total = sum(count[0] for count in counts), sum(count[1] for count in counts)
        score += math.log(found / total) / 4 if found else -math.inf
    return tf.constant(100.0) * tf.exp(score)
