import tensorflow as tf


def padding_mask(tokens):
    return tf.not_equal(tokens, 0)[:, tf.newaxis]


def causal_mask(length):
    return tf.linalg.band_part(tf.ones((length, length)), -1, 0) > 0


def masked_softmax(scores, mask):
    mask = tf.broadcast_to(mask, tf.shape(scores))
    weights = tf.nn.softmax(
        tf.where(mask, scores, scores.dtype.min if hasattr(scores.dtype, "min") else -3e38)
    )
    return tf.where(mask, weights, tf.zeros_like(weights))
