import shutil
from itertools import pairwise
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.data import Corpus, DataError, Pairs
from keras_attention.models import PRESETS, Seq2SeqTranslator, evaluate, load_model, train
from keras_attention.models.training import BestByBleu, Schedule, build_vocabularies, save_whole

OPTIONS = {"epochs": 5, "batch_size": 8, "learning_rate": 0.01, "seed": 3, "verbose": 0}
TIMES = {"tokens_per_second", "train_seconds"}


class Interrupt(keras.callbacks.Callback):
    """Ctrl-C in the middle of the third epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == (2, 1):
            raise KeyboardInterrupt


class Recorder(keras.callbacks.Callback):
    """The weights after every epoch."""

    def __init__(self):
        super().__init__()
        self.weights = []

    def on_epoch_end(self, epoch, logs=None):
        self.weights.append(self.model.get_weights())


def equal(ours, expected, atol=1e-6):
    assert len(ours) == len(expected)
    for a, b in zip(ours, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


@pytest.fixture(scope="module")
def runs(toy, build, tmp_path_factory):
    """The same training whole, interrupted, and resumed."""
    out = tmp_path_factory.mktemp("runs") / "model.keras"
    translators = [build(dropout=0.3, seed=5) for _ in range(3)]
    whole, first, second = translators
    recorders = [Recorder() for _ in translators]
    runs = SimpleNamespace(out=out, translators=translators, recorders=recorders)
    runs.whole = train(whole, toy, callbacks=[recorders[0]], **OPTIONS)
    with pytest.raises(KeyboardInterrupt):
        train(first, toy, out=out, callbacks=[recorders[1], Interrupt()], **OPTIONS)
    runs.files_then = {path.name for path in out.parent.iterdir()}
    runs.kept = out.with_name("kept.keras")
    shutil.copy(out, runs.kept)
    runs.resumed = train(second, toy, out=out, resume=True, callbacks=[recorders[2]], **OPTIONS)
    runs.files = {path.name for path in out.parent.iterdir()}
    return runs


def test_a_resumed_training_ends_as_the_uninterrupted_one(runs):
    whole, _, resumed = runs.translators
    equal(resumed.get_weights(), whole.get_weights())
    equal(runs.recorders[2].weights[-1], runs.recorders[0].weights[-1])
    equal(
        [v.numpy() for v in resumed.optimizer.variables], [v.numpy() for v in whole.optimizer.variables], 1e-5
    )
    assert len(runs.recorders[2].weights) == 3  # it began with the third epoch
    assert set(runs.resumed) == set(runs.whole)
    for name in set(runs.whole) - TIMES:
        np.testing.assert_allclose(runs.resumed[name], runs.whole[name], atol=1e-5, err_msg=name)


def test_dropout_was_on_and_weights_moved(runs):
    """Else the test above would compare equal things."""
    recorded = runs.recorders[0].weights
    assert all(np.abs(a[0] - b[0]).max() > 1e-3 for a, b in pairwise(recorded))
    assert runs.translators[0].drop.rate == 0.3


def test_history(runs):
    assert set(runs.whole) == {"loss", "val_loss", "val_bleu"} | TIMES
    assert all(len(values) == 5 for values in runs.whole.values())
    assert all(value > 0 for name in TIMES for value in runs.whole[name])
    assert runs.whole["loss"][-1] < runs.whole["loss"][0]


def test_the_best_weights_are_restored(runs):
    whole, first, second = (recorder.weights for recorder in runs.recorders)
    for translator, history, recorded in (
        (runs.translators[0], runs.whole, whole),
        (runs.translators[2], runs.resumed, first + second),
    ):
        assert len(recorded) == 5
        equal(translator.get_weights(), recorded[int(np.argmax(history["val_bleu"]))])


def test_an_interrupt_keeps_the_best_in_memory_and_in_the_file(runs, toy):
    first = runs.translators[1]
    best = int(np.argmax(runs.whole["val_bleu"][:2]))
    equal(first.get_weights(), runs.recorders[1].weights[best])
    kept = load_model(runs.kept)
    equal(kept.get_weights(), first.get_weights(), 0)
    texts = [[t.text for t in model.translate(toy.test.source)] for model in (kept, first)]
    assert texts[0] == texts[1]


def test_the_checkpoint_goes_when_training_ends(runs):
    assert runs.files_then == {"model.keras", "model.keras.checkpoint"}
    assert runs.files == {"model.keras", "kept.keras"}
    equal(load_model(runs.out).get_weights(), runs.translators[2].get_weights(), 0)


def test_resume_without_a_checkpoint(toy, build, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no interrupted training .*model.keras.checkpoint"):
        train(build(), toy, out=tmp_path / "model.keras", resume=True, verbose=0)
    with pytest.raises(FileNotFoundError, match="no interrupted training"):
        train(build(), toy, resume=True, verbose=0)


def test_no_pairs(toy, build):
    empty = Corpus("nothing.tsv", Pairs([], []), toy.validation, toy.test)
    with pytest.raises(DataError, match=r"nothing.tsv has no training pairs"):
        train(build(), empty, verbose=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"validation_size": 0}, "validation_size is 0, but BLEU needs pairs: give 1 or more"),
        ({"validation_size": -1}, "validation_size is -1"),
        ({"minutes": 0}, "minutes is 0, but training takes time: give more, or None for no end"),
        ({"minutes": -1.0}, "minutes is -1.0"),
    ],
)
def test_settings_with_which_nothing_is_trained(toy, build, options, message):
    with pytest.raises(ValueError, match=message):
        train(build(), toy, verbose=0, **options)


class Diverge(keras.callbacks.Callback):
    """From an epoch on the weights are no numbers."""

    def __init__(self, epoch):
        super().__init__()
        self.epoch = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.epoch:
            self.model.set_weights([np.full_like(w, np.nan) for w in self.model.get_weights()])


def test_training_that_diverges_ends_and_keeps_the_best(toy, build, tmp_path):
    translator, recorder, out = build(), Recorder(), tmp_path / "model.keras"
    with pytest.raises(
        ValueError, match="diverged in epoch 2, where val_loss is nan: train with a lower lea"
    ):
        train(translator, toy, out=out, callbacks=[recorder, Diverge(1)], **OPTIONS)
    kept = load_model(out)
    equal(kept.get_weights(), recorder.weights[0], 0)
    equal(translator.get_weights(), recorder.weights[0], 0)
    assert kept.training_record["epochs"] == 1


def test_what_diverges_at_once_replaces_no_file(toy, build, tmp_path):
    out = tmp_path / "model.keras"
    out.write_bytes(b"old")
    with pytest.raises(ValueError, match="diverged in epoch 1"):
        train(build(), toy, out=out, callbacks=[Diverge(0)], **OPTIONS)
    assert out.read_bytes() == b"old"


@pytest.fixture(scope="module")
def memory(toy, build):
    """A translator that should know the toy pairs by heart, and its history."""
    translator = build(embedding_dim=16, units=24)
    options = {"epochs": 45, "batch_size": 6, "learning_rate": 0.02, "verbose": 0}
    corpus = Corpus("toy", toy.train, toy.train, toy.test, "en", "fr")
    return translator, train(translator, corpus, **options)


def test_training_learns_pairs_by_heart(memory, toy):
    translator, history = memory
    assert history["loss"][-1] < 0.1 < 2 < history["loss"][0]
    texts = [translation.text for translation in translator.translate(toy.train.source)]
    assert sum(a == b for a, b in zip(texts, toy.train.target, strict=True)) >= 29
    assert history["val_bleu"][-1] > 99


def test_its_measures(memory, toy):
    translator, _ = memory
    results, translations = evaluate(translator, toy.train)
    assert results["bleu"] > 95
    assert results["loss"] < 0.5  # of the first epoch that translated the validation pairs
    assert len(translations) == len(toy.train)


@pytest.mark.filterwarnings("ignore:Even though the:UserWarning")  # tf.data itself stays a graph
def test_minutes_end_training_early(toy, build):
    translator = build()
    tf.config.run_functions_eagerly(True)  # for one step this is quicker than to trace
    try:
        history = train(translator, toy, epochs=50, minutes=1e-6, batch_size=6, verbose=0)
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(history["loss"]) == 1
    assert int(translator.optimizer.iterations) == 1
    assert float(translator.optimizer.learning_rate) == 0


def test_the_learning_rate_falls_along_half_a_cosine():
    optimizer = SimpleNamespace(iterations=0, learning_rate=None)
    model = SimpleNamespace(optimizer=optimizer, stop_training=False)
    schedule = Schedule(0.8, 100, None)
    schedule.set_model(model)
    schedule.on_train_begin()
    for step, expected in ((0, 0.8), (25, 0.8 * (2 + 2**0.5) / 4), (50, 0.4), (100, 0), (120, 0)):
        optimizer.iterations = step
        schedule.on_train_batch_begin(0)
        assert optimizer.learning_rate == pytest.approx(expected, abs=1e-9)
    assert not model.stop_training


def test_the_learning_rate_rises_first_where_a_warm_up_is_asked():
    optimizer = SimpleNamespace(iterations=0, learning_rate=None)
    schedule = Schedule(0.8, 100, None, warmup=9)
    schedule.set_model(SimpleNamespace(optimizer=optimizer, stop_training=False))
    schedule.on_train_begin()
    rates = []
    for optimizer.iterations in range(100):
        schedule.on_train_batch_begin(0)
        rates.append(optimizer.learning_rate)
    assert rates[0] == pytest.approx(0.8 / 10)
    assert rates[4] == pytest.approx(0.8 / 2 * (1 + np.cos(np.pi * 0.04)) / 2)
    assert np.argmax(rates) == 9
    assert rates[50] == pytest.approx(0.4)


@pytest.mark.parametrize(("minutes", "expected"), [(10, 0.4), (40, 0.8 * (2 + 2**0.5) / 4)])
def test_minutes_and_what_was_before_an_interruption_count(monkeypatch, minutes, expected):
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("keras_attention.models.training.time.perf_counter", lambda: clock.now)
    optimizer = SimpleNamespace(iterations=25, learning_rate=None)
    model = SimpleNamespace(optimizer=optimizer, stop_training=False)
    schedule = Schedule(0.8, 100, minutes)
    schedule.set_model(model)
    schedule.earlier = 240.0
    schedule.on_train_begin()
    clock.now += 60
    schedule.on_train_batch_begin(0)
    assert optimizer.learning_rate == pytest.approx(expected)
    assert not model.stop_training
    clock.now += 60 * minutes
    schedule.on_train_batch_begin(0)
    assert optimizer.learning_rate == pytest.approx(0)
    assert model.stop_training


def test_patience_counts_epochs_without_a_better_bleu():
    """The weights of the best epoch are kept; the third epoch in a row that is no better is the last."""
    reference = "le chat voit le petit chien"
    outputs = ["le chat", "le chat voit le chien", "un", reference, "le chat", reference, "un", "le"]
    epoch = SimpleNamespace(now=0)
    model = SimpleNamespace(
        stop_training=False,
        translate=lambda sentences: [SimpleNamespace(text=outputs[epoch.now])],
        get_weights=lambda: [np.array(epoch.now)],
    )
    callback = BestByBleu(Pairs(["x"], [reference]), "fr", None, patience=3)
    callback.set_model(model)
    for epoch.now in range(8):
        logs = {}
        callback.on_epoch_end(epoch.now, logs)
        if model.stop_training:
            break
    assert epoch.now == 6  # 4, 5 and 6 were no better than 3
    assert callback.weights == [np.array(3)]
    assert callback.score == pytest.approx(100)
    assert logs["val_bleu"] == pytest.approx(0)


def test_chinese_is_scored_by_characters():
    callback = BestByBleu(Pairs(["x"], ["我 爱 你们 大家"]), "zh", None, None)
    callback.set_model(
        SimpleNamespace(
            translate=lambda _: [SimpleNamespace(text="我爱你们大家")], get_weights=list, stop_training=False
        )
    )
    callback.on_epoch_end(0, {})
    assert callback.score == pytest.approx(100)


def test_saving_never_leaves_half_a_file(tmp_path):
    path = tmp_path / "model.keras"
    path.write_bytes(b"old")

    def fail(partial):
        partial.write_bytes(b"ha")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        save_whole(SimpleNamespace(save=fail), path)
    assert path.read_bytes() == b"old"
    save_whole(SimpleNamespace(save=lambda partial: partial.write_bytes(b"new")), path)
    assert path.read_bytes() == b"new"


def test_vocabularies_are_shared_where_they_are_subwords(toy):
    words = build_vocabularies(toy, "word")
    assert (len(words[0]), len(words[1])) == (16, 15)
    subwords = build_vocabularies(toy, "subword", 60, lowercase=True)
    assert subwords[0] is subwords[1]
    assert "chien" in subwords[0].decode(subwords[0].encode("chien dog"))


@pytest.mark.slow
def test_the_toy_preset_translates_and_aligns():
    from keras_attention.data import load

    corpus, preset = load("toy:en-fr"), PRESETS["toy"]
    translator = Seq2SeqTranslator(*build_vocabularies(corpus, **preset["vocabulary"]), **preset["model"])
    train(translator, corpus, verbose=2, **preset["training"])
    results, _ = evaluate(translator, corpus.test, language="fr")
    assert results["bleu"] >= 90
    assert results["alignment_accuracy"] >= 0.9
