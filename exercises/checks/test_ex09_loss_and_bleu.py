"""Checks of ex09, with references in NumPy and Python."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats

B, T, V = 3, 6, 5
LOSSES, COUNTS = ("loss", "losses"), ("matches", "total")
END, WORDS = 2, range(3, 10)  # few words, so that some come twice


def masked_loss(logits, labels):
    logits = logits.astype("float64") - logits.max(axis=-1, keepdims=True)
    right = np.take_along_axis(logits, labels[..., None].astype(int), axis=-1)[..., 0]
    losses = np.where(labels == 0, 0, np.log(np.exp(logits).sum(axis=-1)) - right)
    return losses.sum() / (labels != 0).sum(), losses


def matches(written, reference, n):
    mine = [tuple(written[i : i + n]) for i in range(len(written) - n + 1)]
    theirs = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    return sum(min(mine.count(ngram), theirs.count(ngram)) for ngram in set(mine)), len(mine)


def bleu(written, references):
    counts = np.array(
        [
            [matches(mine, theirs, n) for n in (1, 2, 3, 4)]
            for mine, theirs in zip(written, references, strict=True)
        ]
    ).sum(axis=0)  # (4, 2)
    if not counts[:, 0].all():
        return 0.0
    h, r = sum(map(len, written)), sum(map(len, references))
    return 100 * np.exp(min(0, 1 - r / h) + np.mean(np.log(counts[:, 0] / counts[:, 1])))


def rows(rng, sentences, width, tail=0):
    """Sentences as a decoder gives them: END, then perhaps a tail that does not count, then padding."""
    array = np.zeros((len(sentences), width), "int32")
    for row, sentence in zip(array, sentences, strict=True):
        line = [*sentence, END, *rng.choice([*WORDS, END], tail)]
        row[: len(line)] = line
    return array


def imitate(rng, sentence, change):
    """A sentence like it: some words are others, and there are more of them (change > 0) or fewer."""
    words = [int(rng.choice(WORDS)) if rng.random() < 0.1 else word for word in sentence]
    for _ in range(abs(change)):
        place = int(rng.integers(len(words)))
        words[place : place + (change < 0)] = [] if change < 0 else [int(rng.choice(WORDS))]
    return words


def corpus(rng, change):
    """Sentences written and their references, so that BLEU is neither very low nor very high."""
    while True:
        lengths = 7 + rng.permutation(4)
        references = [[int(word) for word in rng.choice(WORDS, length)] for length in lengths]
        written = [imitate(rng, sentence, change * (i % 2 + 1)) for i, sentence in enumerate(references)]
        if 15 < bleu(written, references) < 80:
            return written, references


def as_list(tokens):
    """Integers of any kind as a list; whatever else there is stays as it is."""
    if isinstance(tokens, np.ndarray):
        return tokens.tolist()
    if isinstance(tokens, list):
        return [t.item() if isinstance(t, np.ndarray) and t.ndim == 0 else t for t in tokens]
    return tokens


@pytest.fixture
def labels(rng):
    """Each sentence has another length, from 2 to T − 1; then padding."""
    labels = rng.integers(1, V, size=(B, T)).astype("int32")
    lengths = 2 + rng.permutation(T - 2)[:B]
    return np.where(np.arange(T) < lengths[:, None], labels, 0).astype("int32")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "log softmax first, over the vocabulary; then pick the label's value in each place.",
            "先沿词表做 log softmax，再在每个位置取出标签对应的值。",
        ),
        (
            "log softmax(x) = x − max − log Σ exp(x − max): nothing overflows, and nothing is log 0.",
            "log softmax(x) = x − max − log Σ exp(x − max)：不会溢出，也不会出现 log 0。",
        ),
        (
            "losses = where(labels == 0, 0, -log_softmax(logits)[b, t, labels[b, t]])",
            "losses = where(labels == 0, 0, -log_softmax(logits)[b, t, labels[b, t]])",
        ),
    ],
)
def test_losses(student, rng, labels):
    """The loss of a token is −log p of its label, for large logits too, and 0 at padding.

    每个词的损失是 −log p(标签)，logits 很大时也正确；填充处为 0。
    """
    cases = [scale * floats(rng, B, T, V) for scale in (2, 300)]
    found = [student.call("masked_loss", logits, labels, returns=LOSSES)[1] for logits in cases]
    for losses, logits in zip(found, cases, strict=True):
        equal(losses, masked_loss(logits, labels)[1], "losses")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "How many tokens are there that are not padding? The sum is divided by that number.",
            "有多少个词不是填充？总和要除以这个数。",
        ),
        (
            "All tokens of the batch count alike, in a long sentence as in a short one.",
            "批次中每个词的分量相同，不管句子长短。",
        ),
        (
            "loss = sum(losses) / sum(labels != 0), both over the whole batch.",
            "loss = sum(losses) / sum(labels != 0)，都对整个批次求和。",
        ),
    ],
)
def test_loss(student, rng, labels):
    """The loss is the mean over the tokens, and padding changes nothing.

    损失是对所有词的平均，填充不影响结果。
    """
    logits = floats(rng, B, T, V)
    changed = np.where(labels[..., None] == 0, 50 * floats(rng, B, T, V), logits).astype("float32")
    loss, _ = student.call("masked_loss", changed, labels, returns=LOSSES)
    equal(loss, masked_loss(logits, labels)[0], "loss")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "Where does the sentence end? At the first END.",
            "句子到哪里结束？到第一个 END。",
        ),
        (
            "END is left out, and so is all that follows, be it padding or not.",
            "END 不要，它后面的无论是不是填充都不要。",
        ),
        (
            "row[: row.index(end)] if end in row else row, of a list.",
            "对列表：row[: row.index(end)] if end in row else row。",
        ),
    ],
)
def test_words(student, rng):
    """A sentence stops before its first END, if it has one.

    句子到第一个 END 之前为止（如果有 END）。
    """
    sentence = [int(word) for word in rng.choice(WORDS, 4)]
    others = [int(word) for word in rng.choice(WORDS, 3)]
    cases = [
        ([*sentence, END, 0, 0], sentence),
        ([*sentence, END, *others, END, 0], sentence),
        ([*others, *sentence], [*others, *sentence]),
        ([END, *others], []),
    ]
    found = [student.call("words", np.array(row, "int32"), END) for row, _ in cases]
    for words, (_, expected) in zip(found, cases, strict=True):
        equal(as_list(words), expected, "words")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "From a sentence of T tokens come T − n + 1 n-grams, which overlap.",
            "T 个词的句子有 T − n + 1 个 n 元组，它们互相重叠。",
        ),
        (
            "Count the n-grams of both sides; of each, the smaller count is the number of matches.",
            "分别统计两边的 n 元组；每个 n 元组的匹配数是两个计数中较小的那个。",
        ),
        (
            "collections.Counter has it: sum((mine & theirs).values()), sum(mine.values()).",
            "用 collections.Counter：sum((mine & theirs).values()), sum(mine.values())。",
        ),
    ],
)
def test_matches(student, rng):
    """Each n-gram matches at most as often as the reference has it.

    每个 n 元组的匹配次数不超过它在参考译文中出现的次数。
    """
    a, b, c, d, e = (int(word) for word in rng.choice(WORDS, 5, replace=False))
    cases = [
        ([a, b, a, b, a, c, d], [b, a, b, c, d, e], 1),
        ([a, b, a, b, a, c, d], [b, a, b, d, c, e], 2),
        ([a, b, c, d, a, b, c, e, d], [e, a, b, c, d, b, c], 3),
        ([a, b], [a, b, c, d], 3),
    ]
    found = [student.call("matches", *case, returns=COUNTS) for case in cases]
    for counts, case in zip(found, cases, strict=True):
        for got, expected, name in zip(counts, matches(*case), COUNTS, strict=True):
            equal(got, expected, name)


@pytest.mark.check(
    points=3,
    hints=[
        (
            "Cut the sentences with `words` first: neither END nor padding is a word.",
            "先用 words 截出句子：END 和填充都不是词。",
        ),
        (
            "For each n add up the matches and the totals of all sentences, then divide once.",
            "对每个 n，把所有句子的匹配数和总数分别加起来，最后只除一次。",
        ),
        (
            "100 · min(1, exp(1 − r/h)) · (p₁ p₂ p₃ p₄)^¼: to be short costs, to be long earns nothing.",
            "100 · min(1, exp(1 − r/h)) · (p₁ p₂ p₃ p₄)^¼：太短要罚，长了也不奖励。",
        ),
    ],
)
def test_bleu(student, rng):
    """BLEU of a corpus: shared n-grams over all sentences, and a penalty for what is too short.

    语料的 BLEU：所有句子共有的 n 元组，以及对过短译文的惩罚。
    """
    cases = [corpus(rng, change) for change in (-1, 1, -1)]
    found = [
        student.call("bleu", rows(rng, written, 15, tail=2), rows(rng, references, 12), END)
        for written, references in cases
    ]
    for got, case in zip(found, cases, strict=True):
        equal(got, bleu(*case), "bleu")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "If one of the four precisions is 0, what is their product?",
            "四个精确率中有一个是 0，乘积是多少？",
        ),
        (
            "Sentences of three words have no 4-gram: take care not to divide by 0.",
            "三个词的句子没有 4 元组：注意不要除以 0。",
        ),
        (
            "if found == 0: return 0.0, before the division.",
            "在做除法之前：if found == 0: return 0.0。",
        ),
    ],
)
def test_few_matches(student, rng):
    """BLEU is 0 where no 4-gram matches, and more than 0 where one does.

    没有匹配的 4 元组时 BLEU 为 0，有一个匹配时大于 0。
    """
    a, b, c, d, e, f = (int(word) for word in rng.choice(WORDS, 6, replace=False))
    cases = [
        ([[a, b, c, d, e], [f, a]], [[a, b, c, e, d], [f, a, b]]),  # no 4-gram is shared
        ([[a, b, c], [d, e]], [[a, b, c], [d, e, f]]),  # none is written
        ([[a, b, c, d, f], []], [[a, b, c, d, e], [f]]),  # one is shared
    ]
    found = [
        student.call("bleu", rows(rng, written, 7), rows(rng, references, 8), END)
        for written, references in cases
    ]
    for got, case in zip(found, cases, strict=True):
        equal(got, bleu(*case), "bleu")
