import json
import random
import re
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.data import Texts, Vocabulary
from keras_attention.models import AttentionClassifier, load_model
from keras_attention.models.batches import pad
from keras_attention.models.classifier import POOLINGS, shorten

LONG = " ".join(["the red cat sees a small dog and"] * 4)
TEXTS = ["the cat sees", "a big red dog likes the bird and", "eats", LONG]
LABELS = ["no", "yes", "maybe"]
EVERY = [
    {"pooling": "attention"},
    {"pooling": "attention", "heads": 3, "cell": "gru", "attention_units": 5, "residual": False},
    {"pooling": "mean", "embedding_dim": 24},
    {"pooling": "max"},
    {"pooling": "last", "residual": False},
]


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary.build(TEXTS)


@pytest.fixture(scope="module")
def build(vocabulary):
    """build(**options): an untrained small classifier with weights so large that its outputs differ."""

    def build(**options):
        options = {"embedding_dim": 10, "units": 12, "dropout": 0.0, **options}
        classifier = AttentionClassifier(vocabulary, LABELS, **options)
        rng = np.random.default_rng(7)
        classifier.set_weights([rng.normal(0, 0.4, weight.shape) for weight in classifier.get_weights()])
        return classifier

    return build


@pytest.fixture(scope="module", params=EVERY, ids=lambda options: options["pooling"])
def classifier(request, build):
    return build(**request.param)


def test_no_batch_and_no_padding_changes_a_prediction(classifier):
    together = classifier.predict_text(TEXTS)
    assert np.ptp([prediction.probability for prediction in together]) > 0.01
    others = [
        classifier.predict_text(TEXTS[::-1], batch_size=3)[::-1],
        [classifier.predict_text([text])[0] for text in TEXTS],
    ]
    for other in others:
        for a, b in zip(together, other, strict=True):
            assert (a.label, a.tokens, a.spans) == (b.label, b.tokens, b.spans)
            np.testing.assert_allclose(
                list(a.probabilities.values()), list(b.probabilities.values()), atol=1e-5
            )
            np.testing.assert_allclose(a.head_weights, b.head_weights, atol=1e-5)
    ids = pad(classifier.encode(TEXTS))
    padded = np.pad(ids, ((0, 0), (0, 9)))
    np.testing.assert_allclose(classifier(padded), classifier(ids), atol=1e-5)


