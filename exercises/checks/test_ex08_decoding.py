"""Checks of ex08, with a reference in NumPy.

The model is a table of log-probabilities by step and last token. Tables are drawn until no choice is close,
so that rounding decides nothing, and until the case shows what it is for. All is asked before anything is
compared, so that a mistake shows in several cases.
"""

import itertools

import numpy as np
import pytest

from keras_attention.course.checks import Given, equal, require, softmax

V, LIMIT, CLOSE = 6, 5, 1e-3
PARTS = ("tokens", "score")


class Model:
    """log p(next | step, last token). After `limit` tokens END is almost certain."""

    def __init__(self, rng, limit=LIMIT, late=0.0):
        self.start, self.end = map(int, rng.choice(V, 2, replace=False))
        self.limit = limit
        scores = 1.5 * rng.normal(size=(limit + 3, V, V))
        scores[:limit, :, self.end] -= late
        scores[limit:, :, self.end] += 20
        self.table = np.log(softmax(scores)).astype("float32")

    @property
    def given(self):
        return Given("next_scores", {"table": self.table})

    def next(self, tokens):
        return self.table[len(tokens) - 1, tokens[-1]].astype("float64")

    def greedy(self):
        """Tokens, score, and by how much the closest choice was made."""
        tokens, score, margins = [self.start], 0.0, []
        while tokens[-1] != self.end and len(tokens) <= self.limit:
            second, first = np.sort(self.next(tokens))[-2:]
            score += first
            margins.append(first - second)
            tokens = [*tokens, int(np.argmax(self.next(tokens)))]
        return tokens[1:], score, min(margins)

    def grow(self, beams, width):
        """The beams of the next step, and by how much the closest choice was made."""
        candidates = [beam for beam in beams if beam[0][-1] == self.end]
        for tokens, score in beams:
            if tokens[-1] != self.end:
                candidates += [([*tokens, v], score + self.next(tokens)[v]) for v in range(V)]
        scores = np.array([score for _, score in candidates])
        order = np.argsort(-scores)[: width + 1]
        margin = min(-np.diff(scores[order]), default=1.0)
        return [candidates[i] for i in order[:width]], margin

    def search(self, width, alpha):
        """The beams after the last step, tokens and score of the best, and the smallest margin."""
        beams, margins = [([self.start], 0.0)], []
        for _ in range(self.limit):
            beams, margin = self.grow(beams, width)
            margins.append(margin)
        scores = np.array([score / (len(tokens) - 1) ** alpha for tokens, score in beams])
        order = np.argsort(-scores)[:2]
        margins += list(-np.diff(scores[order]))
        return beams, beams[order[0]][0][1:], scores[order[0]], min(margins)

    def best_of_all(self):
        """Tokens and log p of the most probable of all sentences, and by how much it is that."""
        sentences = set()
        for tokens in itertools.product(range(V), repeat=self.limit):
            length = tokens.index(self.end) + 1 if self.end in tokens else self.limit
            sentences.add(tokens[:length])

        def log_p(tokens):
            words = (self.start, *tokens)
            return sum(self.next(words[:t])[words[t]] for t in range(1, len(words)))

        (score, best), (second, _) = sorted([(log_p(tokens), tokens) for tokens in sentences])[:-3:-1]
        return list(best), score, score - second


def as_array(tokens):
    """A list of integers as an array; whatever else there is stays as it is."""
    whole = isinstance(tokens, list) and all(
        type(token) in (int, np.ndarray) and np.ndim(token) == 0 for token in tokens
    )
    return np.array(tokens) if whole else tokens


def compare(got, tokens, score):
    equal(as_array(got[0]), np.array(tokens), "tokens")
    equal(got[1], float(score), "score")


def compare_beams(got, expected):
    pairs = isinstance(got, list) and all(isinstance(beam, list) and len(beam) == 2 for beam in got)
    require(
        pairs, "grow does not return a list of (tokens, score).", "grow 返回的不是 (tokens, score) 的列表。"
    )
    require(
        len(got) == len(expected),
        f"grow returns {len(got)} beams, not {len(expected)}.",
        f"grow 返回了 {len(got)} 个 beam，应为 {len(expected)} 个。",
    )
    for beam, (tokens, score) in zip(got, expected, strict=True):
        compare(beam, tokens, score)


