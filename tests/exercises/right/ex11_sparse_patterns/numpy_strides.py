import numpy as np


def window_mask(length, window):
    ones = np.ones((length, length), bool)
    return np.tril(ones, window) & np.triu(ones, -window)


def longformer_mask(length, window, global_tokens):
    mask = window_mask(length, window)
    mask[global_tokens, :] = True
    mask[:, global_tokens] = True
    return mask


def big_bird_mask(length, block_size, random_blocks):
    count = len(random_blocks)
    blocks = longformer_mask(count, 1, [0, -1])
    np.put_along_axis(blocks, random_blocks, True, axis=1)
    return np.kron(blocks, np.ones((block_size, block_size), bool))[:length, :length].astype(bool)


def window_attention(query, key, value, mask, window):
    def windows(x, empty=0.0):  # (B, T, …) → (B, T, …, K)
        padding = ((0, 0), (window, window)) + ((0, 0),) * (x.ndim - 2)
        padded = np.pad(x, padding, constant_values=empty)
        return np.lib.stride_tricks.sliding_window_view(padded, 2 * window + 1, axis=1)

    visible = windows(mask, False)
    scores = np.einsum("btd,btdk->btk", query, windows(key)) / query.shape[-1] ** 0.5
    scores = np.where(visible, scores, np.float32(-1e30))
    powers = np.exp(scores - scores.max(-1, keepdims=True)) * visible
    weights = powers / np.maximum(powers.sum(-1, keepdims=True), 1e-30)
    return np.einsum("btk,btdk->btd", weights, windows(value)), weights
