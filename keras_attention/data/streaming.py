"""Parallel text that stays in its files: each epoch reads it anew, line by line."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import islice

import numpy as np

from keras_attention.data.corpus import (
    LARGEST_SPLIT,
    Corpus,
    DataError,
    Pairs,
    choose_splits,
    split_size,
)
from keras_attention.data.files import collect

SAMPLE = 50_000  # pairs that the vocabularies are built from
BUFFER = 50_000  # pairs that the order of an epoch is drawn from
MANY = 20 * LARGEST_SPLIT  # source sentences, from which on a split has its largest size

Row = tuple[str, str]
Track = Callable[[Iterable[Row], str, int | None], Iterable[Row]]


def untracked(rows: Iterable[Row], what: str, total: int | None) -> Iterable[Row]:
    """No progress bar."""
    return rows


class StreamedPairs:
    """Parallel sentences that are read anew whenever they are iterated over, as (source, target).

    To make it takes one pass over all of them, so that every bad line is found before the work begins.

    Args:
        name: what they are, for messages.
        read: gives an iterator over all of them.
        seed: draws the sample.
        track: (pairs, what is done, how many or None) → the same pairs, with a progress bar.

    Attributes:
        sample: `Pairs`, drawn uniformly: `SAMPLE` of them, or all, in their order, where there are no more.
        characters: of all target sentences, one more for the end of each.
    """

    def __init__(self, name: str, read: Callable[[], Iterator[Row]], seed: int = 0, track: Track = untracked):
        self.name, self._read, self.track = name, read, track
        self._size = self.characters = 0
        rng, drawn = random.Random(seed), list[Row]()
        for row in track(read(), "Counting the training pairs", None):
            self._size += 1
            self.characters += len(row[1]) + 1
            if len(drawn) < SAMPLE:
                drawn.append(row)
            elif (i := rng.randrange(self._size)) < SAMPLE:
                drawn[i] = row
        self.sample = collect(drawn)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Row]:
        count = 0
        for row in self._read():
            count += 1
            yield row
        if count != self._size:
            raise DataError(
                f"{self.name} had {self._size} pairs and now has {count}; train again from its start."
            )

    def shuffled(self, rng: np.random.Generator) -> Iterator[Row]:
        """All pairs, each drawn from the `BUFFER` that were read and not drawn yet."""
        rows = iter(self)
        held = list(islice(rows, BUFFER))
        for row in rows:
            i = rng.integers(BUFFER)
            yield held[i]
            held[i] = row
        for i in rng.permutation(len(held)):
            yield held[i]


def fingerprint(sentence: str, seed: int) -> int:
    """A number below 2⁶⁴ that looks drawn at random; one for a sentence whatever its case."""
    digest = blake2b(sentence.casefold().encode(), digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(digest, "big")


def draw(rows: Iterable[Row], seed: int) -> dict[int, list[Row]]:
    """The pairs of the `MANY` source sentences, or somewhat more, with the lowest fingerprints, by these."""
    lowest: dict[int, list[Row]] = {}
    limit = 1 << 64
    for row in rows:
        number = fingerprint(row[0], seed)
        if number <= limit:
            lowest.setdefault(number, []).append(row)
            if len(lowest) == 2 * MANY:
                lowest = dict(sorted(lowest.items())[:MANY])
                limit = max(lowest)
    return lowest


def make_streamed_corpus(
    name: str,
    read: Callable[[], Iterator[Row]],
    splits: dict[str, Pairs],
    languages: tuple[str | None, str | None],
    seed: int,
    track: Track = untracked,
) -> Corpus[StreamedPairs]:
    """A corpus whose training pairs are those of `read`, less what is drawn for missing splits.

    As `make_corpus` draws, but which source sentences are drawn is decided by their fingerprints, so that
    every epoch finds them without a list of all.

    Raises:
        DataError: if there are too few source sentences to split.
    """
    chosen, missing = choose_splits(splits)
    drawn: set[int] = set()
    if missing:
        lowest = draw(track(read(), f"Drawing {' and '.join(missing)}", None), seed)
        numbers = iter(sorted(lowest))
        count = split_size(name, len(lowest), missing)
        for split in missing:
            numbers_of_split = list(islice(numbers, count))
            chosen[split] = collect(row for number in numbers_of_split for row in lowest[number])
            drawn.update(numbers_of_split)

    def rest() -> Iterator[Row]:
        return (row for row in read() if fingerprint(row[0], seed) not in drawn)

    train = StreamedPairs(name, rest if drawn else read, seed, track)
    return Corpus(name, train, chosen["validation"], chosen["test"], *languages, splits=splits)
