# ruff: noqa: F401 (what is imported is for you to use)
"""Multi-head attention · 多头注意力

Chapter: ch11_2_2_multi_head_attention.py
Difficulty: 4 of 5
Minutes: 40

One head sees one kind of relation. H heads look at the same words, each in a subspace of its own; their
results are laid side by side, and one more matrix mixes them:

    head_h = softmax(Q_h K_hᵀ / √d_k) V_h        output = [head_0 … head_{H−1}] W_o

The queries of all heads come from one product, Q = X W_q: the first Dk features of Q are those of head 0, the
next Dk those of head 1, and so on. The same holds for keys and values. NumPy, keras.ops or TensorFlow all do.

一个头只看一种关系。H 个头各在自己的子空间里看同样的词，结果并排放在一起，再由一个矩阵混合。
所有头的查询由一次乘法得到：Q = X W_q，Q 的前 Dk 个特征属于第 0 个头，接下来的 Dk 个属于第 1 个头，依此类推；
键和值也一样。NumPy、keras.ops、TensorFlow 都可以。

Shapes · 形状: B batch, T length (Tq of queries, Tk of keys), D width of the inputs, H heads,
Dk width of one head's queries and keys, Dv width of its values
"""

import math

import keras
from keras import ops


def split_heads(x, num_heads):
    """Gives each head its own features: head h gets the h-th block of Dk neighbours.

    把特征分给各个头：第 h 个头得到第 h 段相邻的 Dk 个特征。

    Args:
        x: (B, T, H · Dk).
        num_heads: H, a Python integer.

    Returns:
        heads (B, H, T, Dk)

    Two words of four features for two heads:

    >>> split_heads(ops.array([[[0, 1, 2, 3], [4, 5, 6, 7]]]), num_heads=2).numpy()
    array([[[[0, 1],
             [4, 5]],
    <BLANKLINE>
            [[2, 3],
             [6, 7]]]], dtype=int32)
    """
    # your code · 你的代码
    raise NotImplementedError


def merge_heads(heads):
    """Lays the heads side by side again: the inverse of split_heads.

    把各个头重新并排放在一起：split_heads 的逆运算。

    Args:
        heads: (B, H, T, Dv).

    Returns:
        x (B, T, H · Dv)

    >>> merge_heads(ops.array([[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]])).numpy()
    array([[[0, 1, 2, 3],
            [4, 5, 6, 7]]], dtype=int32)
    """
    # your code · 你的代码
    raise NotImplementedError


def multi_head_attention(query, key, value, num_heads, mask=None):
    """softmax(Q_h K_hᵀ / √Dk) · V_h of each head h, side by side.

    每个头各做一次注意力，结果并排。

    Args:
        query: (B, Tq, H · Dk), already projected.
        key: (B, Tk, H · Dk), already projected.
        value: (B, Tk, H · Dv), already projected.
        num_heads: H.
        mask: boolean (B, Tq, Tk), True = may be attended to, the same for all heads; or None. Each query may
            attend to some key. · 布尔 (B, Tq, Tk)，True 表示可以看，对所有头都一样；每个查询至少能看一个键。

    Returns:
        output (B, Tq, H · Dv), weights (B, H, Tq, Tk)

    Two heads of width 1. The first finds scores 0 and ln 3, so the weights 1/4 and 3/4; the second 0 and 0:

    >>> query, key = ops.array([[[1.0, 1.0]]]), ops.array([[[0.0, 0.0], [math.log(3.0), 0.0]]])
    >>> value = ops.array([[[0.0, 4.0], [8.0, 0.0]]])
    >>> output, weights = multi_head_attention(query, key, value, num_heads=2)
    >>> output.numpy().round(2), weights.numpy().round(2)
    (array([[[6., 2.]]], dtype=float32), array([[[[0.25, 0.75]],
    <BLANKLINE>
            [[0.5 , 0.5 ]]]], dtype=float32))
    """
    # your code · 你的代码
    raise NotImplementedError


class MultiHeadAttention(keras.layers.Layer):
    """The same as a layer that projects: queries, keys and values before, the output after.

    The weights are `w_query` (D, H · Dk), `w_key` (D, H · Dk), `w_value` (D, H · Dv), `w_output` (H · Dv, D).

    写成带投影的层：之前投影查询、键、值，之后投影输出。权重是 w_query、w_key、w_value、w_output。

    Args:
        num_heads: H.
        key_dim: Dk, of one head.
        value_dim: Dv, of one head.

    >>> layer = MultiHeadAttention(num_heads=2, key_dim=4, value_dim=3)
    >>> output, weights = layer(ops.ones((1, 5, 8)), ops.ones((1, 7, 8)), ops.ones((1, 7, 8)))
    >>> tuple(output.shape), tuple(weights.shape)
    ((1, 5, 8), (1, 2, 5, 7))
    """

    def __init__(self, num_heads, key_dim, value_dim):
        super().__init__()
        self.num_heads = num_heads
        self.key_dim = key_dim
        self.value_dim = value_dim

    def build(self, query_shape):
        # your code · 你的代码
        raise NotImplementedError

    def call(self, query, key, value, mask=None):
        """query (B, Tq, D), key and value (B, Tk, D), mask (B, Tq, Tk) → output (B, Tq, D), weights."""
        # your code · 你的代码
        raise NotImplementedError
