import doctest
import importlib

import numpy as np
import pytest

from keras_attention.data import DataError, TextCorpus, Texts, Vocabulary
from keras_attention.models import (
    AttentionClassifier,
    classifier_training,
    evaluate_classifier,
    load_model,
    train_classifier,
)
from keras_attention.models.baselines import bag_of_words_accuracy, majority_accuracy
from keras_attention.models.classifier_training import balance, class_names

OPTIONS = {"epochs": 3, "batch_size": 8, "learning_rate": 0.02, "seed": 3, "verbose": 0}


def make(count, seed):
    """Texts whose one colour word is their class; the rationale is that word."""
    rng = np.random.default_rng(seed)
    colours = ["red", "blue", "green"]
    words = ["the", "cat", "dog", "sees", "a", "bird", "and"]
    texts, labels, rationales = [], [], []
    for i in range(count):
        row = list(rng.choice(words, size=rng.integers(2, 8)))
        colour = colours[i % 3]
        row.insert(int(rng.integers(0, len(row) + 1)), colour)
        text = " ".join(row)
        start = text.split().index(colour)
        start = len(" ".join(row[:start])) + (start > 0)
        texts.append(text)
        labels.append(colour.upper())
        rationales.append([(start, start + len(colour))])
    return Texts(texts, labels, rationales)


@pytest.fixture(scope="module")
def corpus():
    return TextCorpus("colours", {"train": make(60, 0), "validation": make(15, 1), "test": make(21, 2)})


@pytest.fixture(scope="module")
def build(corpus):
    vocabulary = Vocabulary.build(corpus.train.texts)

    def build(**options):
        return AttentionClassifier(
            vocabulary,
            ["BLUE", "GREEN", "RED"],
            **{"embedding_dim": 8, "units": 5, "dropout": 0.1, "context_dropout": 0.2, **options},
        )

    return build


@pytest.fixture(scope="module")
def trained(corpus, build):
    classifier = build()
    return classifier, train_classifier(classifier, corpus, **{**OPTIONS, "epochs": 25})


def test_it_learns_and_looks_at_the_word_that_tells(trained, corpus):
    classifier, history = trained
    results, predictions = evaluate_classifier(classifier, corpus.test)
    assert results["accuracy"] > 0.9
    assert results["macro_f1"] > 0.9
    assert results["rationale_precision"] > 0.8 > 0.3 > results["rationale_precision_uniform"]
    assert history["loss"][-1] < 0.5 < 0.9 < history["loss"][0] < 1.3
    assert [prediction.text for prediction in predictions] == corpus.test.texts


def test_its_measures_are_those_of_its_predictions(trained, corpus):
    classifier, _ = trained
    results, predictions = evaluate_classifier(classifier, corpus.test)
    hits = [p.label == label for p, label in zip(predictions, corpus.test.labels, strict=True)]
    assert results["accuracy"] == pytest.approx(np.mean(hits))
    p = [row.probabilities[label] for row, label in zip(predictions, corpus.test.labels, strict=True)]
    assert results["loss"] == pytest.approx(-np.mean(np.log(p)), rel=1e-5)
    assert set(results["f1"]) == {"BLUE", "GREEN", "RED"}
    assert results["epochs"] == 25
    assert results["train_seconds"] > 0
    assert results["texts_per_second"] > 0
    assert results["parameters"] == classifier.count_params()


def test_f1_of_each_class(trained, corpus):
    classifier, _ = trained
    predicted = [prediction.label for prediction in classifier.predict_text(corpus.test.texts)]
    rows = [i for i, pair in enumerate(zip(predicted, corpus.test.labels, strict=True)) if "RED" not in pair]
    chosen = corpus.test.select(rows)
    # right, wrong, right, wrong, …
    labels = [{"BLUE": "GREEN", "GREEN": "BLUE"}[x] if i % 2 else x for i, x in enumerate(chosen.labels)]
    results, predictions = evaluate_classifier(classifier, Texts(chosen.texts, labels), explain_tokens=0)
    expected = {}
    for name in ("BLUE", "GREEN"):
        both = [(prediction.label, label) for prediction, label in zip(predictions, labels, strict=True)]
        expected[name] = 2 * both.count((name, name)) / sum(pair.count(name) for pair in both)
    assert results["f1"] == pytest.approx(expected | {"RED": None})
    assert results["macro_f1"] == pytest.approx(np.mean(list(expected.values())))


def test_erasing_the_word_that_tells_matters_more_than_others(trained, corpus):
    found = evaluate_classifier(trained[0], corpus.test)[0]["faithfulness"]
    assert found["texts"] == 21
    assert found["erasure_attended"] > found["erasure_random"] + 0.1
    assert found["agreement_leave_one_out"] > 0.2
    assert found["agreement_gradient"] > 0.2
    assert 0.1 < found["shuffled_changed"] <= 1
    assert 0.1 < found["shuffled_distance"] <= 1


def test_the_tests_of_explanations_keep_to_their_budget(trained, corpus):
    few = evaluate_classifier(trained[0], corpus.test, explain_tokens=20)[0]["faithfulness"]
    assert 1 <= few["texts"] <= 6
    assert evaluate_classifier(trained[0], corpus.test, explain_tokens=0)[0]["faithfulness"] is None


def test_without_gold_there_is_no_precision(trained, corpus):
    texts = Texts(corpus.test.texts, corpus.test.labels)
    results, _ = evaluate_classifier(trained[0], texts, explain_tokens=0)
    assert results["rationale_precision"] is results["rationale_precision_uniform"] is None


