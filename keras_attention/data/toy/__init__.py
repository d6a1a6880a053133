"""Embedded parallel corpora, generated from small grammars of our own, with gold word links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, count
from typing import NamedTuple
from zlib import crc32

from keras_attention.data.corpus import Corpus, DataError, Link, Pairs
from keras_attention.data.toy import chinese, english, french
from keras_attention.data.toy.meaning import Draw, Sentence, Word, chapter_sentences
from keras_attention.data.vocabulary import Span

SIZES = {"train": 6000, "validation": 500, "test": 500}
SPARE = {"train": 6000, "validation": 510, "test": 510}  # some have a word that training has not


def spell_english(words: list[Word]) -> list[str]:
    """Each word with the space before it."""
    return [word.text if word.text in ".,?" else " " + word.text for word in words]


def spell_french(words: list[Word]) -> list[str]:
    """A narrow no-break space stands before the question mark."""
    return ["\u202f?" if spelled == "?" else spelled for spelled in spell_english(words)]


def spell_chinese(words: list[Word]) -> list[str]:
    return [word.text for word in words]


TOYS: dict[str, tuple[Callable[[Sentence], list[Word]], Callable[[list[Word]], list[str]]]] = {
    "en-fr": (french.sentence, spell_french),
    "en-zh": (chinese.sentence, spell_chinese),
}


class Pair(NamedTuple):
    """A sentence in two languages, its gold links, and the words of each language as they are written."""

    source: str
    target: str
    links: list[Link]
    source_words: list[str]
    target_words: list[str]


def write(spelled: list[str]) -> tuple[str, list[Span]]:
    """The text of spelled words, and the character range of each without its space."""
    spelled[0] = spelled[0].strip().capitalize()
    spans, end = [], 0
    for text in spelled:
        spans.append((end + len(text) - len(text.strip()), end + len(text)))
        end += len(text)
    return "".join(spelled), spans


def align(
    source: list[Word], source_spans: list[Span], target: list[Word], target_spans: list[Span]
) -> list[Link]:
    """Links between the words that express the same part of the sentence."""
    where: dict[object, list[Span]] = {}
    for word, span in zip(source, source_spans, strict=True):
        for part in word.parts:
            where.setdefault(part, []).append(span)
    return [
        Link(source_span, span)
        for word, span in zip(target, target_spans, strict=True)
        for source_span in sorted({found for part in word.parts for found in where.get(part, ())})
    ]


def realise(sentence: Sentence, name: str) -> Pair:
    """A sentence in both languages of a toy corpus."""
    put, spell = TOYS[name]
    source, target = english.sentence(sentence), put(sentence)
    source_text, source_spans = write(spell_english(source))
    target_text, target_spans = write(spell(target))
    return Pair(
        source_text,
        target_text,
        align(source, source_spans, target, target_spans),
        [source_text[start:end] for start, end in source_spans],
        [target_text[start:end] for start, end in target_spans],
    )


def draw_pairs(name: str, seed: int) -> Iterator[tuple[str, Pair]]:
    """(split, pair) without end and without a double; the chapter's own examples come first, as tests."""
    seen: set[str] = set()
    draw = Draw(seed)
    chapter = [realise(sentence, name) for sentence in chapter_sentences()]
    tests = {pair.target for pair in chapter}
    for pair in chain(chapter, (realise(draw.sentence(), name) for _ in count())):
        if pair.source not in seen:
            seen.add(pair.source)
            bucket = 0 if pair.target in tests else crc32(pair.target.encode()) % 14
            yield {0: "test", 1: "validation"}.get(bucket, "train"), pair


@cache
def load_toy(name: str, seed: int = 0) -> Corpus:
    """The toy corpus ``en-fr`` or ``en-zh``: 6000, 500 and 500 pairs without a double.

    The split of a pair depends on its target alone, so that not even the test sentences of one seed are among
    the training sentences of another. The chapter's own examples are the first test sentences. Every word of
    the other splits occurs in training.

    Raises:
        DataError: if there is no such toy corpus.
    """
    if name not in TOYS:
        raise DataError(
            f"There is no toy corpus {name!r}; choose one of {', '.join(f'toy:{t}' for t in TOYS)}."
        )
    drawn: dict[str, list[Pair]] = {split: [] for split in SIZES}
    for split, pair in draw_pairs(name, seed):
        drawn[split].append(pair)
        if all(len(drawn[split]) >= size for split, size in SPARE.items()):
            break
    known = {
        word for pair in drawn["train"][: SIZES["train"]] for word in pair.source_words + pair.target_words
    }
    splits = {
        split: [pair for pair in drawn[split] if known.issuperset(pair.source_words + pair.target_words)][
            :size
        ]
        for split, size in SIZES.items()
    }
    source_language, target_language = name.split("-")
    words = {word for pairs in splits.values() for pair in pairs for word in pair.target_words}
    train, validation, test = (
        Pairs([p.source for p in pairs], [p.target for p in pairs], [p.links for p in pairs])
        for pairs in splits.values()
    )
    return Corpus(
        f"toy:{name}",
        train,
        validation,
        test,
        source_language=source_language,
        target_language=target_language,
        lexicon=tuple(sorted(words)) if target_language == "zh" else (),
    )
