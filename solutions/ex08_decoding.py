"""Decoding: greedy and beam search · 解码：贪心与束搜索

Chapter: ch11_4_1_machine_translation.py
Difficulty: 4 of 5
Minutes: 40

A translator says how probable each word is as the next one; decoding makes a sentence of that. Greedy search
takes the most probable word at each step, and cannot go back. Beam search keeps the `width` best beginnings,
the beams, and lets the best of them win in the end:

    log p(y) = Σ_t log p(y_t | y_1 … y_{t−1})    score(y) = log p(y) / |y|^α

A sentence is finished when it takes END: nothing follows, and its log p stays. Since log p falls with each
word, short sentences would win; |y|^α makes up for that. |y| counts END, but not START.

The model comes to you as a function: next_scores(tokens) takes a beginning, START included, and gives the
log-probability of each token as the next one, an array (V,). It also takes many beginnings of one length at
once: (..., T) → (..., V).

翻译模型给出下一个词的概率，解码把它们变成句子。贪心搜索每一步取概率最大的词，不能回头；
束搜索保留 `width` 个最好的开头（beam），最后取其中最好的一个。句子取到 END 就结束：
后面不再接词，log p 也不再变。词越多 log p 越小，短句会占便宜，除以 |y|^α 就是为了弥补；
其中 |y| 包括 END，不包括 START。
模型是一个函数：next_scores(tokens) 接受一个以 START 开始的开头，返回每个词作为下一个词的对数概率 (V,)；
也可以一次给它多个等长的开头：(..., T) → (..., V)。

Python and NumPy are enough; TensorFlow will do as well · 用 Python 和 NumPy 就够了，TensorFlow 也可以。

Shapes · 形状: V tokens of the vocabulary, T length
"""

import numpy as np


def greedy(next_scores, start, end, limit):
    """The most probable token at each step, until END has been taken or there are `limit` tokens.

    每一步取概率最大的词，直到取到 END，或已有 limit 个词。

    Args:
        next_scores: the model.
        start, end: the ids of START and END.
        limit: most tokens of the sentence; END counts, START does not. · 词数上限，包括 END，不包括 START。

    Returns:
        tokens, a list of integers: without START, with END if it was taken; log p of them

    Here p depends on the last token only: 0 is START, 1 END, and the first row follows START.

    >>> p = [[0.01, 0.01, 0.58, 0.40], [0.25] * 4, [0.01, 0.54, 0.15, 0.30], [0.01, 0.97, 0.01, 0.01]]
    >>> tokens, score = greedy(lambda tokens: np.log(p[tokens[-1]]), start=0, end=1, limit=5)
    >>> tokens, f"{np.exp(score):.2f}"
    ([2, 1], '0.31')
    """
    # SOLUTION
    tokens, score = [start], 0.0
    while tokens[-1] != end and len(tokens) <= limit:
        scores = next_scores(tokens)  # (V,)
        tokens.append(int(np.argmax(scores)))
        score += float(scores[tokens[-1]])
    return tokens[1:], score
    # END


def grow(beams, next_scores, end, width):
    """One step of beam search: from the beams of this step to those of the next.

    A beam that is finished stays as it is. The others grow by every token of the vocabulary. The `width` best
    of all of these together are kept, the best first: those of the highest log p.

    束搜索的一步：已结束的 beam 原样保留，其余的接上词表中的每一个词；
    放在一起按 log p 从高到低，留下最好的 width 个。

    Args:
        beams: a list of (tokens, log p); tokens is a list of integers that begins with START.
        next_scores: the model.
        end: the id of END.
        width: how many to keep.

    Returns:
        beams, a list of the same form

    Beam [0, 2] grows to [0, 2, 1] and others, but [0, 1] has taken END:

    >>> p = [[0.01, 0.01, 0.58, 0.40], [0.25] * 4, [0.01, 0.54, 0.15, 0.30], [0.01, 0.97, 0.01, 0.01]]
    >>> beams = [([0, 2], np.log(0.5)), ([0, 1], np.log(0.2))]
    >>> for tokens, score in grow(beams, lambda tokens: np.log(p[tokens[-1]]), end=1, width=3):
    ...     print(tokens, f"{np.exp(score):.2f}")
    [0, 2, 1] 0.27
    [0, 1] 0.20
    [0, 2, 3] 0.15
    """
    # SOLUTION
    grown = []
    for tokens, score in beams:
        if tokens[-1] == end:
            grown.append((tokens, score))
        else:
            grown += [([*tokens, v], score + float(s)) for v, s in enumerate(next_scores(tokens))]
    return sorted(grown, key=lambda beam: beam[1], reverse=True)[:width]
    # END


def beam_search(next_scores, start, end, limit, width, alpha):
    """`limit` steps of beam search, from START alone; then the beam of the highest log p / |y|^α.

    A beam that is not finished by then may win, too.

    从 START 开始做 limit 步束搜索，再取 log p / |y|^α 最高的 beam；到那时还没有结束的 beam 也可以胜出。

    Args:
        next_scores, start, end, limit: as in `greedy`.
        width: how many beams are kept.
        alpha: α; 0 compares log p itself, 1 the log p per token. · 0 比较 log p，1 比较每个词的 log p。

    Returns:
        tokens, as in `greedy`; its log p / |y|^α

    The second best first word leads to the best sentence, p = 0.40 · 0.97, which greedy search misses:

    >>> p = [[0.01, 0.01, 0.58, 0.40], [0.25] * 4, [0.01, 0.54, 0.15, 0.30], [0.01, 0.97, 0.01, 0.01]]
    >>> tokens, score = beam_search(lambda tokens: np.log(p[tokens[-1]]), 0, 1, limit=5, width=2, alpha=0.0)
    >>> tokens, f"{np.exp(score):.2f}"
    ([3, 1], '0.39')
    """
    # SOLUTION
    beams = [([start], 0.0)]
    for _ in range(limit):
        beams = grow(beams, next_scores, end, width)
    scored = [(score / (len(tokens) - 1) ** alpha, tokens[1:]) for tokens, score in beams]
    score, tokens = max(scored)
    return tokens, score
    # END
