"""Parallel text: sentence pairs, their gold word links, and a corpus of three splits."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar


class DataError(ValueError):
    """Data that cannot be read; the message is one sentence with the place, the cause and the cure."""


class Link(NamedTuple):
    """A gold word alignment: two character ranges ``[start, end)`` of the raw sentences."""

    source: tuple[int, int]
    target: tuple[int, int]


@dataclass(frozen=True)
class Pairs:
    """Parallel sentences: ``target[i]`` translates ``source[i]``, ``links[i]`` are its gold links.

    Raises:
        DataError: if the columns have different lengths.
    """

    source: list[str]
    target: list[str]
    links: list[list[Link]] | None = None

    def __post_init__(self) -> None:
        lengths = {len(self.source), len(self.target), len(self.source if self.links is None else self.links)}
        if len(lengths) > 1:
            raise DataError(
                f"{len(self.source)} source sentences, {len(self.target)} target sentences"
                f"{'' if self.links is None else f' and {len(self.links)} lists of links'}"
                " do not make pairs; give as many of each."
            )

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, rows: slice) -> Pairs:
        return Pairs(self.source[rows], self.target[rows], None if self.links is None else self.links[rows])

    def select(self, rows: list[int]) -> Pairs:
        """The pairs with these numbers, in this order."""
        links = None if self.links is None else [self.links[i] for i in rows]
        return Pairs([self.source[i] for i in rows], [self.target[i] for i in rows], links)

    def split_off(self, count: int, seed: int) -> tuple[Pairs, Pairs]:
        """Draw ``count`` source sentences with all their targets: (the rest, the drawn pairs).

        A source sentence that occurs twice, whatever its case, is drawn as one: none is on both sides.
        """
        sources = sorted({text.casefold() for text in self.source})
        drawn = set(random.Random(seed).sample(sources, count))
        rows: tuple[list[int], list[int]] = ([], [])
        for i, text in enumerate(self.source):
            rows[text.casefold() in drawn].append(i)
        return self.select(rows[0]), self.select(rows[1])


LARGEST_SPLIT = 1000  # source sentences of a split that is drawn from train
ALIASES = {"val": "validation", "valid": "validation", "dev": "validation"}


Train = TypeVar("Train")


@dataclass(frozen=True)
class Corpus(Generic[Train]):
    """Pairs for training, validation and test; ``train`` is `Pairs`, or `StreamedPairs` from ``stream``.

    ``name`` is the source string it was loaded from; the languages are codes such as ``"en"`` where they
    are known; ``splits`` holds whatever else a folder has under its own name (``"test2016"``); ``lexicon``
    lists the words of a language that is written without spaces, for ``Vocabulary.build``.
    """

    name: str
    train: Train
    validation: Pairs
    test: Pairs
    source_language: str | None = None
    target_language: str | None = None
    splits: Mapping[str, Pairs] = field(default_factory=dict)
    lexicon: tuple[str, ...] = ()

    def split(self, name: str) -> Pairs | Train:
        """The pairs of a split: train, validation (also val, valid, dev), test, or a folder's own name.

        Raises:
            DataError: if there is no such split; it names those that exist.
        """
        splits: dict[str, Pairs | Train] = {
            **self.splits,
            "train": self.train,
            "validation": self.validation,
            "test": self.test,
        }
        return find_split(self.name, splits, name)


Part = TypeVar("Part")


def find_split(corpus: str, splits: Mapping[str, Part], name: str) -> Part:
    """The split of this name or of its alias; a DataError names those that exist."""
    found = splits.get(name, splits.get(ALIASES.get(name, name)))
    if found is None:
        raise DataError(f"{corpus} has no split {name!r}; choose one of {', '.join(sorted(splits))}.")
    return found


def choose_splits(splits: Mapping[str, Part]) -> tuple[dict[str, Part], list[str]]:
    """The splits by their own names, the first test as test; and which of validation and test are missing."""
    chosen = {ALIASES.get(key, key): part for key, part in sorted(splits.items())}
    tests = [key for key in sorted(chosen) if key.startswith("test")]
    if tests:
        chosen["test"] = chosen[tests[0]]
    return chosen, [key for key in ("validation", "test") if key not in chosen]


def make_corpus(
    name: str,
    splits: Mapping[str, Pairs],
    languages: tuple[str | None, str | None],
    seed: int,
) -> Corpus[Pairs]:
    """A corpus from the splits that exist; validation and test are drawn from train where they do not.

    Each takes a twentieth of the source sentences, a thousand at most.

    Raises:
        DataError: if there is no train, or it has too few source sentences to split.
    """
    chosen, missing = choose_splits(splits)
    if "train" not in chosen:
        raise DataError(f"{name} has no split train, only {', '.join(sorted(splits))}; add one.")
    count = split_size(name, len({text.casefold() for text in chosen["train"].source}), missing)
    for number, key in enumerate(missing):
        chosen["train"], chosen[key] = chosen["train"].split_off(count, seed + number)
    return Corpus(
        name, chosen["train"], chosen["validation"], chosen["test"], *languages, splits=dict(splits)
    )


def split_size(name: str, sources: int, missing: list[str]) -> int:
    """How many of the different source sentences go to each of the missing splits.

    Raises:
        DataError: if too few would be left.
    """
    if missing and sources <= len(missing):
        raise DataError(
            f"{name} has too few different source sentences ({sources}) to split off "
            f"{' and '.join(missing)}; add sentences."
        )
    return max(1, min(LARGEST_SPLIT, sources // 20))