def test_a_prediction_holds_all_that_is_said_of_it(classifier):
    for text, prediction in zip(TEXTS, classifier.predict_text(TEXTS), strict=True):
        assert prediction.text == text
        assert prediction.tokens == text.split() == [text[a:b] for a, b in prediction.spans]
        assert list(prediction.probabilities) == LABELS
        assert sum(prediction.probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert prediction.label == max(prediction.probabilities, key=prediction.probabilities.get)
        assert prediction.probability == prediction.probabilities[prediction.label]
        assert prediction.weights.shape == (len(prediction.tokens),)
        assert prediction.weights.sum() == pytest.approx(1, abs=1e-5)
        assert (prediction.weights >= 0).all()
        np.testing.assert_allclose(prediction.head_weights.mean(0), prediction.weights, atol=1e-6)


def lstm(x, kernel, recurrent, bias):
    """The states of an LSTM that reads x (T, E)."""

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    h, c, states = 0 * recurrent[:, 0], 0 * recurrent[:, 0], []
    for row in x:
        i, f, g, o = np.split(row @ kernel + h @ recurrent + bias, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.array(states)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_is_the_formula(build, pooling):
    classifier = build(pooling=pooling)
    weights = {v.path: v.numpy().astype("float64") for v in classifier.weights}
    find = lambda *parts: next(w for path, w in weights.items() if all(p in path for p in parts))  # noqa: E731
    ids = classifier.encode([TEXTS[1]])[0]
    e = find("embedding")[ids]  # (T, E)
    both = []
    for direction, step in (("forward", 1), ("backward", -1)):
        bias = find(f"{direction}_input", "bias") + find(f"{direction}_state", "bias")
        kernels = find(f"{direction}_input", "kernel"), find(f"{direction}_state", "kernel")
        both.append(lstm(e[::step], *kernels, bias)[::step])
    h = np.concatenate(both, 1) + e @ find("residual", "kernel")
    scores = (
        np.tanh(h @ find("hidden", "kernel") + find("hidden", "bias")) @ find("vector")
        if pooling == ("attention")
        else np.zeros((len(h), 1))
    )
    alpha = np.exp(scores) / np.exp(scores).sum()
    pooled = {
        "attention": (alpha * h).sum(0),
        "mean": h.mean(0),
        "max": h.max(0),
        "last": np.concatenate([h[-1, :12], h[0, 12:]]),
    }[pooling]
    logits = pooled @ find("output", "kernel") + find("output", "bias")
    np.testing.assert_allclose(classifier(np.array([ids]))[0], logits, atol=1e-4)
    (prediction,) = classifier.predict_text([TEXTS[1]])
    np.testing.assert_allclose(
        list(prediction.probabilities.values()), np.exp(logits) / np.exp(logits).sum(), atol=1e-5
    )
    expected = {
        "attention": alpha[:, 0],
        "mean": np.full(len(h), 1 / len(h)),
        "max": np.eye(len(h))[h.argmax(0)].mean(0),
        "last": (np.eye(len(h))[0] + np.eye(len(h))[-1]) / 2,
    }[pooling]
    np.testing.assert_allclose(prediction.weights, expected, atol=1e-5)


def test_without_a_residual_it_is_keras_own_bidirectional_lstm(build):
    classifier = build(residual=False, embedding_dim=6)
    ids = pad(classifier.encode(TEXTS))
    mask = ids != 0
    reference = keras.layers.Bidirectional(keras.layers.LSTM(12, return_sequences=True))
    reference.build((None, None, 6))
    rows = []
    for direction in range(2):
        x, s = classifier.encoder.input_dense[direction], classifier.encoder.state_dense[direction]
        rows += [x.kernel, s.kernel, x.bias + s.bias]
    reference.set_weights([np.array(row) for row in rows])
    embedded = classifier.embedding(ids)
    expected = reference(embedded, mask=tf.constant(mask)).numpy() * mask[..., None]
    np.testing.assert_allclose(classifier.annotate(embedded, tf.constant(mask)), expected, atol=1e-5)


def test_weights_that_are_given_are_used(build):
    for options in ({}, {"heads": 3}, {"pooling": "mean"}, {"pooling": "last"}):
        classifier = build(**options)
        ids = classifier.encode(TEXTS)
        p, weights = classifier.predict_ids(ids)
        again, same = classifier.predict_ids(ids, weights, batch_size=3)
        np.testing.assert_allclose(again, p, atol=1e-5)
        for a, b in zip(weights, same, strict=True):
            np.testing.assert_array_equal(a, b)
        other, _ = classifier.predict_ids(ids, [np.roll(row, 1, axis=-1) for row in weights])
        assert np.abs(other - p).max() > (1e-3 if options.get("pooling") != "mean" else -1)
        np.testing.assert_allclose(other[2], p[2], atol=1e-5)  # a text of one token


@pytest.mark.parametrize("options", [{}, {"heads": 3, "cell": "gru", "residual": False}])
def test_gradient_times_input_by_differences(build, options):
    classifier = build(**options)
    ids = classifier.encode(TEXTS[:3])
    found = classifier.gradient_times_input(ids, batch_size=2)

    def log_p(sequence, scale, label):
        embedded = classifier.embedding(np.array([sequence])) * scale[None, :, None]
        logits, _ = classifier.classify(embedded, tf.ones((1, len(sequence)), bool))
        return float(tf.nn.log_softmax(logits)[0, label])

    for sequence, row, prediction in zip(ids, found, classifier.predict_text(TEXTS[:3]), strict=True):
        label = LABELS.index(prediction.label)
        assert row.shape == (len(sequence),)
        for i in range(len(sequence)):
            # eᵢ · ∂ log p/∂eᵢ is the slope when eᵢ grows in its own direction
            step = 1e-2 * np.eye(len(sequence), dtype="float32")[i]
            slope = (log_p(sequence, 1 + step, label) - log_p(sequence, 1 - step, label)) / 2e-2
            assert row[i] == pytest.approx(slope, abs=3e-3, rel=2e-2)


def test_errors_of_texts(build):
    classifier = build()
    with pytest.raises(ValueError, match=re.escape("write [text]")):
        classifier.predict_text("the cat")
    with pytest.raises(ValueError, match="Text 1 is empty, so it has no class"):
        classifier.predict_text(["the cat", "  "])
    assert classifier.predict_text([]) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "sum"}, "pooling is 'sum', but it must be one of attention, mean, max, last"),
        ({"cell": "rnn"}, "cell is 'rnn', but it must be one of gru, lstm"),
        ({"heads": 5}, "5 heads do not divide 24 features"),
    ],
)
def test_an_unknown_part_is_named(build, options, message):
    with pytest.raises(ValueError, match=message):
        build(**options)


