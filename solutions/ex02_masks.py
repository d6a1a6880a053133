"""Masks · 掩码

Chapter: ch11_1_core_idea.py
Difficulty: 3 of 5
Minutes: 25

Not every key may be looked at: padding holds nothing, and a decoder must not see the words that it has yet to
write. A mask says so: True = may be attended to. Hidden keys get the weight 0, and the others share 1.

不是每个键都能看：填充（padding）里什么都没有，解码器也不能看还没写出来的词。掩码用 True 表示“可以看”。
被遮住的键权重为 0，其余的权重之和为 1。

NumPy, keras.ops and TensorFlow all do · 三种库都可以用。

Shapes · 形状: B batch, T length, Tq queries, Tk keys
"""

from keras import ops


def padding_mask(tokens):
    """Hides the keys that are padding, for every query: token 0 is the padding.

    遮住填充（编号 0）处的键，对所有查询都一样。

    Args:
        tokens: integers (B, Tk).

    Returns:
        mask: boolean (B, 1, Tk), so that it broadcasts over the queries; True = a real token.

    >>> padding_mask(ops.array([[7, 3, 0]])).numpy()
    array([[[ True,  True, False]]])
    """
    # SOLUTION
    return ops.not_equal(tokens, 0)[:, None, :]  # (B, 1, Tk)
    # END


def causal_mask(length):
    """Hides the future: query i may attend to the keys 0 … i, itself included.

    遮住未来：第 i 个查询只能看第 0 到 i 个键（包括自己）。

    Args:
        length: T, a Python integer.

    Returns:
        mask: boolean (T, T), queries in rows, keys in columns.

    >>> causal_mask(3).numpy().astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    # SOLUTION
    position = ops.arange(length)
    return position[:, None] >= position[None, :]  # (T, T)
    # END


def masked_softmax(scores, mask):
    """Softmax over the keys that the mask leaves; a row that it hides as a whole is 0.

    Hide before the softmax, so that the weights that remain sum to 1. Whatever a hidden score is, it must not
    matter.

    只对掩码留下的键做 softmax；整行都被遮住时，该行权重为 0。要在 softmax 之前遮，剩下的权重之和才是 1。
    被遮住的分数是多少，都不能影响结果。

    Args:
        scores: (B, Tq, Tk).
        mask: boolean, broadcasts to (B, Tq, Tk); True = may be attended to.

    Returns:
        weights (B, Tq, Tk)

    >>> scores = ops.array([[[0.0, 0.0, 9.0], [1.0, 2.0, 3.0]]])
    >>> masked_softmax(scores, ops.array([[True, True, False], [False, False, False]])).numpy()
    array([[[0.5, 0.5, 0. ],
            [0. , 0. , 0. ]]], dtype=float32)
    """
    # SOLUTION
    visible = ops.where(mask, scores, -1e9)  # (B, Tq, Tk)
    powers = ops.exp(visible - ops.max(visible, axis=-1, keepdims=True))
    weights = powers / ops.sum(powers, axis=-1, keepdims=True)
    return ops.where(mask, weights, 0.0)
    # END