def test_mean_pooling_has_uniform_precision_and_no_explanation(build, corpus):
    results, _ = evaluate_classifier(build(pooling="mean"), corpus.test)
    assert results["rationale_precision"] == pytest.approx(results["rationale_precision_uniform"], abs=1e-6)
    assert results["faithfulness"] is None


def test_a_label_that_was_not_trained(trained, corpus):
    with pytest.raises(ValueError, match="no class 'PINK'"):
        evaluate_classifier(trained[0], Texts(["a pink cat"], ["PINK"]))


def test_history_and_the_best_weights(corpus, build, monkeypatch):
    recorded = []
    measure = classifier_training.BestByAccuracy.measure

    def record(self, logs):
        recorded.append(self.model.get_weights())
        return measure(self, logs)

    monkeypatch.setattr(classifier_training.BestByAccuracy, "measure", record)
    classifier = build()
    history = train_classifier(classifier, corpus, **OPTIONS)
    assert set(history) == {
        *("loss", "accuracy", "val_loss", "val_accuracy", "texts_per_second", "train_seconds")
    }
    assert all(len(values) == 3 for values in history.values())
    rank = zip(history["val_accuracy"], (-loss for loss in history["val_loss"]), strict=True)
    best = max(enumerate(rank), key=lambda pair: pair[1])[0]
    for a, b in zip(classifier.get_weights(), recorded[best], strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_resumed_training_ends_as_the_uninterrupted_one(corpus, build, tmp_path):
    import keras

    class Interrupt(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise KeyboardInterrupt

    out = tmp_path / "model.keras"
    whole, first, second = build(), build(), build()
    history = train_classifier(whole, corpus, **OPTIONS)
    with pytest.raises(KeyboardInterrupt):
        train_classifier(first, corpus, out=out, callbacks=[Interrupt()], **OPTIONS)
    assert load_model(out).training_record["epochs"] == 2
    resumed = train_classifier(second, corpus, out=out, resume=True, **OPTIONS)
    np.testing.assert_allclose(resumed["val_loss"], history["val_loss"], atol=1e-5)
    for a, b in zip(second.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]


def test_training_that_diverges_ends_in_an_error(corpus, build, tmp_path):
    with pytest.raises(ValueError, match="diverged in epoch 1, where val_loss is nan"):
        train_classifier(
            build(), corpus, out=tmp_path / "model.keras", **{**OPTIONS, "learning_rate": float("nan")}
        )
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="minutes is 0"):
        train_classifier(build(), corpus, minutes=0, verbose=0)


def test_a_training_record_replaces_no_measure(build, corpus):
    record = {"accuracy": 2.0, "rationale_precision": 2.0, "parameters": 1, "epochs": 7}
    classifier, texts = build(training_record=record), Texts(corpus.test.texts, corpus.test.labels)
    results, _ = evaluate_classifier(classifier, texts, explain_tokens=0)
    assert results["accuracy"] <= 1
    assert results["rationale_precision"] is None
    assert (results["parameters"], results["epochs"]) == (classifier.count_params(), 7)


def test_class_weights_let_a_rare_class_count_as_much(corpus, build):
    counts = {"RED": 20, "BLUE": 20, "GREEN": 2}
    rows, left = [], dict(counts)
    for i, label in enumerate(corpus.train.labels):
        if left[label]:
            left[label] -= 1
            rows.append(i)
    rare = TextCorpus("rare", {**corpus.splits, "train": corpus.train.select(rows)})
    mean = {}
    for weighted in (False, True):
        classifier = build(seed=1)
        train_classifier(classifier, rare, class_weights=weighted, **{**OPTIONS, "epochs": 4})
        predictions = classifier.predict_text(corpus.test.texts)
        mean[weighted] = np.mean([prediction.probabilities["GREEN"] for prediction in predictions])
    assert mean[True] > 1.5 * mean[False]


@pytest.mark.parametrize("name", ["baselines", "classifier", "classifier_training"])
def test_the_examples_of_the_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(f"keras_attention.models.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_balance_and_names():
    assert balance([2, 0, 2, 2]) == {0: 2.0, 2: 2 / 3}
    assert class_names(["b", "10", "a", "9", "b"]) == ["9", "10", "a", "b"]


def test_missing_texts_and_labels(corpus, build):
    empty = TextCorpus("nothing.tsv", {**corpus.splits, "validation": Texts([], [])})
    with pytest.raises(DataError, match=r"nothing.tsv has no validation texts"):
        train_classifier(build(), empty, verbose=0)
    for split in ("validation", "test"):
        strange = TextCorpus("x.tsv", {**corpus.splits, split: Texts(["a"], ["PINK"])})
        with pytest.raises(DataError, match=f"the label 'PINK' of its {split} texts does not occur in train"):
            train_classifier(build(), strange, verbose=0)


def test_baselines(corpus):
    assert majority_accuracy(Texts(["a", "b", "c"], ["x", "y", "y"]), Texts(["d", "e"], ["y", "x"])) == 0.5
    vocabulary = Vocabulary.build(corpus.train.texts)
    assert bag_of_words_accuracy(corpus.train, corpus.test, vocabulary) == 1
    order = Texts(["a b", "b a"] * 8, ["x", "y"] * 8)
    words = Vocabulary.build(order.texts)
    assert bag_of_words_accuracy(order, order, words) == 0.5
    assert bag_of_words_accuracy(order, order, words, longest=2) == 1
