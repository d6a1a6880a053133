"""Cross-attention · 交叉注意力

Chapter: ch11_2_3_cross_attention.py
Difficulty: 3 of 5
Minutes: 35

One sequence asks, another answers: a decoder that writes Y looks at X, which the encoder has read.

    Q = Y W_q    K = X W_k    V = X W_v    output = softmax(Q Kᵀ / √d_k) V

There is a weight for each pair of a target word and a source word, and the mask is that of the source. A
decoder has both kinds: first self-attention among the words that it has written, then cross-attention.
NumPy, keras.ops or TensorFlow all do.

一个序列提问，另一个序列回答：解码器写 Y 时，去看编码器读过的 X。每对目标词和源词有一个权重，
掩码是源句的掩码。解码器里两种都有：先在已写出的词之间做自注意力，再做交叉注意力。
NumPy、keras.ops、TensorFlow 都可以。

Shapes · 形状: B batch, Tq length of the query sequence, Tk length of the context, Dq and Dc their widths,
Dk width of queries and keys, Dv width of values
"""

import math

import keras
from keras import ops


def cross_attention(query, context, w_query, w_key, w_value, mask=None):
    """softmax(Y W_q (X W_k)ᵀ / √Dk) · X W_v: Y is the query sequence, X the context.

    查询来自 Y（query），键和值来自 X（context）。

    Args:
        query: Y (B, Tq, Dq).
        context: X (B, Tk, Dc).
        w_query: (Dq, Dk).
        w_key: (Dc, Dk).
        w_value: (Dc, Dv).
        mask: boolean, broadcasts to (B, Tq, Tk), True = may be attended to; or None. Each query may attend to
            some key. · 布尔，可广播成 (B, Tq, Tk)，True 表示可以看；每个查询至少能看一个键。

    Returns:
        output (B, Tq, Dv), weights (B, Tq, Tk)

    One word looks at two, scores 0 and ln 3, so the weights are 1/4 and 3/4:

    >>> query, context, one = ops.array([[[math.log(3.0)]]]), ops.array([[[0.0], [1.0]]]), ops.ones((1, 1))
    >>> output, weights = cross_attention(query, context, one, one, 8 * one)
    >>> output.numpy().round(2), weights.numpy().round(2)
    (array([[[6.]]], dtype=float32), array([[[0.25, 0.75]]], dtype=float32))
    """
    # SOLUTION
    queries = ops.matmul(query, w_query)  # (B, Tq, Dk)
    keys = ops.matmul(context, w_key)  # (B, Tk, Dk)
    values = ops.matmul(context, w_value)  # (B, Tk, Dv)
    scores = ops.matmul(queries, ops.swapaxes(keys, 1, 2)) / math.sqrt(keys.shape[-1])  # (B, Tq, Tk)
    if mask is not None:
        scores = ops.where(mask, scores, -1e9)
    weights = ops.softmax(scores)
    return ops.matmul(weights, values), weights  # (B, Tq, Dv)
    # END


def decoder_attention(target, source, self_matrices, cross_matrices, target_mask, source_mask):
    """A decoder's two kinds of attention, each added to what goes into it.

        state = target + self-attention of target      each word sees itself and the real words before it
        output = state + cross-attention from state to source      each word sees all real source words

    Self-attention is cross-attention of a sequence with itself.

    解码器的两种注意力，结果各自加到它的输入上。自注意力：每个词看自己和它之前的真实的词；交叉注意力：每个词看源句
    所有真实的词。自注意力就是一个序列与自己做交叉注意力。

    Args:
        target: (B, Tq, D), the words written so far.
        source: (B, Tk, D), what the encoder gave.
        self_matrices: [w_query, w_key, w_value] of the self-attention; w_value is (D, D).
        cross_matrices: the same of the cross-attention.
        target_mask: boolean (B, Tq), True = a real word; the first word is real. · 第一个词是真实的词。
        source_mask: boolean (B, Tk), likewise.

    Returns:
        output (B, Tq, D), weights (B, Tq, Tk) of the cross-attention

    Queries and keys are 0 here, so that all visible words count alike. The first word sees 2, so its state is
    2 + 2; the second sees 2 and 4, so its state is 4 + 3. Both then add the source's mean, 20:

    >>> matrices = [ops.zeros((1, 1)), ops.zeros((1, 1)), ops.ones((1, 1))]
    >>> target, source = ops.array([[[2.0], [4.0]]]), ops.array([[[10.0], [30.0]]])
    >>> real = ops.array([[True, True]])
    >>> output, weights = decoder_attention(target, source, matrices, matrices, real, real)
    >>> output.numpy(), weights.numpy()
    (array([[[24.],
            [27.]]], dtype=float32), array([[[0.5, 0.5],
            [0.5, 0.5]]], dtype=float32))
    """
    # SOLUTION
    position = ops.arange(target.shape[1])
    past = position[:, None] >= position[None, :]  # (Tq, Tq)
    visible = ops.logical_and(past, target_mask[:, None, :])  # (B, Tq, Tq)
    seen, _ = cross_attention(target, target, *self_matrices, mask=visible)
    state = target + seen  # (B, Tq, D)
    found, weights = cross_attention(state, source, *cross_matrices, mask=source_mask[:, None, :])
    return state + found, weights
    # END


class CrossAttention(keras.layers.Layer):
    """Cross-attention as a layer, with the weights `w_query` (Dq, Dk), `w_key` (Dc, Dk), `w_value` (Dc, Dv).

    Keras gives `build` the shapes of both inputs by the names of call's arguments. context_mask is boolean
    (B, Tk), True = a real word, or None.

    写成层，拥有权重 w_query、w_key、w_value。Keras 按 call 的参数名把两个输入的形状传给 build。
    context_mask 是布尔 (B, Tk)，True 是真实的词；也可以是 None。

    Args:
        key_dim: Dk.
        value_dim: Dv.

    >>> output, weights = CrossAttention(key_dim=4, value_dim=3)(ops.ones((2, 5, 6)), ops.ones((2, 7, 8)))
    >>> tuple(output.shape), tuple(weights.shape)
    ((2, 5, 3), (2, 5, 7))
    """

    def __init__(self, key_dim, value_dim):
        super().__init__()
        self.key_dim = key_dim
        self.value_dim = value_dim

    def build(self, query_shape, context_shape):
        # SOLUTION
        self.w_query = self.add_weight(shape=(query_shape[-1], self.key_dim))
        self.w_key = self.add_weight(shape=(context_shape[-1], self.key_dim))
        self.w_value = self.add_weight(shape=(context_shape[-1], self.value_dim))
        # END

    def call(self, query, context, context_mask=None):
        """query (B, Tq, Dq), context (B, Tk, Dc), context_mask (B, Tk) → output, weights."""
        # SOLUTION
        mask = None if context_mask is None else context_mask[:, None, :]  # (B, 1, Tk)
        return cross_attention(query, context, self.w_query, self.w_key, self.w_value, mask)
        # END