@pytest.mark.check(
    points=1,
    hints=[
        (
            "What has been written so far decides what the model says next: ask it again at each step.",
            "已经写出的词决定模型接下来怎么说：每一步都要重新问它。",
        ),
        (
            "Stop when the last token is END, or when there are `limit` tokens without START.",
            "最后一个词是 END，或不算 START 已有 limit 个词时，停下。",
        ),
        (
            "while tokens[-1] != end and len(tokens) <= limit: take the argmax of next_scores(tokens).",
            "while tokens[-1] != end and len(tokens) <= limit：取 argmax(next_scores(tokens))，累加分数。",
        ),
    ],
)
def test_greedy(student, rng):
    """Greedy search takes the most probable token, and stops at END or at the limit.

    贪心搜索每步取概率最大的词，到 END 或到上限就停。
    """

    def case(ends):
        """Search ends before the limit, or has no END at all."""
        while True:
            model = Model(rng)
            tokens, score, margin = model.greedy()
            if margin > CLOSE and (len(tokens) < LIMIT if ends else model.end not in tokens):
                return model, tokens, score

    cases = [case(ends) for ends in (True, False, True, False)]
    found = [student.call("greedy", m.given, m.start, m.end, LIMIT, returns=PARTS) for m, *_ in cases]
    for got, (_, tokens, score) in zip(found, cases, strict=True):
        compare(got, tokens, score)


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Each beam grows by all V tokens; of all these together the best are kept.",
            "每个 beam 接上全部 V 个词；再从所有结果里一起选最好的，不管来自哪个 beam。",
        ),
        (
            "log p of a longer beam: log p of the beam, plus the score of the token that it takes.",
            "变长后的 log p = 原来的 log p + 新词的分数。",
        ),
        (
            "Make a list of ([*tokens, v], score + s) for every v, sort it by score, cut it at width.",
            "为每个 v 建 ([*tokens, v], score + s)，按分数从高到低排序，取前 width 个。",
        ),
    ],
)
def test_grow(student, rng):
    """Of all continuations of all beams the best are kept, each with its own beginning.

    从所有 beam 的所有扩展中一起选最好的，各自保留自己的开头。
    """

    def case():
        """Both several children of one beam and children of several are kept, in an order of their own."""
        while True:
            model = Model(rng)
            words = [v for v in range(V) if v != model.end]
            beams = [([model.start, *map(int, rng.choice(words, 2))], -rng.uniform(1, 3)) for _ in range(3)]
            expected, margin = model.grow(beams, width=4)
            parents = [tuple(tokens[:-1]) for tokens, _ in expected]
            different = len({tuple(tokens) for tokens, _ in beams}) == 3
            if margin > CLOSE and different and 1 < len(set(parents)) < 4:
                return model, beams, expected

    cases = [case() for _ in range(3)]
    found = [student.call("grow", beams, model.given, model.end, 4) for model, beams, _ in cases]
    for got, (_, _, expected) in zip(found, cases, strict=True):
        compare_beams(got, expected)


@pytest.mark.check(
    points=2,
    hints=[
        (
            "A beam whose last token is END does not grow: what happens to it instead?",
            "最后一个词是 END 的 beam 不再变长：那它怎么办？",
        ),
        (
            "It stands among the others, its tokens and its score unchanged, and is kept if good enough.",
            "它带着不变的词和分数，与其他的一起比较，够好就留下。",
        ),
        (
            "if tokens[-1] == end: grown.append((tokens, score)), else all its continuations.",
            "如果 tokens[-1] == end：grown.append((tokens, score))；否则加入它的所有扩展。",
        ),
    ],
)
def test_finished_beams(student, rng):
    """A finished beam keeps its tokens and its score, and competes with those that grow.

    已结束的 beam 保持词和分数不变，与继续变长的一起竞争。
    """

    def case(places):
        """Of two finished beams those that are kept have these places, and both of the others grow."""
        while True:
            model = Model(rng)
            words = [v for v in range(V) if v != model.end]
            lengths = rng.permutation([(1, 1), (2, 1), (3, 0), (3, 0)])  # words, and whether END follows
            beams = [
                (
                    [model.start, *map(int, rng.choice(words, n)), *[model.end] * int(ended)],
                    -rng.uniform(1, 6),
                )
                for n, ended in lengths
            ]
            expected, margin = model.grow(beams, width=4)
            done = [i for i, beam in enumerate(expected) if beam in beams]
            grow = {tuple(tokens[:-1]) for tokens, _ in expected if len(tokens) == 5}
            if margin > CLOSE and done == places and len(grow) == 2:
                return model, beams, expected

    cases = [case(places) for places in ([0], [1], [2], [0, 1])]
    found = [student.call("grow", beams, model.given, model.end, 4) for model, beams, _ in cases]
    for got, (_, _, expected) in zip(found, cases, strict=True):
        compare_beams(got, expected)