@pytest.mark.parametrize("labels", [["yes"], ["yes", "no", "yes"], []])
def test_classes_that_are_none(vocabulary, labels):
    with pytest.raises(ValueError, match="two or more different classes are needed"):
        AttentionClassifier(vocabulary, labels)


def test_an_unknown_label(build):
    classifier = build()
    assert classifier.label_ids(["maybe", "no"]) == [2, 0]
    with pytest.raises(ValueError, match="no class 'never' among those that were trained: no, yes, maybe"):
        classifier.label_ids(["yes", "never"])


def test_a_seed_gives_the_weights_again(vocabulary):
    one, same, other = (AttentionClassifier(vocabulary, LABELS, 6, 4, seed=seed) for seed in (4, 4, 5))
    for a, b in zip(one.get_weights(), same.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one.get_weights()[0], other.get_weights()[0])


def test_building_leaves_the_generators_of_the_program_alone(vocabulary):
    keras.utils.set_random_seed(5)
    expected = random.random(), np.random.random()
    keras.utils.set_random_seed(5)
    AttentionClassifier(vocabulary, LABELS, 6, 4, seed=7)
    assert (random.random(), np.random.random()) == expected


@pytest.mark.parametrize("name", ["dropout", "word_dropout", "context_dropout"])
def test_dropout_acts_in_training_alone(build, name):
    classifier = build(**{name: 0.5})
    ids = pad(classifier.encode(TEXTS))
    np.testing.assert_array_equal(classifier(ids), classifier(ids))
    noisy = [classifier(ids, training=True).numpy() for _ in range(3)]
    assert max(np.abs(noisy[0] - other).max() for other in noisy) > 1e-3
    np.testing.assert_allclose(classifier(ids), build()(ids), atol=1e-6)


def test_context_dropout_hides_a_token_from_the_others_not_from_itself(build):
    """With all tokens hidden, a state depends on its own embedding alone."""
    classifier = build(context_dropout=1.0, embedding_dim=24)
    ids = pad(classifier.encode(TEXTS[:2]))
    mask = tf.constant(ids != 0)
    embedded = classifier.embedding(ids)
    h = classifier.annotate(embedded, mask, training=True)
    empty = classifier.annotate(0 * embedded, mask)
    np.testing.assert_allclose(h - empty, tf.where(mask[..., None], embedded, 0.0), atol=1e-5)


