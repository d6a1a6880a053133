"""Embedded long documents: the question is the first word, and its answer stands anywhere behind."""

from __future__ import annotations

import random
from functools import cache

from keras_attention.data.texts import TextCorpus, Texts

SIZES = {"train": 2000, "validation": 200, "test": 500}
LENGTH = 256  # words
NAMES = ["Anna", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Henry"]
CITIES = ["Paris", "Rome", "Cairo", "Beijing"]
SUBJECTS = ["the old man", "my sister", "a neighbour", "the teacher", "nobody", "our driver", "the child"]
VERBS = ["walked", "waited", "talked", "laughed", "slept", "worked", "read", "sang", "stayed", "returned"]
ENDS = ["for an hour", "in the garden", "near the river", "until the evening", "at home", "every day"]
ENDS += ["as always", "in spite of the rain", "without a word", "after the war", "on the train"]


def filler(rng: random.Random) -> str:
    return f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(ENDS)} ."


def draw_document(rng: random.Random, length: int) -> tuple[str, str, tuple[int, int]]:
    """A document of about so many words, its label, and the character range of the answer.

    A fact is one word, such as Anna_Rome, so that nothing else must be learned than to find it.
    """
    name = rng.choice(NAMES)
    facts = {other: rng.choice(CITIES) for other in NAMES}
    sentences: list[str] = []
    words = 1 + 2 * len(NAMES)
    while words < length:
        sentences.append(filler(rng))
        words += len(sentences[-1].split())
    for other, city in facts.items():
        sentences.insert(rng.randrange(len(sentences) + 1), f"{other}_{city} .")
    text = " ".join([name, *sentences])
    answer = f"{name}_{facts[name]}"
    return text, facts[name], (text.index(answer), text.index(answer) + len(answer))


@cache
def load_documents(seed: int = 0, length: int = LENGTH) -> TextCorpus:
    """Documents that ask with their first word where somebody is, and answer with one of the others.

    There are 8 names and 4 cities. Each document tells of all 8, so that without the question one knows no
    more than which city occurs most, and a sum over the words does not tell whose it is. Who sees only the
    words around the first one guesses.

    Args:
        seed: draws the documents.
        length: words of a document, about.
    """
    splits = {}
    for split, size in SIZES.items():
        rng = random.Random(f"{split} {seed} {length}")
        texts, labels, spans = zip(*(draw_document(rng, length) for _ in range(size)), strict=True)
        splits[split] = Texts(list(texts), list(labels), [[span] for span in spans])
    return TextCorpus("toy:documents-en", splits)
