# ruff: noqa: F401 (what is imported is for you to use)
"""Linear attention · 线性注意力

Chapter: ch11_5_efficient_attention.py
Difficulty: 4 of 5
Minutes: 40

Softmax needs all T² scores before it can weigh a value. Put a product of features φ(q) · φ(k) in the place of
exp(q · k), and the order of the products is free:

    output_i = Σ_j φ(q_i) · φ(k_j) v_j / Σ_j φ(q_i) · φ(k_j) = φ(q_i) S / φ(q_i) · z

    S = Σ_j φ(k_j) v_jᵀ    z = Σ_j φ(k_j)

S and z are the same for all queries, and of one size however long the sequence is: time and memory grow with
T, not with T². When causal, the sums run over j ≤ i; then attention is a recurrent network with the state
(S, z). There is no 1/√D here.

softmax 要先有全部 T² 个分数，才能给值加权。把 exp(q · k) 换成特征的点积 φ(q) · φ(k)，就可以先算 φ(k) 与 v 的
乘积之和 S，以及 φ(k) 之和 z。它们的大小与序列长度无关，对所有查询都一样：时间和内存随 T 增长，而不是 T²。
因果形式只对 j ≤ i 求和，这时注意力就是状态为 (S, z) 的循环网络。这里不除以 √D。

NumPy, keras.ops and TensorFlow all do · 三种库都可以用。

Shapes · 形状: B batch, T length, Tq queries, Tk keys, D width of queries and keys, Dv width of values
"""

from keras import ops


def features(x):
    """φ(x) = elu(x) + 1: x + 1 where x > 0, and exp(x) elsewhere. All of them are positive, as exp(q · k) is.

    特征：x > 0 处为 x + 1，其余为 exp(x)。都是正数，与 exp(q · k) 一样。

    Args:
        x: of any shape.

    Returns:
        φ(x), of the same shape.

    >>> features(ops.array([-1.0, 0.0, 2.0])).numpy().round(2)
    array([0.37, 1.  , 3.  ], dtype=float32)
    """
    # your code · 你的代码
    raise NotImplementedError


def linear_attention(query, key, value, mask=None):
    """φ(q_i) S / φ(q_i) · z, with the sums over all keys that are not padding.

    Sum over the keys first: no array has an axis Tq and an axis Tk.

    先对键求和：不要出现同时有 Tq 轴和 Tk 轴的数组。只对不是填充的键求和。

    Args:
        query: (B, Tq, D).
        key: (B, Tk, D).
        value: (B, Tk, Dv).
        mask: boolean (B, Tk), True = a real word, or None. At least one is · 至少有一个真实的词。

    Returns:
        output (B, Tq, Dv), S (B, D, Dv), z (B, D)

    Two keys with the features 1 and 3, so that they have 1/4 and 3/4 of the weight:

    >>> query, key = ops.array([[[5.0]]]), ops.array([[[0.0], [2.0]]])
    >>> output, s, z = linear_attention(query, key, ops.array([[[0.0, 4.0], [8.0, 0.0]]]))
    >>> output.numpy(), s.numpy(), z.numpy()
    (array([[[6., 1.]]], dtype=float32), array([[[24.,  4.]]], dtype=float32), array([[4.]], dtype=float32))
    """
    # your code · 你的代码
    raise NotImplementedError


def causal_linear_attention(query, key, value):
    """φ(q_i) S_i / φ(q_i) · z_i, with the sums S_i and z_i over j ≤ i: prefix sums.

    前缀和：第 i 个词只对 j ≤ i 求和。

    Args:
        query: (B, T, D).
        key: (B, T, D).
        value: (B, T, Dv).

    Returns:
        output (B, T, Dv), and the sums after the last word, S (B, D, Dv), z (B, D)

    Equal keys, so that each word gets the mean of the values so far:

    >>> ones = ops.ones((1, 3, 1))
    >>> output, s, z = causal_linear_attention(ones, ones, ops.array([[[1.0], [2.0], [6.0]]]))
    >>> output.numpy()[0, :, 0], s.numpy()[0, 0], z.numpy()[0]
    (array([1. , 1.5, 3. ], dtype=float32), array([18.], dtype=float32), array([6.], dtype=float32))
    """
    # your code · 你的代码
    raise NotImplementedError


def step(query, key, value, s, z):
    """One more word: adds its own term to the sums, then reads them with its query.

    再读一个词：先把它自己的项加进和里，再用它的查询读出结果。

    Args:
        query: (B, D), of the new word.
        key: (B, D).
        value: (B, Dv).
        s: S of the words before, (B, D, Dv).
        z: z of the words before, (B, D).

    Returns:
        output (B, Dv), and the sums with the new word, S (B, D, Dv), z (B, D)

    The last word of the example above:

    >>> one = ops.ones((1, 1))
    >>> output, s, z = step(one, one, ops.array([[6.0]]), ops.array([[[6.0]]]), ops.array([[4.0]]))
    >>> output.numpy(), s.numpy(), z.numpy()
    (array([[3.]], dtype=float32), array([[[18.]]], dtype=float32), array([[6.]], dtype=float32))
    """
    # your code · 你的代码
    raise NotImplementedError
