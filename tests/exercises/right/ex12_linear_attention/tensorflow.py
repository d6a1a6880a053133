import tensorflow as tf


def features(x):
    return tf.nn.elu(x) + 1.0


def linear_attention(query, key, value, mask=None):
    query, key = features(query), features(key)
    if mask is not None:
        key = tf.where(mask[..., tf.newaxis], key, tf.zeros_like(key))
    s = tf.matmul(key, value, transpose_a=True)
    z = tf.reduce_sum(key, axis=1)
    return tf.math.divide_no_nan(query @ s, tf.linalg.matvec(query, z)[..., None]), s, z


@tf.function
def causal_linear_attention(query, key, value):
    def add(state, word):
        return step(*word, *state[1:])

    words = tuple(tf.transpose(x, (1, 0, 2)) for x in (query, key, value))
    start = value[:, 0], tf.zeros_like(key[:, 0, :, None] * value[:, 0, None]), tf.zeros_like(key[:, 0])
    output, s, z = tf.scan(add, words, start)
    return tf.transpose(output, (1, 0, 2)), s[-1], z[-1]


def step(query, key, value, s, z):
    query, key = features(query), features(key)
    s += tf.einsum("bd,bv->bdv", key, value)
    z += key
    return tf.einsum("bd,bdv->bv", query, s) / tf.einsum("bd,bd->b", query, z)[:, None], s, z
