import keras
from keras import ops


def window_mask(length, window):
    ones = ops.ones((length, length))
    return ops.cast(ops.tril(ones, window) * ops.triu(ones, -window), "bool")


def longformer_mask(length, window, global_tokens):
    is_global = ops.sum(ops.one_hot(ops.array(global_tokens), length), axis=0)  # (T,)
    return ops.cast(window_mask(length, window), "float32") + is_global + is_global[:, None] > 0


def big_bird_mask(length, block_size, random_blocks):
    count = random_blocks.shape[0]
    drawn = ops.max(ops.one_hot(random_blocks, count), axis=1)  # (N, N)
    blocks = ops.logical_or(drawn > 0, longformer_mask(count, 1, [0, count - 1]))
    mask = ops.repeat(ops.repeat(blocks, block_size, axis=0), block_size, axis=1)
    return mask[:length, :length]


def window_attention(query, key, value, mask, window):
    _, length, width = query.shape
    scores = query @ ops.transpose(key, (0, 2, 1)) / width**0.5
    visible = ops.logical_and(window_mask(length, window), mask[:, None, :])
    scores = ops.where(visible, scores, -1e30)
    powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True)) * ops.cast(visible, "float32")
    total = ops.sum(powers, axis=-1, keepdims=True)
    weights = powers / ops.where(total > 0, total, 1.0)
    padded = ops.pad(weights, ((0, 0), (0, 0), (window, window)))
    band = [padded[:, i, i : i + 2 * window + 1] for i in range(length)]
    return weights @ keras.ops.convert_to_tensor(value), ops.stack(band, axis=1)
