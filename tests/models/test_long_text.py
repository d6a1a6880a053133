import keras
import numpy as np
import pytest

from keras_attention.data import TextCorpus, Texts, Vocabulary
from keras_attention.models.long_text import ATTENTIONS, long_text_classifier, train_long_text

every_attention = pytest.mark.parametrize("attention", ATTENTIONS)
SIZE, CLASSES, T = 31, 3, 50


def ids_of(length=T, seed=0):
    return np.random.default_rng(seed).integers(1, SIZE, (2, length))


def model_of(attention, **options):
    keras.utils.set_random_seed(1)
    return long_text_classifier(attention, SIZE, CLASSES, width=8, **options)


@every_attention
def test_padding_changes_nothing(attention):
    model, ids = model_of(attention), ids_of()
    padded = np.pad(ids, ((0, 0), (0, 7)))
    np.testing.assert_allclose(model(padded), model(ids), atol=1e-5)


@pytest.mark.parametrize("attention", [name for name in ATTENTIONS if name != "reformer"])
def test_what_is_far_counts_where_the_first_token_sees_it(attention):
    model, ids = model_of(attention), ids_of()
    changed = ids.copy()
    changed[:, -5:] = 1
    difference = abs(model(ids) - model(changed)).numpy().max()
    assert (difference > 1e-5) == (attention != "window")


def test_a_layer_of_ones_own_and_more_depth():
    model = model_of(lambda heads, width: keras.layers.Dense(heads * width), depth=2)
    assert sum(type(layer) is keras.layers.Dense for layer in model.layers) == 2 * 3 + 1
    assert model(ids_of()).shape == (2, CLASSES)


def test_it_learns_what_stands_far_from_the_first_word_and_a_window_does_not():
    rng = np.random.default_rng(0)

    def texts(size):
        filler = rng.choice(["a", "b", "c"], (size, 30))
        answers = rng.choice(["yes", "no"], size)
        filler[range(size), rng.integers(20, 30, size)] = answers
        return Texts([" ".join(row) for row in filler], answers.tolist())

    corpus = TextCorpus("ours", {"train": texts(400), "test": texts(100)})
    vocabulary = Vocabulary.build(corpus.train.texts)
    results = {
        name: train_long_text(name, vocabulary, corpus, epochs=3, learning_rate=0.01, width=16)
        for name in ("longformer", "window")
    }
    assert results["longformer"].accuracy > 0.95
    assert results["window"].accuracy < 0.7
    assert results["window"].seconds > 0
