"""Embedded long documents: the question is the first word, and its answer stands anywhere behind."""

from __future__ import annotations

import random
from functools import cache

from keras_attention.data.texts import TextCorpus, Texts

SIZES = {"train": 2000, "validation": 200, "test": 500}
LENGTH = 256  # words
ANSWERS = {
    "colour": ["red", "blue", "green", "yellow"],
    "animal": ["horse", "cat", "dog", "bird"],
    "food": ["bread", "soup", "rice", "cheese"],
    "city": ["Paris", "Rome", "Cairo", "Beijing"],
}
SENTENCES = {
    "colour": "her scarf was {} .",
    "animal": "we saw a {} by the road .",
    "food": "for supper there was {} again .",
    "city": "the letter came from {} .",
}
SUBJECTS = ["the old man", "my sister", "a neighbour", "the teacher", "nobody", "our driver", "the child"]
VERBS = ["walked", "waited", "talked", "laughed", "slept", "worked", "read", "sang", "stayed", "returned"]
ENDS = ["for an hour", "in the garden", "near the river", "until the evening", "at home", "every day"]
ENDS += ["as always", "in spite of the rain", "without a word", "after the war", "on the train"]


def filler(rng: random.Random) -> str:
    return f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(ENDS)} ."


def draw_document(rng: random.Random, length: int) -> tuple[str, str, tuple[int, int]]:
    """A document of about so many words, its label, and the character range of the answer.

    Every topic is mentioned once; only that of the question counts.
    """
    topic = rng.choice(list(ANSWERS))
    facts = {other: rng.choice(words) for other, words in ANSWERS.items()}
    sentences = []
    words = 1 + sum(len(sentence.split()) for sentence in SENTENCES.values())
    while words < length:
        sentences.append(filler(rng))
        words += len(sentences[-1].split())
    for other, fact in facts.items():
        sentences.insert(rng.randrange(len(sentences) + 1), SENTENCES[other].format(fact))
    text = " ".join([topic, *sentences])
    start = text.index(SENTENCES[topic].format(facts[topic])) + SENTENCES[topic].index("{")
    return text, facts[topic], (start, start + len(facts[topic]))


@cache
def load_documents(seed: int = 0, length: int = LENGTH) -> TextCorpus:
    """Documents that ask a question with their first word and answer it with one of the others.

    There are 4 questions and 16 answers. Each document holds one answer to every question, so that who does
    not know the question is right in a quarter of the cases at best, and who sees only the words around each
    word does not know it.

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