def test_texts_are_cut_in_the_middle_for_training(build):
    assert shorten([1, 2, 3, 4, 5, 6], 4) == [1, 2, 5, 6]
    assert shorten([1, 2, 3, 4, 5, 6], 3) == [1, 2, 6]
    assert shorten([1, 2], 3) == shorten([1, 2], None) == [1, 2]
    texts = Texts(TEXTS, ["no", "yes", "maybe", "no"])
    ((ids, labels),) = build().dataset(texts, max_length=5)
    assert ids.shape == (4, 5)
    assert sorted(labels.numpy().tolist()) == [0, 0, 1, 2]


def test_dataset_shuffles_by_seed_and_epoch_and_keeps_texts_and_labels_together(build):
    classifier = build()
    words = ["the", "cat", "sees", "a", "dog"]
    texts = Texts([" ".join([word] * (i + 1)) for i in range(6) for word in words], LABELS * 10)
    of = dict(
        zip(map(tuple, classifier.encode(texts.texts)), classifier.label_ids(texts.labels), strict=True)
    )

    def epoch(**options):
        rows = []
        for ids, labels in classifier.dataset(texts, 4, **options):
            for row, label in zip(ids.numpy().tolist(), labels.numpy(), strict=True):
                key = tuple(i for i in row if i)
                assert of[key] == label
                rows.append(key)
        assert sorted(rows) == sorted(of)
        return rows

    assert epoch(seed=1) == epoch(seed=1)
    assert epoch(seed=1) != epoch(seed=2)
    assert epoch(seed=1) != epoch(seed=1, first_epoch=1)
    assert epoch() == epoch()


def test_config_is_plain_and_builds_the_same(build):
    classifier = build(cell="gru", pooling="max", seed=7, context_dropout=0.1)
    config = json.loads(json.dumps(classifier.get_config()))
    again = AttentionClassifier.from_config(config)
    assert again.get_config() == classifier.get_config() == config
    assert (again.options, again.labels) == (classifier.options, LABELS)


def test_a_file_holds_the_whole_classifier(classifier, tmp_path):
    classifier.training_record = {"epochs": 3}
    classifier.save(tmp_path / "model.keras")
    again = load_model(tmp_path / "model.keras")
    assert (again.labels, again.training_record) == (LABELS, {"epochs": 3})
    for a, b in zip(again.predict_text(TEXTS), classifier.predict_text(TEXTS), strict=True):
        assert (a.label, a.tokens) == (b.label, b.tokens)
        np.testing.assert_allclose(a.weights, b.weights, atol=1e-6)


@pytest.mark.parametrize("kind", ["word", "subword"])
def test_a_file_classifies_in_a_fresh_process(kind, tmp_path):
    texts = ["汤很好喝, great soup", "房间不干净", *TEXTS]
    vocabulary = Vocabulary.build(texts, kind, 60, lowercase=True)
    classifier = AttentionClassifier(vocabulary, ["好", "差"], 6, 4, heads=2)
    classifier.save(tmp_path / "model.keras")
    code = (
        "import keras, keras_attention\n"
        f"classifier = keras.saving.load_model({str(tmp_path / 'model.keras')!r})\n"
        f"for p in classifier.predict_text({texts!r}): print(p.label, p.probability, *p.tokens)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    rows = [line.split(" ") for line in result.stdout.splitlines()]
    for row, prediction in zip(rows, classifier.predict_text(texts), strict=True):
        assert row[0] == prediction.label
        assert float(row[1]) == pytest.approx(prediction.probability, abs=1e-5)
        assert row[2:] == prediction.tokens


def test_gradients_reach_every_weight(build):
    for options in EVERY:
        classifier = build(**options)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(classifier(pad(classifier.encode(TEXTS)), training=True) ** 2)
        for weight, gradient in zip(
            classifier.trainable_weights, tape.gradient(loss, classifier.trainable_weights), strict=True
        ):
            assert gradient is not None, weight.path
            assert np.abs(tf.convert_to_tensor(gradient)).max() > 0, weight.path
