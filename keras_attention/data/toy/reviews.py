"""Embedded reviews of restaurants, hotels, films and things, from small grammars of our own.

A grammar is a table of words and templates. In a template ``*`` marks the words that decide whether the
review is good or bad: its gold rationale.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import NamedTuple, TypeVar
from zlib import crc32

from keras_attention.data.corpus import DataError
from keras_attention.data.texts import TextCorpus, Texts
from keras_attention.data.vocabulary import Span

Side = TypeVar("Side")
SIZES = {"train": 4000, "validation": 500, "test": 1000}
LABELS = ("negative", "positive")


@dataclass(frozen=True)
class Grammar:
    """The words and templates of a language. In every pair, good comes first.

    domains: for each the kinds of things it has, and plain facts of it.
    things: for each kind slots such as ``{"it": "the soup"}`` that the templates name.
    plain: for each kind and for "any", adjectives that can be negated.
    strong: adjectives that are not.
    verbs: slots of verbs; verdicts: whole clauses, and those that negation turned round.
    """

    domains: dict[str, tuple[list[str], list[str]]]
    things: dict[str, list[dict[str, str]]]
    plain: dict[str, tuple[list[str], list[str]]]
    strong: tuple[list[str], list[str]]
    verbs: tuple[list[dict[str, str]], list[dict[str, str]]]
    verdicts: tuple[list[str], list[str]]
    direct: list[str]
    negated: list[str]
    felt: list[str]
    not_felt: list[str]
    both: list[str]
    contrast: list[str]
    hearsay: list[str]
    hope: list[str]
    degrees: list[str]
    people: list[str]
    facts: list[str]
    asides: list[str]
    space: str
    stop: str


class Review(NamedTuple):
    """A review, whether it is good, the ranges of its words, and of those that decide."""

    text: str
    good: bool
    words: list[Span]
    rationale: list[Span]


class Draw:
    """Reviews at random."""

    def __init__(self, grammar: Grammar, seed: int):
        self.grammar, self.random = grammar, random.Random(seed)

    def review(self, good: bool) -> Review:
        domain = self.random.choice(list(self.grammar.domains))
        kinds, facts = self.grammar.domains[domain]
        things = self.random.sample([(k, i) for k in kinds for i in range(len(self.grammar.things[k]))], 3)
        sentences = [self.body(good, things)]
        for table in (facts, self.grammar.facts, self.grammar.asides):
            if self.random.random() < 0.35:
                place = 0 if self.random.random() < 0.6 else len(sentences)
                sentences.insert(place, self.random.choice(table))
        return self.spell(sentences, good)

    def body(self, good: bool, things: list[tuple[str, int]]) -> str:
        """What decides: an opinion or a verdict, perhaps against an opinion that does not count."""
        one, two, three = things
        shape = self.random.random()
        if shape < 0.28:
            return self.opinion(good, one)
        if shape < 0.48:
            return self.fill(self.grammar.both, first=self.opinion(good, one), second=self.opinion(good, two))
        if shape < 0.6:
            return self.verdict(good)
        other = self.opinion(not good, one).replace("*", "")
        if shape < 0.8:
            return self.fill(self.grammar.contrast, other=other, main=self.opinion(good, two))
        if shape < 0.87:
            return self.fill(self.grammar.contrast, other=other, main=self.verdict(good))
        thing = self.grammar.things[three[0]][three[1]]
        if shape < 0.94:
            verbs = {
                f"{who}_{form}": text
                for who, side in (("they", not good), ("i", good))
                for form, text in self.pick(self.grammar.verbs, side).items()
            }
            return self.fill(
                self.grammar.hearsay, **thing, **verbs, person=self.random.choice(self.grammar.people)
            )
        hoped = self.adjective(not good, three[0])
        return self.fill(
            self.grammar.hope, **thing, hoped=hoped, main=self.opinion(good, three, pronoun=True)
        )

    def opinion(self, good: bool, thing: tuple[str, int], pronoun: bool = False) -> str:
        grammar, (kind, number) = self.grammar, thing
        slots = grammar.things[kind][number]
        if pronoun:
            slots = {**slots, "the": slots["it_subject"]}
        draw = self.random.random()
        if draw < 0.6 or (pronoun and draw < 0.75):
            return self.fill(
                grammar.direct,
                **slots,
                adjective=self.adjective(good, kind),
                degree=self.random.choice(grammar.degrees),
            )
        if draw < 0.8 or pronoun:
            return self.fill(grammar.negated, **slots, adjective=self.adjective(not good, kind, plain=True))
        if draw < 0.94:
            return self.fill(grammar.felt, **slots, **self.pick(grammar.verbs, good))
        return self.fill(grammar.not_felt, **slots, **self.pick(grammar.verbs, not good))

    def verdict(self, good: bool) -> str:
        return self.random.choice(self.side(self.grammar.verdicts, good))

    def adjective(self, good: bool, kind: str, plain: bool = False) -> str:
        tables = [self.grammar.plain[kind], self.grammar.plain["any"]]
        if not plain:
            tables.append(self.grammar.strong)
        return self.random.choice(self.side(self.random.choice(tables), good))

    def pick(self, pair: tuple[list[dict[str, str]], list[dict[str, str]]], good: bool) -> dict[str, str]:
        return self.random.choice(self.side(pair, good))

    @staticmethod
    def side(pair: tuple[Side, Side], good: bool) -> Side:
        return pair[0] if good else pair[1]

    def fill(self, templates: list[str], **slots: str) -> str:
        return self.random.choice(templates).format(**slots)

    def spell(self, sentences: list[str], good: bool) -> Review:
        """The text of the sentences, whose words are separated by spaces, and the ranges of its words."""
        text: str = ""
        words: list[Span] = []
        rationale: list[Span] = []
        stop = self.grammar.stop
        start = True
        for word in f" {stop} ".join([*sentences, ""]).split():
            bare = word.removeprefix("*")
            if text and bare not in (",", stop):
                text += self.grammar.space
            span = len(text), len(text) + len(bare)
            text += bare[0].upper() + bare[1:] if start else bare
            words.append(span)
            if word != bare:
                rationale.append(span)
            start = bare == stop
        return Review(text, good, words, rationale)


def grammar(name: str) -> Grammar:
    """The grammar ``reviews-en`` or ``reviews-zh``."""
    from keras_attention.data.toy import reviews_chinese, reviews_english

    grammars = {"reviews-en": reviews_english.GRAMMAR, "reviews-zh": reviews_chinese.GRAMMAR}
    if name not in grammars:
        raise DataError(
            f"There are no toy reviews {name!r}; choose one of {', '.join(f'toy:{t}' for t in grammars)}."
        )
    return grammars[name]


def draw_reviews(name: str, seed: int) -> Iterator[tuple[str, Review]]:
    """(split, review) without end and without a double, good and bad by turns."""
    seen: set[str] = set()
    draw = Draw(grammar(name), seed)
    for number in count():
        review = draw.review(good=number % 2 == 1)
        if review.text not in seen:
            seen.add(review.text)
            yield (
                {0: "test", 1: "test", 2: "validation"}.get(crc32(review.text.encode()) % 11, "train"),
                review,
            )


@cache
def load_reviews(name: str, seed: int = 0) -> TextCorpus:
    """The toy reviews ``reviews-en`` or ``reviews-zh``: 4000, 500 and 1000, half of them good, none twice.

    The split of a review depends on its text alone, so that not even the test reviews of one seed are among
    the training reviews of another. Every word of the other splits occurs in training.

    Raises:
        DataError: if there are no such reviews.
    """
    drawn: dict[str, list[Review]] = {split: [] for split in SIZES}
    room = {(split, good): size // 2 for split, size in SIZES.items() for good in (False, True)}
    known: set[str] = set()
    for split, review in draw_reviews(name, seed):
        words = {review.text[start:end] for start, end in review.words}
        if room[split, review.good] and (split == "train" or words <= known):
            room[split, review.good] -= 1
            drawn[split].append(review)
            known |= words
        if not any(room.values()):
            break
    splits = {
        split: Texts(
            [review.text for review in reviews],
            [LABELS[review.good] for review in reviews],
            [review.rationale for review in reviews],
        )
        for split, reviews in drawn.items()
    }
    lexicon = tuple(sorted(known)) if name == "reviews-zh" else ()
    return TextCorpus(f"toy:{name}", splits, lexicon)
