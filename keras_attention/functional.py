"""Attention as pure functions of arrays, on every backend of Keras.

Shapes: Tq query length, Tk key length, D width of queries and keys, Dv width of values, U units;
`...` is any number of leading axes: none, (B,) or (B, H).

All of them are one formula with different scores:

    weights = softmax(score(query, key) + bias)        (..., Tq, Tk)
    output  = weights · value                          (..., Tq, Dv)
"""

import contextlib
import contextvars
import functools
import math

import keras
import numpy as np
from keras import ops

from keras_attention.masks import align_mask, as_mask, causal_mask, combine_masks

__all__ = [
    "additive_attention",
    "additive_scores",
    "attention",
    "dot_scores",
    "hide",
    "hide_keys",
    "masked_softmax",
    "rotary",
    "scaled_dot_product_attention",
    "trace",
]

LOWEST = float(np.finfo("float32").min)

_steps: contextvars.ContextVar[dict | None] = contextvars.ContextVar("steps", default=None)


def scaled_dot_product_attention(
    query, key, value, *, mask=None, bias=None, causal=False, scale=None, dropout=None
):
    """softmax(query · keyᵀ / √D + bias) · value.

    The query is scaled before the product, so that float16 does not overflow, and the softmax runs in
    float32. What the mask hides never reaches the result, be it NaN, and a query that may see nothing gets
    zeros.

    Args:
        query: (..., Tq, D); whole numbers, here and below, become floats.
        key: (..., Tk, D).
        value: (..., Tk, Dv).
        mask: boolean, True = may be attended to: (Tq, Tk), or with leading axes what broadcasts to
            (..., Tq, Tk). One of rank 3 counts for all heads of scores of rank 4.
        bias: added to the scores, of the same shapes as the mask; −inf hides as a mask does.
        causal: hide the future; the last query stands at the last key.
        scale: factor of the scores; None means 1 / √D.
        dropout: function applied to the weights before they meet the values; the weights are returned without
            it.

    Returns:
        output (..., Tq, Dv), weights (..., Tq, Tk)

    Raises:
        ValueError: query and key differ in width, key and value in length, the mask holds floats, or the bias
            does not broadcast to the scores.

    Paper: Vaswani et al., 2017, "Attention Is All You Need".

    >>> output, weights = scaled_dot_product_attention([[1.0, 0.0]], [[4.0, 0.0], [0.0, 4.0]], [[1.0], [2.0]])
    >>> weights.numpy().round(3), output.numpy().round(3)
    (array([[0.944, 0.056]], dtype=float32), array([[1.056]], dtype=float32))
    """
    score = functools.partial(dot_scores, scale=scale)
    return attention(score, query, key, value, mask=mask, bias=bias, causal=causal, dropout=dropout)


def additive_attention(query, key, value, vector, *, mask=None, bias=None, causal=False, dropout=None):
    """softmax(vᵀ tanh(query + key) + bias) · value, for queries and keys that are projected to one width.

    Args:
        query: W_q q, (..., Tq, U).
        key: W_k k, (..., Tk, U).
        value: (..., Tk, Dv).
        vector: v, (U,).
        mask, bias, causal, dropout: as in `scaled_dot_product_attention`.

    Returns:
        output (..., Tq, Dv), weights (..., Tq, Tk)

    Raises:
        ValueError: as in `scaled_dot_product_attention`.

    Paper: Bahdanau et al., 2015, "Neural Machine Translation by Jointly Learning to Align and Translate".

    >>> output, weights = additive_attention([[0.0]], [[9.0], [-9.0]], [[1.0], [2.0]], [1.0])
    >>> weights.numpy().round(3)
    array([[0.881, 0.119]], dtype=float32)
    """
    score = functools.partial(additive_scores, vector=vector)
    return attention(score, query, key, value, mask=mask, bias=bias, causal=causal, dropout=dropout)


