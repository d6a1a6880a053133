"""Self-attention · 自注意力

Chapter: ch11_2_1_self_attention.py
Difficulty: 3 of 5
Minutes: 30

Queries, keys and values all come from the same sequence, by three matrices of weights:

    Q = X W_q    K = X W_k    V = X W_v    Z = softmax(Q Kᵀ / √d_k) V

Every word looks at every word, however far away. Write it as a function, with NumPy, keras.ops or TensorFlow;
then as a Keras layer that owns the three matrices.

查询、键、值都来自同一个序列，各乘一个权重矩阵。每个词都能看到每个词，不管多远。
先写成函数（NumPy、keras.ops、TensorFlow 都可以），再写成拥有这三个矩阵的 Keras 层。

Shapes · 形状: B batch, T length, D width of X, Dk width of queries and keys, Dv width of values
"""

import math

import keras
from keras import ops


def self_attention(x, w_query, w_key, w_value, mask=None):
    """softmax(X W_q (X W_k)ᵀ / √Dk) · X W_v, over the words that are not padding.

    对不是填充的词做自注意力。

    Args:
        x: (B, T, D).
        w_query: (D, Dk).
        w_key: (D, Dk).
        w_value: (D, Dv).
        mask: boolean (B, T), True = a real word, or None. No word attends to padding. At least one word of a
            sentence is real. · 布尔 (B, T)，True 是真实的词；每句至少有一个真实的词。

    Returns:
        output (B, T, Dv), weights (B, T, T)

    Two words, the second of which is padding, so that both look at the first:

    >>> x, one = ops.array([[[1.0, 2.0], [5.0, 5.0]]]), ops.ones((2, 1))
    >>> output, weights = self_attention(x, one, one, one, mask=ops.array([[True, False]]))
    >>> output.numpy(), weights.numpy()
    (array([[[3.],
            [3.]]], dtype=float32), array([[[1., 0.],
            [1., 0.]]], dtype=float32))
    """
    # SOLUTION
    query = ops.matmul(x, w_query)  # (B, T, Dk)
    key = ops.matmul(x, w_key)  # (B, T, Dk)
    value = ops.matmul(x, w_value)  # (B, T, Dv)
    scores = ops.matmul(query, ops.swapaxes(key, 1, 2)) / math.sqrt(key.shape[-1])  # (B, T, T)
    if mask is not None:
        scores = ops.where(mask[:, None, :], scores, -1e9)
    weights = ops.softmax(scores, axis=-1)
    return ops.matmul(weights, value), weights  # (B, T, Dv)
    # END


class SelfAttention(keras.layers.Layer):
    """The same as a layer, with the weights `w_query` (D, Dk), `w_key` (D, Dk) and `w_value` (D, Dv).

    Make the weights in `build`, where the width of the input is known, by `self.add_weight(shape=…)`.

    同一个函数写成层，拥有权重 w_query、w_key、w_value。权重在 build 里用 self.add_weight(shape=…) 创建，
    因为那时才知道输入的宽度。

    Args:
        key_dim: Dk.
        value_dim: Dv.

    >>> output, weights = SelfAttention(key_dim=4, value_dim=3)(ops.ones((2, 5, 6)))
    >>> tuple(output.shape), tuple(weights.shape)
    ((2, 5, 3), (2, 5, 5))
    """

    def __init__(self, key_dim, value_dim):
        super().__init__()
        self.key_dim = key_dim
        self.value_dim = value_dim

    def build(self, inputs_shape):
        # SOLUTION
        width = inputs_shape[-1]
        self.w_query = self.add_weight(shape=(width, self.key_dim))
        self.w_key = self.add_weight(shape=(width, self.key_dim))
        self.w_value = self.add_weight(shape=(width, self.value_dim))
        # END

    def call(self, inputs, mask=None):
        """inputs (B, T, D), mask (B, T) → output (B, T, Dv), weights (B, T, T)."""
        # SOLUTION
        return self_attention(inputs, self.w_query, self.w_key, self.w_value, mask)
        # END
