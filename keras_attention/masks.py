"""Masks: boolean arrays in which True means "may be attended to".

Shapes: B batch, Tq query length, Tk key length, H heads. A mask broadcasts to the scores, (B, Tq, Tk) or
(B, H, Tq, Tk); one that depends on positions alone is a matrix (Tq, Tk).

When Tq and Tk differ, the positions are aligned at their ends: the last query stands at the last key, as it
does when a decoder continues a sequence whose earlier keys it has kept.
"""

import functools

import keras
from keras import ops

__all__ = [
    "as_mask",
    "block_mask",
    "causal_mask",
    "combine_masks",
    "padding_mask",
    "pair_mask",
    "window_from",
    "window_mask",
]


def as_mask(mask, name="mask"):
    """The mask as a boolean tensor; integers count as True where they are not 0.

    Raises:
        ValueError: the mask holds floats, which could mean 0/1 as well as numbers to add to the scores.

    >>> as_mask([1, 0, 1]).numpy()
    array([ True, False,  True])
    """
    mask = ops.convert_to_tensor(mask)
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if keras.backend.is_float_dtype(dtype):
        raise ValueError(
            f"{name} is {dtype}, but a mask is boolean (True = may be attended to): pass `{name} > 0` for "
            "ones and zeros, or `attention_bias` (`bias` in a function) for numbers to add to the scores."
        )
    return ops.cast(mask, "bool")


def padding_mask(tokens):
    """Hides the keys that are padding: (B, Tk) → (B, 1, Tk).

    Args:
        tokens: (B, Tk), a Keras mask (True = a real token) or token ids, where 0 is the padding.

    Raises:
        ValueError: the tokens are floats.

    >>> padding_mask([[7, 3, 0], [5, 0, 0]]).numpy()
    array([[[ True,  True, False]],
    <BLANKLINE>
           [[ True, False, False]]])
    """
    return as_mask(tokens, "tokens")[:, None, :]  # (B, 1, Tk)