@pytest.mark.check(
    points=2,
    hints=[
        (
            "There is one beam before the first step: START alone, with log p = 0.",
            "第一步之前只有一个 beam：只含 START，log p = 0。",
        ),
        (
            "A step may finish some beams while others go on: do all `limit` steps.",
            "某一步可能结束了几个 beam，其余的还要继续：把 limit 步都做完。",
        ),
        (
            "for _ in range(limit): beams = grow(beams, next_scores, end, width); then leave START out.",
            "for _ in range(limit): beams = grow(beams, next_scores, end, width)；结果去掉 START。",
        ),
    ],
)
def test_beam_search(student, rng):
    """Beam search finds what greedy search misses; a beam wide enough finds the best of all sentences.

    束搜索能找到贪心搜索错过的句子；beam 足够宽时找到所有句子中最好的。
    """

    def case(width, ends):
        """Better than greedy search; the best is finished, or it is not, but another is."""
        while True:
            model = Model(rng, late=0.0 if ends else 1.0)
            beams, tokens, score, margin = model.search(width, alpha=0.0)
            better = score > model.greedy()[1] + CLOSE
            some_end = any(beam[0][-1] == model.end for beam in beams)
            if margin > CLOSE and better and some_end and (tokens[-1] == model.end) == ends:
                return model, width, tokens, score

    def case_of_all(limit):
        """Wide enough for all beginnings."""
        while True:
            model = Model(rng, limit)
            tokens, score, margin = model.best_of_all()
            if margin > CLOSE:
                return model, 2 * V**limit, tokens, score

    cases = [case(width, ends) for width, ends in itertools.product((2, 3, 4), (True, False))]
    cases.append(case_of_all(limit=3))
    found = [
        student.call("beam_search", m.given, m.start, m.end, m.limit, width, 0.0, returns=PARTS)
        for m, width, *_ in cases
    ]
    for got, (_, _, tokens, score) in zip(found, cases, strict=True):
        compare(got, tokens, score)


@pytest.mark.check(
    points=2,
    hints=[
        (
            "log p falls with each word. Which of the beams is the best per word?",
            "每多一个词 log p 就更小。平均到每个词，哪个 beam 最好？",
        ),
        (
            "Compare at the end only, and all beams: the best log p need not win.",
            "只在最后比较，而且比较所有 beam：log p 最高的不一定胜出。",
        ),
        (
            "score / (len(tokens) - 1) ** alpha, where tokens has START; the greatest wins.",
            "score / (len(tokens) - 1) ** alpha（tokens 含 START），最大的胜出。",
        ),
    ],
)
def test_length_normalisation(student, rng):
    """The beam of the highest log p / |y|^α wins, even if it is longer.

    log p / |y|^α 最高的 beam 胜出，即使它更长。
    """

    def case(width, ends):
        """The winner is longer than the beam of the best log p; it is finished, or is not."""
        while True:
            model, alpha = Model(rng, late=1.0), float(rng.uniform(0.6, 0.9))
            beams, tokens, score, margin = model.search(width, alpha)
            longer = len(tokens) > len(beams[0][0]) - 1
            if margin > CLOSE and longer and (tokens[-1] == model.end) == ends:
                return model, width, alpha, tokens, score

    cases = [case(width, ends) for width, ends in itertools.product((2, 3, 4), (True, False))]
    found = [
        student.call("beam_search", m.given, m.start, m.end, LIMIT, width, alpha, returns=PARTS)
        for m, width, alpha, *_ in cases
    ]
    for got, (_, _, _, tokens, score) in zip(found, cases, strict=True):
        compare(got, tokens, score)
