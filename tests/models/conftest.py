import re

import keras
import numpy as np
import pytest

from keras_attention.data import Corpus, Link, Pairs, Vocabulary
from keras_attention.models import Seq2SeqTranslator, TransformerTranslator

ENGLISH = ["the", "a", "red", "big", "small", "cat", "dog", "bird", "sees", "eats", "likes", "and"]
FRENCH = ["le", "le", "rouge", "gros", "petit", "chat", "chien", "oiseau", "voit", "mange", "aime", "et"]


def spans(text):
    return [match.span() for match in re.finditer(r"\S+", text)]


@pytest.fixture(scope="session")
def toy():
    """30 sentences, translated word by word; the same sentences in every split."""
    rng = np.random.default_rng(0)
    words = dict(zip(ENGLISH, FRENCH, strict=True))
    source = [" ".join(rng.choice(ENGLISH, size=rng.integers(2, 7))) for _ in range(30)]
    target = [" ".join(words[word] for word in text.split()) for text in source]
    links = [
        [Link(x, y) for x, y in zip(spans(a), spans(b), strict=True)]
        for a, b in zip(source, target, strict=True)
    ]
    pairs = Pairs(source, target, links)
    return Corpus("toy", pairs, pairs[:9], pairs[9:16], "en", "fr")


@pytest.fixture(scope="session")
def build(toy):
    """build(**options): an untrained small translator for the toy pairs."""
    source, target = Vocabulary.build(toy.train.source), Vocabulary.build(toy.train.target)
    assert (len(source), len(target)) == (16, 15)

    def build(source=source, target=target, **options):
        return Seq2SeqTranslator(
            source, target, **{"embedding_dim": 10, "units": 12, "dropout": 0.0, **options}
        )

    return build


@pytest.fixture(scope="session")
def build_transformer(toy):
    """build_transformer(**options): an untrained small Transformer for the toy pairs."""
    source, target = Vocabulary.build(toy.train.source), Vocabulary.build(toy.train.target)
    small = {"embedding_dim": 12, "num_layers": 2, "num_heads": 3, "hidden_dim": 20}

    def build(source=source, target=target, **options):
        plain = {"dropout": 0.0, "label_smoothing": 0.0}
        return TransformerTranslator(source, target, **small | plain | options)

    return build


@pytest.fixture(scope="session")
def wild(build, build_transformer):
    """wild(**options): a translator with weights so large that its outputs differ and go on for long."""

    def wild(scale=4, transformer=False, **options):
        translator = (build_transformer if transformer else build)(**options)
        translator.set_weights([scale * weight for weight in translator.get_weights()])
        return translator

    return wild


@pytest.fixture(scope="session")
def trained(toy, build):
    """A translator that has seen the toy pairs for a short while."""
    translator = build()
    translator.compile(keras.optimizers.Adam(0.02))
    translator.fit(translator.dataset(toy.train, 10, seed=0), epochs=25, shuffle=False, verbose=0)
    return translator


@pytest.fixture(scope="session")
def saved(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.keras"
    trained.save(path)
    return path
