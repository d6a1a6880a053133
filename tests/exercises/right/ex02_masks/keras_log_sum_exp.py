import keras


def padding_mask(tokens):
    return keras.ops.cast(tokens, "bool")[:, None, :]


def causal_mask(length):
    return keras.ops.cast(keras.ops.tril(keras.ops.ones((length, length))), "bool")


def masked_softmax(scores, mask):
    hidden = keras.ops.where(mask, scores, float("-inf"))
    weights = keras.ops.exp(hidden - keras.ops.logsumexp(hidden, axis=-1, keepdims=True))
    return keras.ops.where(keras.ops.isnan(weights), 0.0, weights)
