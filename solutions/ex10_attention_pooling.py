"""Attention pooling · 注意力池化

Chapter: ch11_4_2_text_classification.py
Difficulty: 3 of 5
Minutes: 35

A classifier needs one vector for a text of any length, but a BiLSTM gives one state h_i a word. Here are
three ways from many to one: the last state, the mean of all, and a weighted sum in which keywords count more:

    α = softmax_i(vᵀ tanh(Wᵀ h_i + b))        s = Σ_i α_i h_i

Padding takes part in none of them. Write them with NumPy, keras.ops or TensorFlow; then the third as a layer.

分类器需要一个向量来表示任意长的文本，而 BiLSTM 给每个词一个状态 h_i。把这些状态变成一个向量有三种办法：
取最后一个状态、取平均、以及让关键词占得更多的加权和。填充都不参与。
先用 NumPy、keras.ops 或 TensorFlow 写成函数，再把第三种写成层。

Shapes · 形状: B batch, T length, D width of the states, U units: width of the hidden score
"""

import keras
from keras import ops


def last_state(states, mask):
    """The state of the last real word of each text, which is not always the last column.

    每个文本最后一个真实的词的状态；它不一定在最后一列。

    Args:
        states: (B, T, D).
        mask: boolean (B, T), True = a real word. Padding stands at the end; some word is real.
            · 布尔 (B, T)，True 是真实的词；填充在末尾，至少有一个真实的词。

    Returns:
        (B, D)

    >>> states = ops.array([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]])
    >>> last_state(states, ops.array([[True, True, False]])).numpy()
    array([[3., 4.]], dtype=float32)
    """
    # SOLUTION
    length = ops.sum(ops.cast(mask, "int32")[:, :, None], axis=1, keepdims=True)  # (B, 1, 1)
    return ops.take_along_axis(states, length - 1, axis=1)[:, 0]  # (B, D)
    # END


def mean_state(states, mask):
    """The mean of the real words' states: all words count alike.

    对真实的词的状态取平均：每个词同样重要。

    Args:
        states, mask: as in last_state. · 与 last_state 相同。

    Returns:
        (B, D)

    >>> states = ops.array([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]])
    >>> mean_state(states, ops.array([[True, True, False]])).numpy()
    array([[2., 3.]], dtype=float32)
    """
    # SOLUTION
    real = ops.cast(mask, "float32")[:, :, None]  # (B, T, 1)
    return ops.sum(states * real, axis=1) / ops.sum(real, axis=1)  # (B, D)
    # END


def attention_pooling(states, w, b, v, mask=None):
    """Σ_i α_i h_i with α = softmax_i(vᵀ tanh(Wᵀ h_i + b)), over the real words.

    对真实的词的状态按 α 加权求和。

    Args:
        states: h (B, T, D).
        w: (D, U).
        b: (U,).
        v: (U,).
        mask: boolean (B, T), True = a real word, or None. A text without any gets zeros: weights and output.
            · 布尔 (B, T)，True 是真实的词，或 None。一个真实的词都没有时，权重和输出都是 0。

    Returns:
        output (B, D), weights (B, T)

    Two words: tanh(0) = 0 and tanh(100) = 1, so the scores are 0 and ln 3, the weights 1/4 and 3/4:

    >>> states, v = ops.array([[[0.0], [100.0]]]), ops.log(ops.array([3.0]))
    >>> output, weights = attention_pooling(states, ops.ones((1, 1)), ops.zeros(1), v)
    >>> output.numpy().round(2), weights.numpy().round(2)
    (array([[75.]], dtype=float32), array([[0.25, 0.75]], dtype=float32))
    """
    # SOLUTION
    hidden = ops.tanh(ops.matmul(states, w) + b)  # (B, T, U)
    scores = ops.matmul(hidden, v)  # (B, T)
    if mask is not None:
        scores = ops.where(mask, scores, -1e9)
    weights = ops.softmax(scores)
    if mask is not None:
        weights = ops.where(mask, weights, 0.0)
    return ops.sum(weights[:, :, None] * states, axis=1), weights  # (B, D)
    # END


class AttentionPooling(keras.layers.Layer):
    """The same as a layer, with the weights `w` (D, U), `b` (U,) and `v` (U,).

    同一个函数写成层，拥有权重 w、b、v。

    Args:
        units: U.

    >>> output, weights = AttentionPooling(units=3)(ops.ones((2, 5, 8)))
    >>> tuple(output.shape), tuple(weights.shape)
    ((2, 8), (2, 5))
    """

    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, inputs_shape):
        # SOLUTION
        self.w = self.add_weight(shape=(inputs_shape[-1], self.units))
        self.b = self.add_weight(shape=(self.units,))
        self.v = self.add_weight(shape=(self.units,))
        # END

    def call(self, inputs, mask=None):
        """inputs (B, T, D), mask (B, T) → output (B, D), weights (B, T)."""
        # SOLUTION
        return attention_pooling(inputs, self.w, self.b, self.v, mask)
        # END
