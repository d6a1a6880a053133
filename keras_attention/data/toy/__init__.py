"""Embedded parallel corpora, generated from small grammars of our own, with gold word links."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from zlib import crc32

from keras_attention.data.corpus import Corpus, DataError, Link, Pairs
from keras_attention.data.toy import chinese, english, french
from keras_attention.data.toy.meaning import Draw, Sentence, Word, chapter_sentences

SIZES = {"train": 6000, "validation": 500, "test": 500}


def write_english(words: list[Word]) -> list[str]:
    """Each word with the space before it."""
    return [("" if i == 0 or w.text in ".,?" else " ") + w.text for i, w in enumerate(words)]


def write_french(words: list[Word]) -> list[str]:
    """A narrow no-break space stands before the question mark."""
    return [space.replace("?", "\u202f?") for space in write_english(words)]


def write_chinese(words: list[Word]) -> list[str]:
    return [w.text for w in words]


TOYS: dict[str, tuple[ModuleType, Callable[[list[Word]], list[str]]]] = {
    "en-fr": (french, write_french),
    "en-zh": (chinese, write_chinese),
}


def spell(words: list[Word], write: Callable[[list[Word]], list[str]]) -> tuple[str, list[tuple[int, int]]]:
    """The text of a sentence and each word's character range in it."""
    text, spans = "", []
    for word, written in zip(words, write(words), strict=True):
        text += written
        spans.append((len(text) - len(word.text), len(text)))
    return text[0].upper() + text[1:], spans


def realise(sentence: Sentence, name: str) -> tuple[str, str, list[Link], list[Word]]:
    """Source, target, gold links and the target's words."""
    language, write = TOYS[name]
    source_words, target_words = english.sentence(sentence), language.sentence(sentence)
    source, source_spans = spell(source_words, write_english)
    target, target_spans = spell(target_words, write)
    links = [
        Link(source_span, target_span)
        for target_word, target_span in zip(target_words, target_spans, strict=True)
        for source_word, source_span in zip(source_words, source_spans, strict=True)
        if source_word.parts & target_word.parts
    ]
    return source, target, links, target_words


@cache
def load_toy(name: str, seed: int = 0) -> Corpus:
    """The toy corpus ``en-fr`` or ``en-zh``: 6000, 500 and 500 pairs without a double.

    The split of a pair depends on its target alone, so that not even the test sentences of one seed are among
    the training sentences of another. The chapter's own examples are test sentences.

    Raises:
        DataError: if there is no such toy corpus.
    """
    if name not in TOYS:
        raise DataError(f"There is no toy corpus {name!r}; choose one of {', '.join(f'toy:{t}' for t in TOYS)}.")
    pairs: dict[str, tuple[list[str], list[str], list[list[Link]]]] = {split: ([], [], []) for split in SIZES}
    seen: set[str] = set()
    lexicon: set[str] = set()
    chapter = chapter_sentences()
    chapter_targets = {realise(sentence, name)[1] for sentence in chapter}
    draw = Draw(seed)
    while any(len(pairs[split][0]) < size for split, size in SIZES.items()):
        source, target, links, words = realise(chapter.pop() if chapter else draw.sentence(), name)
        bucket = 0 if target in chapter_targets else crc32(target.encode()) % 14
        split = {0: "test", 1: "validation"}.get(bucket, "train")
        if source in seen or len(pairs[split][0]) == SIZES[split]:
            continue
        seen.add(source)
        for column, value in zip(pairs[split], (source, target, links), strict=True):
            column.append(value)  # type: ignore[attr-defined]
        lexicon.update(word.text for word in words)
    source_language, target_language = name.split("-")
    return Corpus(
        f"toy:{name}",
        **{split: Pairs(*columns) for split, columns in pairs.items()},
        source_language=source_language,
        target_language=target_language,
        lexicon=tuple(sorted(lexicon)) if name == "en-zh" else (),
    )
