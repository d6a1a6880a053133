import tensorflow as tf


def window_mask(length, window):
    return tf.linalg.band_part(tf.ones((length, length)), window, window) > 0


def longformer_mask(length, window, global_tokens):
    is_global = tf.scatter_nd([[token] for token in global_tokens], [True] * len(global_tokens), [length])
    return tf.logical_or(window_mask(length, window), is_global[None] | is_global[:, None])


def big_bird_mask(length, block_size, random_blocks):
    count = len(random_blocks)
    blocks = tf.reduce_any(tf.one_hot(random_blocks, count, True, False), axis=1)
    blocks |= longformer_mask(count, 1, [0, count - 1])
    own = tf.repeat(tf.range(count), block_size)[:length]
    return tf.gather(tf.gather(blocks, own), own, axis=1)


@tf.function
def window_attention(query, key, value, mask, window):
    padding = [[0, 0], [window, window], [0, 0]]
    key, value = tf.pad(key, padding), tf.pad(value, padding)
    mask = tf.pad(mask, padding[:2])
    length, size = query.shape[1], 2 * window + 1
    scores = [tf.reduce_sum(query * key[:, m : m + length], axis=-1) for m in range(size)]
    scores = tf.stack(scores, axis=-1) / tf.sqrt(float(query.shape[-1]))
    visible = tf.stack([mask[:, m : m + length] for m in range(size)], axis=-1)
    weights = tf.nn.softmax(tf.where(visible, scores, scores.dtype.min))
    weights = tf.where(visible, weights, 0.0)
    return sum(weights[..., m, None] * value[:, m : m + length] for m in range(size)), weights
