"""Positional encoding and a Transformer block · 位置编码与 Transformer 块

Chapter: ch11_6_transformer.py
Difficulty: 4 of 5
Minutes: 45

Attention does not see the order of words: shuffle them, and the outputs are shuffled, no more. So a
Transformer adds to each word a vector that tells its place. Then come blocks of two steps, each of which adds
to what goes in:

    y = x + attention(norm(x))        z = y + feed_forward(norm(y))

where feed_forward(y) = relu(y W_1 + b_1) W_2 + b_2 looks at each word alone. norm comes before each step, as
in most Transformers today (pre-norm). The attention is that of ex04, and given.

注意力看不到词的顺序：打乱词，输出只是跟着打乱。所以 Transformer 给每个词加上一个表示位置的向量，
然后是若干个块，每块有两步，每步的结果都加到输入上。feed_forward 只看单个词。
norm 放在每一步之前（pre-norm），如今的 Transformer 大多如此。注意力就是 ex04 的，已经给出。

Shapes · 形状: B batch, T length, D width, H heads, F width of the hidden layer in feed_forward
"""

import math

import keras
import numpy as np
from keras import ops


def positional_encoding(length, width):
    """A vector for each position t = 0, 1, …: sines and cosines in turn, of slower and slower waves.

        p[t, 2i] = sin(t / 10000^(2i / D))        p[t, 2i + 1] = cos(t / 10000^(2i / D))

    每个位置一个向量：正弦和余弦交替，波越来越慢。

    Args:
        length: T, a Python integer.
        width: D, an even Python integer. · D 是偶数。

    Returns:
        p (T, D)

    >>> np.round(positional_encoding(2, 4), 2)
    array([[0.  , 1.  , 0.  , 1.  ],
           [0.84, 0.54, 0.01, 1.  ]])
    """
    # SOLUTION
    position, even = np.arange(length)[:, None], np.arange(0, width, 2)  # (T, 1), (D / 2,)
    angle = position / 10000 ** (even / width)  # (T, D / 2)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, width)  # (T, D)
    # END


class LayerNorm(keras.layers.Layer):
    """gain · (x − mean) / √(variance + 10⁻⁶) + shift: mean and variance are those of one word's D features.

    The variance is the mean of (x − mean)². The weights are `gain` (D,), which starts at 1, and `shift` (D,),
    which starts at 0.

    均值和方差取自同一个词的 D 个特征；方差是 (x − mean)² 的平均。权重 gain 初始为 1，shift 初始为 0。

    >>> LayerNorm()(ops.array([[[1.0, 3.0], [50.0, 10.0]]])).numpy().round(2)
    array([[[-1.,  1.],
            [ 1., -1.]]], dtype=float32)
    """

    def build(self, inputs_shape):
        # SOLUTION
        self.gain = self.add_weight(shape=(inputs_shape[-1],), initializer="ones")
        self.shift = self.add_weight(shape=(inputs_shape[-1],), initializer="zeros")
        # END

    def call(self, inputs):
        """(B, T, D) → (B, T, D)."""
        # SOLUTION
        mean = ops.mean(inputs, axis=-1, keepdims=True)  # (B, T, 1)
        variance = ops.mean(ops.square(inputs - mean), axis=-1, keepdims=True)  # (B, T, 1)
        return self.gain * (inputs - mean) / ops.sqrt(variance + 1e-6) + self.shift
        # END


def _attention(query, key, value, num_heads, mask):
    """ex04's multi-head attention, given: three (B, T, D) → output (B, T, D), weights (B, H, T, T).

    ex04 的多头注意力，直接给出。
    """
    batch, length, width = query.shape
    query, key, value = (ops.reshape(x, (batch, length, num_heads, -1)) for x in (query, key, value))
    scores = ops.einsum("bqhd,bkhd->bhqk", query, key) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = ops.where(mask[:, None], scores, -1e9)
    weights = ops.softmax(scores)  # (B, H, T, T)
    output = ops.einsum("bhqk,bkhd->bqhd", weights, value)  # (B, T, H, D / H)
    return ops.reshape(output, (batch, length, width)), weights


class TransformerBlock(keras.layers.Layer):
    """y = x + attention(norm_1(x)), z = y + feed_forward(norm_2(y)).

    The layers of the block are made for you; call puts them together. Queries, keys and values come from the
    normed x; merge, the matrix W_o, comes after the attention; expand has the relu, contract leads back to D.

    块里的层已经建好，call 把它们组合起来。查询、键、值来自归一化后的 x；注意力之后是 merge，即矩阵 W_o；
    expand 带有 relu，contract 回到宽度 D。

    Args:
        width: D.
        num_heads: H, a divisor of D.
        hidden_width: F.

    >>> output, weights = TransformerBlock(width=8, num_heads=2, hidden_width=16)(ops.ones((1, 5, 8)))
    >>> tuple(output.shape), tuple(weights.shape)
    ((1, 5, 8), (1, 2, 5, 5))
    """

    def __init__(self, width, num_heads, hidden_width):
        super().__init__()
        self.num_heads = num_heads
        self.norm_1, self.norm_2 = LayerNorm(), LayerNorm()
        self.query, self.key, self.value, self.merge = (keras.layers.Dense(width) for _ in range(4))
        self.expand = keras.layers.Dense(hidden_width, activation="relu")
        self.contract = keras.layers.Dense(width)

    def build(self, inputs_shape):
        for layer in (self.norm_1, self.norm_2, self.query, self.key, self.value, self.merge, self.expand):
            layer.build(inputs_shape)
        self.contract.build((None, self.expand.units))

    def call(self, inputs, mask=None):
        """inputs x (B, T, D), mask boolean (B, T, T), True = may be attended to → z (B, T, D), weights."""
        # SOLUTION
        x = self.norm_1(inputs)
        attended, weights = _attention(self.query(x), self.key(x), self.value(x), self.num_heads, mask)
        y = inputs + self.merge(attended)  # (B, T, D)
        return y + self.contract(self.expand(self.norm_2(y))), weights
        # END
