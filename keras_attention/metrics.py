"""How good a translation is (BLEU, chrF) and how well attention finds the words that belong together."""

import re
from collections import defaultdict
from collections.abc import Sequence
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
