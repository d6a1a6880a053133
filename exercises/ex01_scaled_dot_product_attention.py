# ruff: noqa: F401 (what is imported is for you to use)
"""Scaled dot-product attention · 缩放点积注意力

Chapter: ch11_1_core_idea.py
Difficulty: 2 of 5
Minutes: 20

A query asks "what do I look for?", each key answers "this is what I am", each value "this is what I hold".
The more a key resembles the query, the more of its value goes into the result:

    attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Write it in two steps, with NumPy, keras.ops or TensorFlow, whichever you like.

查询（query）问“我要找什么”，每个键（key）答“我是什么”，每个值（value）说“我里面有什么”。
键与查询越像，它的值在结果里占得越多。请分两步写出上面的公式，NumPy、keras.ops、TensorFlow 都可以。

Shapes · 形状: B batch, Tq queries, Tk keys, Dk width of queries and keys, Dv width of values
"""

import math

from keras import ops


def softmax(scores):
    """exp(s_j) / Σ_k exp(s_k), along the last axis: positive numbers that sum to 1.

    Subtract the largest score of each row first: it changes nothing in the result, but exp(1000) is infinite.

    沿最后一个轴做 softmax：结果为正，每行之和为 1。先减去每行的最大值：结果不变，但能避免 exp(1000) 溢出。

    Args:
        scores: (..., Tk).

    Returns:
        weights (..., Tk)

    >>> softmax(ops.array([[0.0, math.log(3.0)]])).numpy().round(2)
    array([[0.25, 0.75]], dtype=float32)
    """
    # your code · 你的代码
    raise NotImplementedError


def attention(query, key, value):
    """softmax(query · keyᵀ / √Dk) · value.

    Four steps: the dot product of each query with each key; divided by √Dk, since the variance of a dot
    product grows with Dk; softmax over the keys; the weighted sum of the values.

    四步：每个查询与每个键做点积；除以 √Dk（点积的方差随 Dk 增大）；对键做 softmax；对值加权求和。

    Args:
        query: (B, Tq, Dk).
        key: (B, Tk, Dk).
        value: (B, Tk, Dv).

    Returns:
        output (B, Tq, Dv), weights (B, Tq, Tk)

    Two keys of width 1, scores 1 · 0 and 1 · ln 3, so the weights are 1/4 and 3/4:

    >>> query, key = ops.array([[[1.0]]]), ops.array([[[0.0], [math.log(3.0)]]])
    >>> output, weights = attention(query, key, ops.array([[[0.0, 4.0], [8.0, 0.0]]]))
    >>> weights.numpy().round(2), output.numpy().round(2)
    (array([[[0.25, 0.75]]], dtype=float32), array([[[6., 1.]]], dtype=float32))
    """
    # your code · 你的代码
    raise NotImplementedError
