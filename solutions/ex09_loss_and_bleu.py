"""Masked loss and BLEU · 带掩码的损失与 BLEU

Chapter: ch11_4_1_machine_translation.py
Difficulty: 3 of 5
Minutes: 35

Two numbers tell how good a translator is. The loss says how probable it finds the right tokens; padding is no
token, so it must not count:

    loss = −1/N · Σ log softmax(logits)[label], over the N tokens that are not padding

BLEU compares what it writes with a reference, by the n-grams (n tokens in a row) that both have:

    BLEU = 100 · min(1, exp(1 − r/h)) · (p₁ p₂ p₃ p₄)^¼

p_n is the share of the written n-grams that the references have, h and r are the lengths of all that was
written and of all references. All sums run over the whole corpus, before anything is divided.

衡量翻译模型有两个数。损失看它给正确的词多大概率；填充不是词，不能算进去。
BLEU 看它写的译文与参考译文共有多少 n 元组（连续 n 个词）：p_n 是写出的 n 元组中参考译文也有的比例，
h、r 是全部译文与全部参考译文的长度。先在整个语料上求和，再做除法。

The loss in NumPy, keras.ops or TensorFlow, BLEU in plain Python · 损失用三种库都可以，BLEU 用 Python 就够了。

Shapes · 形状: B batch, T length, V tokens of the vocabulary
"""

import math
from collections import Counter

from keras import ops


def masked_loss(logits, labels):
    """−log softmax(logits)[label] of each token, and its mean over the tokens that are not padding.

    每个词的 −log softmax(logits)[label]，以及对所有非填充词的平均。

    Args:
        logits: (B, T, V), any size; exp(1000) is infinite. · 大小不限，注意 exp(1000) 会溢出。
        labels: integers (B, T); 0 is padding. · 整数，0 是填充。

    Returns:
        loss (a scalar), losses (B, T), 0 at padding

    A model that knows nothing gives each of 4 tokens 1/4, so its loss is ln 4 = 1.39:

    >>> loss, losses = masked_loss(ops.zeros((1, 3, 4)), ops.array([[2, 3, 0]]))
    >>> loss.numpy().round(2), losses.numpy().round(2)
    (np.float32(1.39), array([[1.39, 1.39, 0.  ]], dtype=float32))
    """
    # SOLUTION
    log_p = ops.log_softmax(logits)  # over the vocabulary: (B, T, V)
    of_labels = ops.take_along_axis(log_p, labels[:, :, None], axis=-1)[:, :, 0]  # (B, T)
    losses = ops.where(labels == 0, 0.0, -of_labels)
    return ops.sum(losses) / ops.sum(ops.cast(labels != 0, losses.dtype)), losses
    # END


def words(row, end):
    """The tokens before the first END: what follows is no part of the sentence, END is no word of it.

    第一个 END 之前的词：END 不是句子里的词，它后面的也不是。

    Args:
        row: integers (T,), as a decoder gives them.
        end: the id of END; a sentence that reached the limit may lack it. · 到了上限的句子可能没有 END。

    Returns:
        a list of integers

    >>> words([7, 8, 2, 9, 0], end=2)
    [7, 8]
    """
    # SOLUTION
    row = [int(token) for token in row]
    return row[: row.index(end)] if end in row else row
    # END


def matches(written, reference, n):
    """How many n-grams of what was written the reference has, too.

    An n-gram counts at most as often as it is in the reference: "the the the" gets one match from a reference
    with one "the".

    写出的 n 元组有多少也在参考译文里。每个 n 元组最多计参考译文中出现的次数。

    Args:
        written: a list of integers.
        reference: likewise.
        n: how many tokens in a row.

    Returns:
        matches, total: two integers; total is the number of n-grams written, 0 if there are too few tokens

    Of the pairs (5, 6), (6, 5), (5, 6) the reference has (5, 6), once:

    >>> matches([5, 6, 5, 6], [5, 6, 7], n=2)
    (1, 3)
    """

    # SOLUTION
    def ngrams(tokens):
        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    mine, theirs = ngrams(written), ngrams(reference)
    return sum((mine & theirs).values()), sum(mine.values())  # & takes the smaller of two counts
    # END


def bleu(written, references, end):
    """BLEU of a corpus, from 0 to 100, with one reference a sentence.

    It is 0 if for some n ≤ 4 there is no match at all.

    整个语料的 BLEU（0 到 100），每句一个参考译文。只要有一个 n ≤ 4 完全没有匹配，BLEU 就是 0。

    Args:
        written: integers (N, T), rows as in `words`.
        references: integers (N, T'), likewise.
        end: the id of END.

    Returns:
        a number

    All that is written is right, but 4 tokens stand for 5, so BLEU is 100 · exp(1 − 5/4):

    >>> round(bleu([[4, 5, 6, 7, 2, 0]], [[4, 5, 6, 7, 8, 2]], end=2), 1)
    77.9
    """
    # SOLUTION
    pairs = [(words(a, end), words(b, end)) for a, b in zip(written, references, strict=True)]
    precisions = []
    for n in range(1, 5):
        counts = [matches(mine, theirs, n) for mine, theirs in pairs]
        found, total = sum(m for m, _ in counts), sum(t for _, t in counts)
        if found == 0:
            return 0.0
        precisions.append(found / total)
    h, r = sum(len(mine) for mine, _ in pairs), sum(len(theirs) for _, theirs in pairs)
    return 100 * min(1, math.exp(1 - r / h)) * math.prod(precisions) ** (1 / 4)
    # END