def causal_mask(query_length, key_length=None):
    """Hides the future: query i may attend to key j if j ≤ i + (Tk − Tq). Shape (Tq, Tk).

    The last query sees every key. If Tq > Tk, the first Tq − Tk queries see none.

    Args:
        query_length: Tq.
        key_length: Tk; None means Tq.

    >>> causal_mask(2, 3).numpy()
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    return _offsets(query_length, key_length) <= 0


def window_mask(query_length, key_length=None, *, window):
    """Hides what is far: query i may attend to key j if |j − i − (Tk − Tq)| ≤ window. Shape (Tq, Tk).

    Args:
        query_length: Tq.
        key_length: Tk; None means Tq.
        window: how many neighbours are visible on each side, so that 2 · window + 1 keys are.
            `window_from` converts the sizes that others give.

    Raises:
        ValueError: the window is negative.

    >>> window_mask(4, window=1).numpy().astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 1, 0],
           [0, 1, 1, 1],
           [0, 0, 1, 1]])
    """
    if window < 0:
        raise ValueError(f"window is {window}, but it counts the neighbours on each side: pass 0 or more.")
    return ops.abs(_offsets(query_length, key_length)) <= window


def window_from(size, convention):
    """The window in the sense of this package, the number of neighbours on each side, from another's size.

    Args:
        size: the other's window.
        convention: "keras" (`sliding_window` of `GroupQueryAttention`, and of Mistral: |j − i| < size),
            "huggingface" (`attention_window` of its Longformer: size / 2 on each side), "allenai" (that of
            the original Longformer: size on each side) or "keys" (all visible keys, the own one included).

    Raises:
        ValueError: the convention is unknown, or no whole number of neighbours has that size.

    >>> window_from(257, "keras"), window_from(512, "huggingface"), window_from(256, "allenai")
    (256, 256, 256)
    """
    windows = {"keras": size - 1, "huggingface": size / 2, "allenai": size, "keys": (size - 1) / 2}
    if convention not in windows:
        raise ValueError(f"convention is {convention!r}, but it must be one of {', '.join(windows)}.")
    window = windows[convention]
    if window < 0 or window != int(window):
        raise ValueError(
            f"A window of {size} in the sense of {convention!r} is {window:g} neighbours on each side: pass "
            "a size that gives a whole number."
        )
    return int(window)


def block_mask(blocks, block_size, query_length=None, key_length=None):
    """Enlarges a pattern of blocks to positions: (Nq, Nk) → (Tq, Tk).

    Query i may attend to key j if blocks[i // block_size, j // block_size].

    Args:
        blocks: (Nq, Nk), which block of queries sees which block of keys.
        block_size: positions in a block.
        query_length: Tq, for a last block that is not full; None means Nq · block_size.
        key_length: Tk; None means Nk · block_size.

    Raises:
        ValueError: the lengths need another number of blocks.

    >>> block_mask([[True, False], [True, True]], 2, 3, 3).numpy().astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    blocks = as_mask(blocks, "blocks")
    for count, length, side in zip(blocks.shape, (query_length, key_length), ("query", "key"), strict=True):
        if length is not None and -(-length // block_size) != count:
            raise ValueError(
                f"{side}_length {length} makes {-(-length // block_size)} blocks of {block_size}, "
                f"but blocks has {count}: pass a pattern of that many."
            )
    mask = ops.repeat(ops.repeat(blocks, block_size, axis=0), block_size, axis=1)
    return mask[:query_length, :key_length]  # (Tq, Tk)


def combine_masks(*masks):
    """The logical and of the masks; None hides nothing, and of nothing but None the result is None.

    Args:
        *masks: (Tq, Tk), (B, Tq, Tk) or (B, H, Tq, Tk), or what broadcasts to one of these. Beside a mask of
            rank 4, one of rank 3 counts for every head.

    Raises:
        ValueError: a mask holds floats.

    >>> combine_masks(padding_mask([[7, 3, 0]]), None, causal_mask(3)).numpy().astype(int)
    array([[[1, 0, 0],
            [1, 1, 0],
            [1, 1, 0]]])
    """
    given = [as_mask(mask) for mask in masks if mask is not None]
    if not given:
        return None
    rank = max(len(mask.shape) for mask in given)
    return functools.reduce(ops.logical_and, [align_mask(mask, rank) for mask in given])


def pair_mask(query_mask=None, key_mask=None, attention_mask=None):
    """Which query may attend to which key, from the two sides' Keras masks and the explicit one.

    Args:
        query_mask: (B, Tq), True = a real token.
        key_mask: (B, Tk), True = a real token.
        attention_mask: (B, Tq, Tk) or (B, H, Tq, Tk).

    Returns:
        (B, Tq, Tk) or (B, H, Tq, Tk), with 1 where nothing depends on an axis; None if all are None.

    Raises:
        ValueError: a mask holds floats.
    """
    rows = None if query_mask is None else as_mask(query_mask, "query_mask")[:, :, None]  # (B, Tq, 1)
    columns = None if key_mask is None else as_mask(key_mask, "key_mask")[:, None, :]  # (B, 1, Tk)
    return combine_masks(rows, columns, attention_mask)


def seen_keys(query_length, key_length, query_mask=None, key_mask=None, attention_mask=None, causal=False):
    """Which keys some query may attend to, without a matrix of positions where none was given.

    Returns:
        (B, 1 or H, Tk); None if nothing is masked.
    """
    seen = None if key_mask is None else as_mask(key_mask)[:, None]  # (B, 1, Tk)
    if attention_mask is not None:
        attention_mask = align_mask(as_mask(attention_mask), rank=4)
        if attention_mask.shape[-2] != 1:
            future = causal_mask(query_length, key_length) if causal else None
            pairs = combine_masks(pair_mask(query_mask, None, attention_mask), future)  # (B, H, Tq, Tk)
            return combine_masks(seen, ops.any(pairs, axis=-2))
        seen = combine_masks(seen, attention_mask[..., 0, :])
    if query_mask is not None:
        positions = ops.arange(query_length)
        last = ops.max(ops.where(as_mask(query_mask), positions, -1), axis=-1, keepdims=True, initial=-1)
        behind = last + (key_length - query_length) if causal else key_length
        behind = ops.where(last < 0, -1, behind)  # (B, 1)
        seen = combine_masks(seen, (ops.arange(key_length) <= behind)[:, None])
    return seen


def seeing_queries(query_mask=None, key_mask=None, attention_mask=None):
    """Which queries may attend to some key: (B, 1 or H, Tq or 1); None if nothing is masked."""
    rows = None if query_mask is None else as_mask(query_mask)[:, None]  # (B, 1, Tq)
    pairs = pair_mask(None, key_mask, attention_mask)
    return rows if pairs is None else combine_masks(rows, ops.any(align_mask(pairs, rank=4), axis=-1))


def align_mask(mask, rank):
    """Inserts the axis of the heads: (B, Tq, Tk) → (B, 1, Tq, Tk) for rank 4. A matrix stays as it is."""
    while 2 < len(mask.shape) < rank:
        mask = mask[:, None]
    return mask


def check_attention_mask(mask, heads):
    """The explicit mask of a layer, checked: (B, Tq, Tk), or with `heads` also (B, H, Tq, Tk).

    Raises:
        ValueError: the mask holds floats, or its rank leaves open what its axes are.
    """
    mask = as_mask(mask, "attention_mask")
    rank = len(mask.shape)
    if rank == 2:
        raise ValueError(
            "attention_mask has rank 2, which could be read as (B, Tk) or as (Tq, Tk): pass "
            "`mask[:, None]` for padding (B, Tk), or `mask[None]` for one (Tq, Tk) of the whole batch."
        )
    if rank not in ((3, 4) if heads else (3,)):
        expected = "(B, Tq, Tk) or (B, H, Tq, Tk)" if heads else "(B, Tq, Tk)"
        raise ValueError(f"attention_mask has shape {tuple(mask.shape)}, but {expected} is needed.")
    return mask


def _offsets(query_length, key_length):
    """How far key j lies after query i, both counted from the end: (Tq, Tk)."""
    key_length = query_length if key_length is None else key_length
    query_positions = ops.arange(query_length)[:, None] + (key_length - query_length)  # (Tq, 1)
    return ops.arange(key_length)[None, :] - query_positions  # (Tq, Tk)
