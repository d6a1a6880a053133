import tensorflow as tf


def softmax(scores):
    return tf.nn.softmax(scores, axis=-1)


@tf.function
def attention(query, key, value):
    query = query * tf.math.rsqrt(tf.cast(tf.shape(query)[-1], query.dtype))
    weights = softmax(tf.matmul(query, key, transpose_b=True))
    return weights @ value, weights
