# ruff: noqa: F401 (what is imported is for you to use)
"""Additive attention and a decoder that uses it · 加性注意力与解码器

Chapter: ch11_4_1_machine_translation.py
Difficulty: 4 of 5
Minutes: 40

A decoder writes a translation word by word. Before each word it looks back at the source, with its previous
state s_{t−1} as the query and the states of the encoder, the memory h_1 … h_n, as keys and values:

    e_ti = vᵀ tanh(s_{t−1} W_q + h_i W_k)    α_t = softmax(e_t)    c_t = Σ_i α_ti h_i

The context c_t enters the step that gives the next state:

    s_t = tanh(y_{t−1} W_y + c_t W_c + s_{t−1} W_s)

Write the attention as a function, with NumPy, keras.ops or TensorFlow; then the decoder as a Keras layer.

解码器一个词一个词地写译文。写每个词之前，它用上一个状态 s_{t−1} 作查询，回头看编码器的状态 h_1 … h_n
（memory，既是键又是值），得到权重 α_t 和上下文 c_t；c_t 参与计算下一个状态 s_t。
先把注意力写成函数（NumPy、keras.ops、TensorFlow 都可以），再把解码器写成 Keras 层。

Shapes · 形状: B batch, Tk source words, T target words, M width of the memory, U width of the state,
A width of the score, E width of the embedded words
"""

import keras
from keras import ops


def additive_attention(query, memory, w_query, w_key, v, mask=None):
    """softmax_i(vᵀ tanh(query W_q + h_i W_k)), and the sum of the h_i with these weights.

    One query a sentence, as a decoder has at one step.

    每个句子一个查询，就像解码器的一步：给出权重，以及 h_i 的加权和。

    Args:
        query: (B, U).
        memory: h, (B, Tk, M).
        w_query: (U, A).
        w_key: (M, A).
        v: (A,).
        mask: boolean (B, Tk), True = a real word, or None. At least one word of a sentence is real.
            布尔 (B, Tk)，True 是真实的词；每句至少有一个真实的词。

    Returns:
        context (B, M), weights (B, Tk)

    All scores are equal, and the third word is padding, so the context is the mean of the first two:

    >>> memory = ops.array([[[2.0], [4.0], [9.0]]])
    >>> mask = ops.array([[True, True, False]])
    >>> context, weights = additive_attention(ops.ones((1, 1)), memory, [[1.0]], [[0.0]], [1.0], mask)
    >>> weights.numpy(), context.numpy()
    (array([[0.5, 0.5, 0. ]], dtype=float32), array([[3.]], dtype=float32))
    """
    # your code · 你的代码
    raise NotImplementedError


class AttentionDecoder(keras.layers.Layer):
    """The states s_1 … s_T, from the words before each, y_0 … y_{T−1}, and where each step looked.

    Its weights are `w_query` (U, A), `w_key` (M, A) and `v` (A,) for the attention; `w_input` W_y (E, U),
    `w_context` W_c (M, U) and `w_state` W_s (U, U) for the step. `build`, which makes them, is given.

    由每一步之前的词 y_0 … y_{T−1} 算出状态 s_1 … s_T，以及每一步看了哪里。权重已在 build 里创建。

    Args:
        units: U.
        attention_units: A.

    >>> decoder = AttentionDecoder(units=4, attention_units=8)
    >>> states, weights = decoder(ops.ones((2, 3, 7)), ops.zeros((2, 4)), ops.ones((2, 5, 6)))
    >>> tuple(states.shape), tuple(weights.shape)
    ((2, 3, 4), (2, 3, 5))
    """

    def __init__(self, units, attention_units):
        super().__init__()
        self.units = units
        self.attention_units = attention_units

    def build(self, embedded_shape, memory_shape):
        input_width, memory_width = embedded_shape[-1], memory_shape[-1]
        self.w_query = self.add_weight(shape=(self.units, self.attention_units))
        self.w_key = self.add_weight(shape=(memory_width, self.attention_units))
        self.v = self.add_weight(shape=(self.attention_units,))
        self.w_input = self.add_weight(shape=(input_width, self.units))
        self.w_context = self.add_weight(shape=(memory_width, self.units))
        self.w_state = self.add_weight(shape=(self.units, self.units))

    def step(self, embedded, state, memory, mask=None):
        """One step: y_{t−1} (B, E), s_{t−1} (B, U) → s_t (B, U), α_t (B, Tk)."""
        # your code · 你的代码
        raise NotImplementedError

    def call(self, embedded, state, memory, mask=None):
        """All steps: y (B, T, E), s_0 (B, U), memory (B, Tk, M), mask (B, Tk) → s (B, T, U), α (B, T, Tk)."""
        # your code · 你的代码
        raise NotImplementedError