def attention(score, query, key, value, *, mask=None, bias=None, causal=False, dropout=None):
    """softmax(score(query, key) + bias) · value, for any score.

    Args:
        score: function of (..., Tq, D) and (..., Tk, D) that gives (..., Tq, Tk).
        query, key, value, mask, bias, causal, dropout: as in `scaled_dot_product_attention`.

    Returns:
        output (..., Tq, Dv), weights (..., Tq, Tk)

    Raises:
        ValueError: as in `scaled_dot_product_attention`.

    >>> score = lambda query, key: -ops.abs(query - ops.transpose(key))
    >>> attention(score, [[3.0]], [[3.0], [90.0]], [[1.0], [2.0]])[0].numpy()
    array([[1.]], dtype=float32)
    """
    query, key, value = map(as_floats, (query, key, value))
    start_record()
    if None not in (key.shape[-2], value.shape[-2]) and key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{key.shape[-2]} keys for {value.shape[-2]} values: each value needs its key.")
    if bias is not None:
        bias = fit_bias(bias, (*query.shape[:-1], key.shape[-2]))
        mask = combine_masks(mask, bias != -math.inf)
    if causal:
        mask = combine_masks(mask, causal_mask(ops.shape(query)[-2], ops.shape(key)[-2]))
    if mask is not None:
        mask = align_mask(as_mask(mask), rank=len(query.shape))
        query, key, value = hide(query, key, value, mask)

    record(query=query, key=key, value=value)
    scores = score(query, key)  # (..., Tq, Tk)
    if not tracing("scores"):
        record(scores=scores)
    if bias is not None:
        dtype = keras.backend.result_type(scores.dtype, "float32")
        scores = ops.cast(scores, dtype) + ops.cast(bias, dtype)
    weights = ops.cast(masked_softmax(scores, mask), value.dtype)
    output = ops.matmul(weights if dropout is None else dropout(weights), value)  # (..., Tq, Dv)
    if tracing():
        record(
            masked=scores if mask is None else ops.where(mask, scores, -math.inf),
            weights=weights,
            attended=output,
        )
    return output, weights


def dot_scores(query, key, scale=None):
    """scale · query · keyᵀ: (..., Tq, D) and (..., Tk, D) → (..., Tq, Tk); scale None means 1 / √D.

    Raises:
        ValueError: query and key differ in width.

    >>> dot_scores(ops.ones((2, 4)), ops.ones((1, 4))).numpy()
    array([[2.],
           [2.]], dtype=float32)
    """
    query, key = as_floats(query), as_floats(key)
    width = query.shape[-1]
    if width != key.shape[-1]:
        raise ValueError(
            f"The query's width is {width} and the key's {key.shape[-1]}, but a dot product needs "
            "equal widths: project them first."
        )
    scale = 1 / math.sqrt(width) if scale is None else scale
    scores = ops.matmul(query * ops.cast(scale, query.dtype), ops.swapaxes(key, -1, -2))
    if tracing():
        record(scores=ops.matmul(query, ops.swapaxes(key, -1, -2)), scaled=scores)
    return scores


def additive_scores(query, key, vector):
    """vᵀ tanh(query + key): (..., Tq, U) and (..., Tk, U) → (..., Tq, Tk).

    >>> additive_scores(ops.zeros((1, 2)), ops.ones((3, 2)), ops.ones(2)).numpy().round(2)
    array([[1.52, 1.52, 1.52]], dtype=float32)
    """
    hidden = ops.tanh(ops.expand_dims(query, -2) + ops.expand_dims(key, -3))  # (..., Tq, Tk, U)
    return ops.dot(hidden, ops.cast(vector, hidden.dtype))


def masked_softmax(scores, mask=None):
    """softmax over the keys that the mask leaves, in float32; a row that it hides as a whole is zero.

    Args:
        scores: (..., Tq, Tk).
        mask: boolean, broadcasts to the scores.

    Returns:
        weights (..., Tq, Tk) in float32 (float64 for float64). The gradient of a hidden row is 0.

    >>> scores = ops.array([[0.0, 0.0, 5.0], [1.0, 2.0, 3.0]])
    >>> masked_softmax(scores, [[True, True, False], [False, False, False]]).numpy()
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 0. ]], dtype=float32)
    """
    scores = ops.cast(scores, keras.backend.result_type(scores.dtype, "float32"))
    if mask is None:
        return _softmax(scores)
    mask = as_mask(mask)
    return ops.where(mask, _softmax(ops.where(mask, scores, LOWEST)), 0)


def _softmax(scores):
    if scores.shape[-1] == 1:  # a single key weighs 1, of which `ops.softmax` would warn
        return ops.exp(scores - scores)
    return ops.softmax(scores, axis=-1)


def as_floats(x):
    """x as a tensor; whole numbers become `keras.config.floatx()`."""
    x = ops.convert_to_tensor(x)
    return x if keras.backend.is_float_dtype(x.dtype) else ops.cast(x, keras.config.floatx())


