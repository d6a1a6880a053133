"""How good a translation is (BLEU, chrF), how well attention finds the words that belong together, and
whether the weights of a classifier explain what it says."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

Span = tuple[int, int]  # characters [start, end) of a text


class Score(NamedTuple):
    """A score from 0 to 100, and sacreBLEU's signature, which says how it was computed."""

    score: float
    signature: str


class LengthBin(NamedTuple):
    """The sentences whose length falls between two edges, and their BLEU (NaN if there are none)."""

    label: str
    sentences: int
    bleu: float


class Alignment(NamedTuple):
    """Attention against `links` gold links: accuracy and alignment error rate, NaN without any link."""

    accuracy: float
    error_rate: float
    links: int


class Rationale(NamedTuple):
    """The mean share of the weights on gold words, what equal weights would give, and of how many texts."""

    precision: float
    uniform: float
    texts: int


class Erasure(NamedTuple):
    """How far the probability of the predicted class falls, on average, without the most attended tokens, and
    without as many drawn at random."""

    attended: float
    random: float


class Shuffled(NamedTuple):
    """What other weights change: the share of texts with another class, and the mean distance of the
    probabilities, ½ Σ |p − p'|."""

    changed: float
    distance: float


def split_words(text: str) -> str:
    """Lower-case `text` and set words and punctuation apart with one space.

    >>> split_words("Don't stop!")
    "don ' t stop !"
    """
    return " ".join(re.findall(r"\w+|[^\w\s]", text.lower()))


def corpus_bleu(
    hypotheses: Sequence[str], references: Sequence[str], tokenize: str = "13a", lowercase: bool = False
) -> Score:
    """BLEU of a corpus by sacreBLEU, one reference a sentence.

    BLEU = min(1, exp(1 − r/h)) · (p₁ p₂ p₃ p₄)^¼, where pₙ is the share of the hypotheses' n-grams that
    the references hold too, h the length of all hypotheses and r that of all references.

    Args:
        hypotheses: what the system wrote, untokenised.
        references: what it should have written, untokenised.
        tokenize: sacreBLEU's tokeniser: "13a", "zh" for Chinese, "char", or "none" for texts that
            are tokenised already.
        lowercase: ignore case.

    Raises:
        ValueError: if there is no sentence, or not one reference for each hypothesis.

    Papineni et al. 2002, https://aclanthology.org/P02-1040; Post 2018, https://aclanthology.org/W18-6319
    """
    from sacrebleu.metrics import BLEU

    _check_pairs(hypotheses, references)
    # sacreBLEU warns of texts that look tokenised, unless it is told that they are meant to be (force)
    bleu = BLEU(tokenize=tokenize, lowercase=lowercase, force=tokenize == "none")
    score = bleu.corpus_score(hypotheses, [references]).score
    return Score(score, str(bleu.get_signature()))


