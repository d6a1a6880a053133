"""Labelled texts: their gold rationales, and a corpus of three splits."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keras_attention.data.corpus import DataError, choose_splits, find_split
from keras_attention.data.vocabulary import Span

ALL = "all"  # the split that is everything


@dataclass(frozen=True)
class Texts:
    """Labelled texts: ``labels[i]`` is the class of ``texts[i]``, ``rationales[i]`` are the character ranges
    ``[start, end)`` of the words that decide it.

    Raises:
        DataError: if the columns have different lengths.
    """

    texts: list[str]
    labels: list[str]
    rationales: list[list[Span]] | None = None

    def __post_init__(self) -> None:
        rationales = self.texts if self.rationales is None else self.rationales
        lengths = {len(self.texts), len(self.labels), len(rationales)}
        if len(lengths) > 1:
            raise DataError(
                f"{len(self.texts)} texts and {len(self.labels)} labels"
                f"{'' if self.rationales is None else f' and {len(self.rationales)} rationales'}"
                " do not belong together; give as many of each."
            )

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, rows: slice) -> Texts:
        return self.select(range(len(self))[rows])

    def select(self, rows: Sequence[int]) -> Texts:
        """The texts with these numbers, in this order."""
        rationales = None if self.rationales is None else [self.rationales[i] for i in rows]
        return Texts([self.texts[i] for i in rows], [self.labels[i] for i in rows], rationales)

    def split_off(self, share: float, seed: int) -> tuple[Texts, Texts]:
        """Draw a share of the different texts of every label: (the rest, the drawn texts).

        A text that occurs twice, whatever its case, is drawn as one: none is on both sides.
        """
        of_label: dict[str, dict[str, None]] = {}
        label_of: dict[str, str] = {}
        for text, label in zip(self.texts, self.labels, strict=True):
            first = label_of.setdefault(text.casefold(), label)
            of_label.setdefault(first, {})[text.casefold()] = None
        rng = random.Random(seed)
        drawn = {
            text
            for label in sorted(of_label)
            for text in rng.sample(sorted(of_label[label]), round(share * len(of_label[label])))
        }
        rows: tuple[list[int], list[int]] = ([], [])
        for i, text in enumerate(self.texts):
            rows[text.casefold() in drawn].append(i)
        return self.select(rows[0]), self.select(rows[1])


@dataclass(frozen=True)
class TextCorpus:
    """Labelled texts for training, validation and test.

    ``name`` is the source string it was loaded from; ``lexicon`` lists the words of a language that is
    written without spaces, for ``Vocabulary.build``; ``notes`` say in a sentence each what was not as
    expected.
    """

    name: str
    splits: Mapping[str, Texts]
    lexicon: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def train(self) -> Texts:
        return self.split("train")

    @property
    def validation(self) -> Texts:
        return self.split("validation")

    @property
    def test(self) -> Texts:
        return self.split("test")

    def split(self, name: str) -> Texts:
        """The texts of a split: train, validation (also val, valid, dev), test, or all of them.

        Raises:
            DataError: if there is no such split; it names those that exist.
        """
        if name == ALL:
            parts = list({id(part): part for part in self.splits.values()}.values())
            gold = [part.rationales for part in parts]
            return Texts(
                [text for part in parts for text in part.texts],
                [label for part in parts for label in part.labels],
                None if None in gold else [spans for part in gold for spans in part or ()],
            )
        return find_split(self.name, self.splits, name)


def make_text_corpus(
    name: str,
    splits: Mapping[str, Texts],
    seed: int,
    notes: Sequence[str] = (),
) -> TextCorpus:
    """A corpus from the splits that exist; without validation or test, each takes a tenth of train.

    Without train there is only what there is, for a model that is trained already.

    Raises:
        DataError: if train has one label only, or too few texts to split.
    """
    chosen, missing = choose_splits(splits)
    if "train" not in chosen:
        return TextCorpus(name, chosen, notes=tuple(notes))
    counts = Counter(chosen["train"].labels)
    if len(counts) == 1:
        raise DataError(
            f"{name}: all {len(chosen['train'])} training texts have the label {next(iter(counts))!r}; "
            "a classifier needs at least two classes."
        )
    for number, key in enumerate(missing):
        # a tenth of the whole, also from what the first one left
        share = 1 / 10 if number == 0 else 1 / 9
        chosen["train"], chosen[key] = chosen["train"].split_off(share, seed + number)
        if not len(chosen[key]):
            raise DataError(
                f"{name} has too few different texts of each label ({min(counts.values())} of the rarest) "
                f"to split off {' and '.join(missing)}; add texts, or a file of its own for each split."
            )
    return TextCorpus(name, chosen, notes=tuple(notes))
