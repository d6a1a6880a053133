import doctest
from math import log

import numpy as np
import pytest

from keras_attention.data import TextCorpus, Texts, Vocabulary
from keras_attention.models import AttentionClassifier, naive_bayes, train_classifier
from keras_attention.models.naive_bayes import log_count_ratios

IDS = [[4, 5, 5], [4, 6], [7], [5, 6, 7, 8], [6, 6, 6]]
LABELS = [0, 1, 1, 2, 0]
A = 1.5


def test_is_the_formula():
    ratios = log_count_ratios(IDS, LABELS, tokens=10, classes=3, smoothing=A)
    assert ratios.shape == (10, 3)
    texts = [set(ids) for ids in IDS]
    total = sum(len(text) for text in texts)
    for w in range(10):
        n_w = sum(w in text for text in texts)
        for c in range(3):
            of_class = [text for text, label in zip(texts, LABELS, strict=True) if label == c]
            n_wc, p_c = sum(w in text for text in of_class), sum(map(len, of_class)) / total
            assert ratios[w, c] == pytest.approx(log((n_wc + A * p_c) / ((n_w + A) * p_c)))


def test_a_token_that_no_text_holds_says_nothing():
    np.testing.assert_allclose(log_count_ratios(IDS, LABELS, tokens=10, classes=3)[[0, 9]], 0, atol=1e-12)


def test_training_starts_from_the_ratios():
    train = Texts(["good soup", "good fish", "bad soup", "bad bad"], ["up", "up", "down", "down"])
    vocabulary = Vocabulary.build(train.texts)
    classifier = AttentionClassifier(vocabulary, ["down", "up"], embedding_dim=6, units=3)
    before = classifier.embedding.embeddings.numpy()
    corpus = TextCorpus("soup", {"train": train, "validation": train})
    train_classifier(classifier, corpus, epochs=1, learning_rate=1e-9, naive_bayes=0.5, verbose=0)
    after = classifier.embedding.embeddings.numpy()
    ids = vocabulary.encode_batch(train.texts)
    expected = 0.5 * log_count_ratios(ids, [1, 1, 0, 0], len(vocabulary), 2)
    np.testing.assert_allclose(after[:, :2], expected, atol=1e-6)
    np.testing.assert_allclose(after[:, 2:], before[:, 2:], atol=1e-6)
    good, bad = (vocabulary.encode(word)[0] for word in ("good", "bad"))
    assert after[good, 1] > 0 > after[good, 0]
    assert after[bad, 0] > 0 > after[bad, 1]


def test_the_example_of_the_docstring_runs():
    assert doctest.testmod(naive_bayes).failed == 0