def corpus_chrf(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """chrF2 of a corpus by sacreBLEU: the F₂ score of character n-grams up to 6, one reference a sentence.

    Raises:
        ValueError: if there is no sentence, or not one reference for each hypothesis.

    Popović 2015, https://aclanthology.org/W15-3049
    """
    from sacrebleu.metrics import CHRF

    _check_pairs(hypotheses, references)
    chrf = CHRF()
    score = chrf.corpus_score(hypotheses, [references]).score
    return Score(score, str(chrf.get_signature()))


def bleu_by_length(
    hypotheses: Sequence[str],
    references: Sequence[str],
    lengths: Sequence[int],
    edges: Sequence[int] = (10, 20, 30, 40),
    tokenize: str = "13a",
    lowercase: bool = False,
) -> list[LengthBin]:
    """BLEU of short, longer and long sentences apart: where a fixed-size summary of the source loses.

    Args:
        hypotheses, references, tokenize, lowercase: as in `corpus_bleu`.
        lengths: a length for each sentence, for example the number of its source tokens.
        edges: the greatest length of each bin, rising; a last bin takes all that is longer.

    Raises:
        ValueError: as in `corpus_bleu`; if there is not one length for each sentence, or the edges do not
            rise.
    """
    _check_pairs(hypotheses, references)
    if len(lengths) != len(hypotheses):
        raise ValueError(f"There are {len(hypotheses)} hypotheses but {len(lengths)} lengths.")
    if list(edges) != sorted(set(edges)):
        raise ValueError(f"edges must rise, got {list(edges)}.")
    lows = [0, *(edge + 1 for edge in edges)]
    labels = [*(f"{low}–{high}" for low, high in zip(lows, edges, strict=False)), f"≥ {lows[-1]}"]
    which = np.searchsorted(edges, lengths)
    bins = []
    for i, label in enumerate(labels):
        chosen = np.flatnonzero(which == i).tolist()
        bleu = float("nan")
        if len(chosen):
            bleu = corpus_bleu(
                [hypotheses[j] for j in chosen], [references[j] for j in chosen], tokenize, lowercase
            ).score
        bins.append(LengthBin(label, len(chosen), bleu))
    return bins


def link_cells(
    source_spans: Sequence[Span], target_spans: Sequence[Span], links: Sequence[tuple[Span, Span]]
) -> np.ndarray:
    """The cells (target token, source token) of an attention matrix that gold links join.

    Args:
        source_spans, target_spans: the character range of each token.
        links: gold links of the sentence, each a (source range, target range) of characters.

    Returns:
        boolean array of shape (len(target_spans), len(source_spans)).
    """
    cells = np.zeros((len(target_spans), len(source_spans)), bool)
    for source, target in links:
        cells |= np.outer(_overlaps(target_spans, target), _overlaps(source_spans, source))
    return cells


def alignment_scores(
    attention: Sequence[np.ndarray],
    source_spans: Sequence[Sequence[Span]],
    target_spans: Sequence[Sequence[Span]],
    links: Sequence[Sequence[tuple[Span, Span]]],
) -> Alignment:
    """Does attention look at the source word that a person linked with the target word?

    For each target word that has gold links, the attention rows of its tokens are averaged and the source
    token with the greatest weight is the predicted link. With A the predicted links and G the gold links

        accuracy = |A ∩ G| / linked target words        AER = 1 − 2 |A ∩ G| / (|A| + |G|)

    A word that no target token overlaps has no predicted link and counts as wrong.

    Args:
        attention: for each sentence an array (target tokens, source tokens).
        source_spans, target_spans: for each sentence the character range of each token.
        links: for each sentence its gold links, each a (source range, target range) of characters.

    Raises:
        ValueError: if the lists or the shapes do not fit each other, or a weight is NaN.

    Och and Ney 2003, https://aclanthology.org/J03-1002 (all links taken as sure)
    """
    sizes = [len(attention), len(source_spans), len(target_spans), len(links)]
    if len(set(sizes)) > 1:
        raise ValueError(
            "attention, source_spans, target_spans and links must have one entry for each sentence, "
            "got {}, {}, {} and {}.".format(*sizes)
        )
    words = predicted = gold = hits = 0
    for n, (weights, sources, targets, pairs) in enumerate(
        zip(attention, source_spans, target_spans, links, strict=True)
    ):
        weights = np.asarray(weights)
        if weights.shape != (len(targets), len(sources)):
            raise ValueError(
                f"The attention of sentence {n} has shape {weights.shape}, "
                f"but there are {len(targets)} target and {len(sources)} source spans."
            )
        if np.isnan(weights).any():
            raise ValueError(f"The attention of sentence {n} holds NaN.")
        of_word: dict[Span, set[Span]] = defaultdict(set)  # target range -> source ranges
        for source, target in pairs:
            of_word[target].add(source)
        for target, gold_sources in of_word.items():
            words += 1
            gold += len(gold_sources)
            rows = weights[_overlaps(targets, target)]
            if rows.size:
                predicted += 1
                best = sources[rows.mean(axis=0).argmax()]
                hits += bool(_overlaps(list(gold_sources), best).any())
    if not gold:
        return Alignment(float("nan"), float("nan"), 0)
    return Alignment(hits / words, 1 - 2 * hits / (predicted + gold), gold)


def rationale_precision(
    weights: Sequence[np.ndarray], spans: Sequence[Sequence[Span]], rationales: Sequence[Sequence[Span]]
) -> Rationale:
    """How much of its attention does a classifier spend on the words that a person says decide?

        precision = mean over texts of Σ weights of the tokens that share a character with a gold range

    Equal weights would reach the mean share of gold tokens, `uniform`. Texts without gold are left out.

    Args:
        weights: for each text (T,), summing to 1.
        spans: for each text the character range of each token.
        rationales: for each text its gold character ranges.

    Raises:
        ValueError: if there is not one weight for each token, or not one entry for each text.

    >>> rationale_precision([np.array([0.1, 0.7, 0.2])], [[(0, 2), (3, 7), (8, 9)]], [[(3, 7)]])
    Rationale(precision=0.7, uniform=0.3333333333333333, texts=1)

    DeYoung et al. 2020, https://aclanthology.org/2020.acl-main.408 (the comparison with human rationales)
    """
    if not len(weights) == len(spans) == len(rationales):
        raise ValueError(
            "weights, spans and rationales must have one entry for each text, "
            f"got {len(weights)}, {len(spans)} and {len(rationales)}."
        )
    found, equal = [], []
    for n, (row, tokens, gold) in enumerate(zip(weights, spans, rationales, strict=True)):
        if np.shape(row) != (len(tokens),):
            raise ValueError(
                f"The weights of text {n} have shape {np.shape(row)}, but there are {len(tokens)} tokens."
            )
        if gold and tokens:
            hits = np.any([_overlaps(tokens, span) for span in gold], axis=0)
            found.append(float(np.sum(np.asarray(row)[hits])))
            equal.append(float(hits.mean()))
    if not found:
        return Rationale(float("nan"), float("nan"), 0)
    return Rationale(float(np.mean(found)), float(np.mean(equal)), len(found))


Predict = Callable[[list[list[int]]], np.ndarray]


def leave_one_out(predict: Predict, sequences: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """For each token, how far the probability of the predicted class falls without it.

    Args:
        predict: lists of ids → probabilities (N, classes).
        sequences: the ids of each text.

    Returns:
        (T,) for each text.

    Li et al. 2016, https://arxiv.org/abs/1612.08220
    """
    whole = _probabilities(predict, sequences)
    shorter = [[*ids[:i], *ids[i + 1 :]] for ids in sequences for i in range(len(ids))]
    rest = _probabilities(predict, shorter)
    drops, end = [], 0
    for ids, p in zip(sequences, whole, strict=True):
        start, end = end, end + len(ids)
        drops.append(p.max() - rest[start:end, p.argmax()])
    return drops


def erasure(
    predict: Predict,
    sequences: Sequence[Sequence[int]],
    weights: Sequence[np.ndarray],
    k: int = 3,
    draws: int = 5,
    seed: int = 0,
) -> Erasure:
    """Does the probability of the predicted class fall when the k most attended tokens go?

    Weights that explain make it fall further than k tokens at random do. Texts of k tokens or fewer are left
    out.

    Args:
        predict, sequences: as in `leave_one_out`.
        weights: for each text (T,).
        k: tokens that are erased.
        draws: how often tokens are drawn at random from each text.
        seed: of the draws.

    Returns:
        two mean drops, NaN without a long enough text.

    DeYoung et al. 2020, https://aclanthology.org/2020.acl-main.408 (comprehensiveness)
    """
    rng = np.random.default_rng(seed)
    kept = [(list(ids), row) for ids, row in zip(sequences, weights, strict=True) if len(ids) > k]
    if not kept:
        return Erasure(float("nan"), float("nan"))
    erased = []
    for ids, row in kept:
        gone = [np.argsort(-np.asarray(row), kind="stable")[:k]]
        gone += [rng.choice(len(ids), k, replace=False) for _ in range(draws)]
        erased += [[token for i, token in enumerate(ids) if i not in set(which.tolist())] for which in gone]
    whole = _probabilities(predict, [ids for ids, _ in kept])
    rest = _probabilities(predict, erased).reshape(len(kept), 1 + draws, -1)
    classes = whole.argmax(axis=-1)
    drops = whole.max(axis=-1)[:, None] - rest[np.arange(len(kept)), :, classes]  # (N, 1 + draws)
    return Erasure(float(drops[:, 0].mean()), float(drops[:, 1:].mean()))


def agreement(weights: Sequence[np.ndarray], importance: Sequence[np.ndarray]) -> float:
    """Kendall's τ between attention and another measure of importance, the mean over texts.

    1 where both put the tokens of every text in the same order, 0 where the orders have nothing in common.
    Texts in which one of the two tells no token from another have no order and are left out.

    Args:
        weights, importance: for each text (T,).

    Jain and Wallace 2019, https://aclanthology.org/N19-1357
    """
    from scipy.stats import kendalltau

    found = [
        kendalltau(row, other).statistic
        for row, other in zip(weights, importance, strict=True)
        if np.ptp(row) > 0 and np.ptp(other) > 0
    ]
    return float(np.mean(found)) if found else float("nan")


def shuffled_weights(
    predict: Callable[[list[np.ndarray]], np.ndarray],
    weights: Sequence[np.ndarray],
    draws: int = 5,
    seed: int = 0,
) -> Shuffled:
    """What does the classifier say when its weights are dealt out among the tokens of the text anew?

    Where that changes little, the weights explain little.

    Args:
        predict: weights for each text → probabilities (N, classes) of a classifier that uses them.
        weights: its own weights, (…, T) for each text; all heads are shuffled alike.
        draws: how often.
        seed: of the draws.

    Jain and Wallace 2019, https://aclanthology.org/N19-1357; that it is a control and no proof: Wiegreffe and
    Pinter 2019, https://aclanthology.org/D19-1002
    """
    rng = np.random.default_rng(seed)
    own = np.asarray(predict(list(weights)))
    changed, distance = [], []
    for _ in range(draws):
        other = np.asarray(predict([row[..., rng.permutation(row.shape[-1])] for row in weights]))
        changed.append(np.mean(own.argmax(axis=-1) != other.argmax(axis=-1)))
        distance.append(np.mean(np.abs(own - other).sum(axis=-1) / 2))
    return Shuffled(float(np.mean(changed)), float(np.mean(distance)))


def _probabilities(predict: Predict, sequences: Sequence[Sequence[int]]) -> np.ndarray:
    return np.asarray(predict([list(ids) for ids in sequences]))


def _overlaps(spans: Sequence[Span], span: Span) -> np.ndarray:
    """Which of `spans` share a character with `span`."""
    return np.array([max(start, span[0]) < min(end, span[1]) for start, end in spans], bool)


def _check_pairs(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise ValueError("hypotheses and references must be lists of sentences, got one string.")
    if len(hypotheses) != len(references):
        raise ValueError(f"There are {len(hypotheses)} hypotheses but {len(references)} references.")
    if not len(hypotheses):
        raise ValueError("There is no sentence to score.")
