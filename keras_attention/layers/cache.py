"""The keys and values of a decoder's earlier steps, as plain tensors.

A cache is a dict whose every tensor begins with the batch, so that beams are reordered by
`keras.tree.map_structure(lambda x: keras.ops.take(x, parents, axis=0), cache)`:

    key     (B, H, M, Dk), M positions, the first of which are filled
    value   (B, H, M, Dv)
    mask    (B, M), True = filled with a real token
    length  (B,), how many are filled, the same for the whole batch
"""

import math

from keras import ops

from keras_attention.masks import as_mask


def empty_cache(batch_size, heads, length, key_dim, value_dim, dtype):
    return {
        "key": ops.zeros((batch_size, heads, length, key_dim), dtype),
        "value": ops.zeros((batch_size, heads, length, value_dim), dtype),
        "mask": ops.zeros((batch_size, length), "bool"),
        "length": ops.zeros((batch_size,), "int32"),
    }


def full_cache(key, value, mask=None):
    """All keys (B, H, Tk, Dk) and values (B, H, Tk, Dv) at once, for a memory that does not grow."""
    batch, _, length, _ = ops.shape(key)
    mask = ops.ones((batch, length), "bool") if mask is None else as_mask(mask)
    return {"key": key, "value": value, "mask": mask, "length": ops.full((batch,), length, "int32")}


def extend_cache(cache, key, value, mask=None):
    """Writes T new keys and values behind the filled ones.

    Args:
        key: (B, H, T, Dk); value: (B, H, T, Dv).
        mask: (B, T), True = a real token.

    Raises:
        ValueError: there is no room for them. In a compiled function, which cannot raise, the keys become
            NaN.
    """
    start, room = cache["length"][0], ops.shape(cache["key"])[2]
    batch, _, new, _ = ops.shape(key)
    end = start + new
    try:
        if int(end) > room:
            raise ValueError(
                f"The cache has room for {room} positions, but {int(end)} are needed: make it with a larger "
                "max_length."
            )
    except TypeError:  # not known while a function is compiled
        key = ops.where(end > room, math.nan, key)
    mask = ops.ones((batch, new), "bool") if mask is None else as_mask(mask)
    return {
        "key": ops.slice_update(cache["key"], (0, 0, start, 0), ops.cast(key, cache["key"].dtype)),
        "value": ops.slice_update(cache["value"], (0, 0, start, 0), ops.cast(value, cache["value"].dtype)),
        "mask": ops.slice_update(cache["mask"], (0, start), mask),
        "length": cache["length"] + new,
    }


def visible(cache, queries):
    """What each of the last `queries` positions may see: every earlier one and itself, (1, queries, M)."""
    start, room = cache["length"][0] - queries, ops.shape(cache["key"])[2]
    return (ops.arange(room) <= start + ops.arange(queries)[:, None])[None]