def fit_bias(bias, shape, name="bias"):
    """The bias with as many axes as the scores, (Tq, Tk) last, and with one of heads where it lacks that.

    Raises:
        ValueError: it holds booleans, or does not broadcast to the scores.

    >>> fit_bias(ops.ones((2, 5, 7)), (2, 3, 5, 7)).shape
    TensorShape([2, 1, 5, 7])
    """
    bias = ops.convert_to_tensor(bias)
    given = tuple(bias.shape)
    if keras.backend.standardize_dtype(bias.dtype) == "bool":
        raise ValueError(f"{name} holds booleans, but it is added to the scores: pass a mask as the mask.")
    while 2 <= len(bias.shape) < len(shape):
        bias = bias[None] if len(bias.shape) == 2 else bias[:, None]
    if len(bias.shape) != len(shape) or any(
        None not in (have, want) and have not in (1, want)
        for have, want in zip(bias.shape, shape, strict=True)
    ):
        raise ValueError(
            f"{name} has shape {given}, but the scores have {tuple(shape)}: pass (Tq, Tk), (B, Tq, Tk) or, "
            "where there are heads, (B, H, Tq, Tk), each axis theirs or 1; for (H, Tq, Tk), `bias[None]`."
        )
    return as_floats(bias)


def hide(query, key, value, mask):
    """Removes what a mask hides before anything is computed from it, since 0 · NaN is NaN.

    A query that may see nothing, and a key and value that nobody may see, become zero. A value that is not
    finite but that somebody may see becomes zero too, and its key NaN: who may see it gets NaN, who may not
    stays clean.

    Args:
        query: (..., Tq, D).
        key: (..., Tk, D).
        value: (..., Tk, Dv).
        mask: (..., Tq, Tk).

    Returns:
        query, key, value

    >>> query, key, value = ops.ones((1, 2)), ops.ones((2, 2)), ops.array([[1.0], [math.nan]])
    >>> hide(query, key, value, ops.array([[True, False]]))[2].numpy()
    array([[1.],
           [0.]], dtype=float32)
    """
    seeing = ops.any(mask, axis=-1)[..., None]  # (..., Tq, 1)
    return ops.where(seeing, query, 0), *hide_keys(key, value, ops.any(mask, axis=-2))


def hide_keys(key, value, seen):
    """The half of `hide` that is about keys and values, which `seen` (..., Tk) tells some query may see."""
    seen = seen[..., None]  # (..., Tk, 1)
    sound = ops.all(ops.isfinite(value), axis=-1, keepdims=True)  # (..., Tk, 1)
    key = ops.where(seen, ops.where(sound, key, math.nan), 0)
    value = ops.where(ops.logical_and(seen, sound), value, 0)
    return key, value


def rotary(x, positions, base=10000.0):
    """Turns the pair of features (x_i, x_{i + D/2}) by the angle position · base^(−2i / D).

    The dot product of a query and a key that are turned so depends on their distance alone.

    Args:
        x: (..., T, D).
        positions: (T,).
        base: sets the slowest rotation.

    Raises:
        ValueError: D is odd.

    Paper: Su et al., 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding".

    >>> rotary(ops.array([[1.0, 0.0], [1.0, 0.0]]), [0, 1]).numpy().round(3)
    array([[1.   , 0.   ],
           [0.54 , 0.841]], dtype=float32)
    """
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"A rotary embedding turns pairs of features, but there are {width}: make it even.")
    speeds = base ** -(ops.arange(0, width, 2, dtype="float32") / width)  # (D / 2,)
    angles = ops.cast(positions, "float32")[:, None] * speeds  # (T, D / 2)
    cos, sin = ops.cast(ops.cos(angles), x.dtype), ops.cast(ops.sin(angles), x.dtype)
    first, second = ops.split(x, 2, axis=-1)  # 2 × (..., T, D / 2)
    return ops.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


@contextlib.contextmanager
def trace():
    """Gives a dict that receives the steps of the attention that is computed inside, by name.

    >>> with trace() as steps:
    ...     output, weights = scaled_dot_product_attention([[1.0, 0.0]], [[4.0, 0.0]], [[3.0]])
    >>> list(steps)
    ['query', 'key', 'value', 'scores', 'scaled', 'masked', 'weights', 'attended']
    """
    steps: dict = {}
    token = _steps.set(steps)
    try:
        yield steps
    finally:
        _steps.reset(token)


def start_record():
    """Forgets the steps of an earlier attention: of several, `trace` receives the last."""
    if (recorded := _steps.get()) is not None:
        recorded.clear()


def tracing(step=None):
    """Whether steps are recorded; with a name, whether that one has been."""
    steps = _steps.get()
    return steps is not None and (step is None or step in steps)


def record(**steps):
    """Adds to the steps that `trace` receives, if it does."""
    if (recorded := _steps.get()) is not None:
        recorded.update(steps)
