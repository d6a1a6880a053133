# ruff: noqa: F401 (what is imported is for you to use)
"""Sparse patterns · 稀疏注意力的模式

Chapter: ch11_5_efficient_attention.py
Difficulty: 4 of 5
Minutes: 45

Attention of T words needs T² weights, most of which are next to nothing. So Longformer and BigBird let each
word see only some others: its neighbours, a few global tokens that see all and are seen by all, some blocks.
Which ones is a mask, as in ex02: True = may be attended to. Write three such masks; then, for the first, an
attention that computes no weight outside the window.

T 个词的注意力有 T² 个权重，其中大多数几乎为 0。Longformer 和 BigBird 只让每个词看一部分词：它的邻居、
几个全局词元（看所有词，也被所有词看到）、一些块。看哪些由掩码表示（见 ex02）：True 表示可以看。
先写三种掩码；再为第一种写出注意力，不计算窗口以外的权重。

NumPy, keras.ops and TensorFlow all do · 三种库都可以用。

Shapes · 形状: B batch, T length, D width of queries and keys, Dv width of values, N number of blocks
"""

import math

from keras import ops


def window_mask(length, window):
    """A sliding window: query i may attend to key j if |i − j| ≤ window.

    滑动窗口：|i − j| ≤ window 时，第 i 个查询可以看第 j 个键。

    Args:
        length: T, a Python integer.
        window: how many neighbours are visible on each side · 每一侧能看到几个邻居。

    Returns:
        mask: boolean (T, T), queries in rows, keys in columns.

    >>> window_mask(4, 1).numpy().astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 1, 0],
           [0, 1, 1, 1],
           [0, 0, 1, 1]])
    """
    # your code · 你的代码
    raise NotImplementedError


def longformer_mask(length, window, global_tokens):
    """The window, and a few global tokens, which see all keys and are seen by all queries.

    滑动窗口，再加几个全局词元：它们看所有的键，也被所有的查询看到。

    Args:
        length: T, a Python integer.
        window: how many neighbours are visible on each side.
        global_tokens: a list of positions.

    Returns:
        mask: boolean (T, T).

    >>> longformer_mask(5, 1, [1]).numpy().astype(int)
    array([[1, 1, 0, 0, 0],
           [1, 1, 1, 1, 1],
           [0, 1, 1, 1, 0],
           [0, 1, 1, 1, 1],
           [0, 1, 0, 1, 1]])
    """
    # your code · 你的代码
    raise NotImplementedError


def big_bird_mask(length, block_size, random_blocks):
    """Each block of tokens sees itself, its two neighbours, the first and the last block, and random ones.

    The first and the last block are global: they see all blocks, and all see them. The first block_size
    tokens are block 0, and so on; the last block may have fewer.

    以块为单位：每块看自己、左右两块、第一块、最后一块，以及随机选出的块。第一块和最后一块是全局的：
    它们看所有块，也被所有块看到。前 block_size 个词是第 0 块，以此类推；最后一块可以不满。

    Args:
        length: T, a Python integer.
        block_size: tokens in a block.
        random_blocks: integers (N, r), the r blocks that each block sees besides · 每块另外看的块。

    Returns:
        mask: boolean (T, T).

    Six blocks of one token; the blocks 1, 3 and 4 see one more each, 4, 1 and 2:

    >>> big_bird_mask(6, 1, ops.array([[0], [4], [2], [1], [2], [5]])).numpy().astype(int)
    array([[1, 1, 1, 1, 1, 1],
           [1, 1, 1, 0, 1, 1],
           [1, 1, 1, 1, 0, 1],
           [1, 1, 1, 1, 1, 1],
           [1, 0, 1, 1, 1, 1],
           [1, 1, 1, 1, 1, 1]])
    """
    # your code · 你的代码
    raise NotImplementedError


def window_attention(query, key, value, mask, window):
    """softmax(q_i · k_j / √D) over the real keys with |i − j| ≤ window, in T · (2 · window + 1) weights.

    The weights are a band: weights[:, i, m] belongs to the key i + m − window. It is 0 where that key is
    beyond the ends, or padding. A query that sees no key gets zeros.

    只算窗口内的权重，共 T · (2 · window + 1) 个。weights[:, i, m] 对应第 i + m − window 个键；
    该键超出两端或是填充时，权重为 0。看不到任何键的查询得到 0。

    Args:
        query: (B, T, D).
        key: (B, T, D).
        value: (B, T, Dv).
        mask: boolean (B, T), True = a real word. No query attends to padding · 没有查询会看填充。
        window: how many neighbours are visible on each side.

    Returns:
        output (B, T, Dv), weights (B, T, 2 · window + 1)

    Three equal keys: the first and the last query see two of them, the second all three.

    >>> value, real = ops.array([[[1.0], [2.0], [6.0]]]), ops.ones((1, 3), dtype="bool")
    >>> output, weights = window_attention(ops.ones((1, 3, 1)), ops.ones((1, 3, 1)), value, real, 1)
    >>> output.numpy()[0, :, 0], weights.numpy()[0].round(2)
    (array([1.5, 3. , 4. ], dtype=float32), array([[0.  , 0.5 , 0.5 ],
           [0.33, 0.33, 0.33],
           [0.5 , 0.5 , 0.  ]], dtype=float32))
    """
    # your code · 你的代码
    raise NotImplementedError
