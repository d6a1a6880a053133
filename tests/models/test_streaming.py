import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

import keras_attention
from keras_attention.data import Corpus, Pairs, StreamedPairs, Vocabulary, streaming
from keras_attention.models import streaming as blocks
from keras_attention.models import train


@pytest.fixture
def pairs(toy, monkeypatch):
    """400 pairs of the toy's words, sorted by length, and blocks and a buffer that are small beside them."""
    monkeypatch.setattr(streaming, "BUFFER", 50)
    monkeypatch.setattr(blocks, "BLOCK", 4)
    rng = np.random.default_rng(1)
    chosen = [rng.integers(0, 30, n) for n in np.sort(rng.integers(1, 4, 400))]
    return Pairs(
        *([" ".join(side[i] for i in row) for row in chosen] for side in (toy.train.source, toy.train.target))
    )


@pytest.fixture
def streamed(pairs):
    return StreamedPairs("toy", lambda: zip(pairs.source, pairs.target, strict=True))


def batches(dataset):
    return [tuple(part.numpy().tolist() for part in (x, before, y)) for (x, before), y in dataset]


def rows(dataset):
    """(source, target) of each pair, without padding."""
    return [
        (tuple(filter(None, source)), tuple(filter(None, target)))
        for x, _, y in batches(dataset)
        for source, target in zip(x, y, strict=True)
    ]


@pytest.mark.parametrize("options", [{"batch_size": 9}, {"batch_tokens": 150}])
def test_an_epoch_has_every_pair_once_in_an_order_of_its_own(build, pairs, streamed, options):
    translator = build()
    plain = translator.dataset(pairs, seed=3, **options)
    dataset = translator.dataset(streamed, seed=3, **options)
    assert len(dataset) == len(plain) > 3 * blocks.BLOCK
    epochs = [batches(dataset) for _ in range(2)]
    assert [len(epoch) for epoch in epochs] == [len(dataset)] * 2
    expected = sorted(rows(plain))
    assert sorted(rows(dataset)) == expected
    assert epochs[0] != epochs[1]
    assert epochs == [batches(translator.dataset(streamed, seed=3, first_epoch=i, **options)) for i in (0, 1)]
    assert batches(translator.dataset(streamed, seed=4, **options)) != epochs[0]


def test_batches_are_alike_in_tokens_also_of_a_sorted_file(build, streamed):
    for seed in (None, 3):
        tokens = [
            np.count_nonzero(y) for _, _, y in batches(build().dataset(streamed, seed=seed, batch_tokens=150))
        ]
        assert 110 < min(tokens) <= max(tokens) < 190


def test_without_a_seed_the_batches_are_those_of_a_list(build, pairs, streamed, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 40)
    translator = build()
    assert batches(translator.dataset(streamed, 4)) == batches(translator.dataset(pairs, 4))


def test_subword_dropout_draws_anew_each_epoch_and_the_same_again(build, pairs, streamed):
    words = Vocabulary.build(pairs.source + pairs.target, "subword", 60)
    translator = build(words, words)
    options = {"batch_size": 9, "seed": 3, "subword_dropout": 0.3}
    dataset = translator.dataset(streamed, **options)
    epochs = [rows(dataset) for _ in range(2)]
    assert sorted(epochs[0]) != sorted(epochs[1])
    assert rows(translator.dataset(streamed, first_epoch=1, **options)) == epochs[1]
    texts = [sorted((words.decode(x), words.decode(y)) for x, y in epoch) for epoch in epochs]
    assert texts[0] == texts[1] == sorted(zip(pairs.source, pairs.target, strict=True))


def test_a_sentence_too_long_is_found_before_training(build, build_transformer, streamed):
    with pytest.raises(
        ValueError, match=r"A sentence of \d+ tokens is too long for batches of 12: raise batch_tok"
    ):
        build().dataset(streamed, batch_tokens=12)
    with pytest.raises(ValueError, match=r"A sentence has \d+ tokens, but the model learned 9 positions"):
        build_transformer(positions="learned", max_length=9).dataset(streamed)


class Interrupt(keras.callbacks.Callback):
    """Ctrl-C in the second epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == (1, 2):
            raise KeyboardInterrupt


def test_a_resumed_training_ends_as_the_uninterrupted_one(build_transformer, toy, pairs, streamed, tmp_path):
    corpus = Corpus("toy", streamed, toy.validation, toy.test, "en", "fr")
    options = {"epochs": 2, "batch_tokens": 400, "learning_rate": 0.01, "seed": 3, "verbose": 0}
    whole, first, second = (build_transformer(dropout=0.3) for _ in range(3))
    history = train(whole, corpus, **options)
    out = tmp_path / "model.keras"
    with pytest.raises(KeyboardInterrupt):
        train(first, corpus, out=out, callbacks=[Interrupt()], **options)
    resumed = train(second, corpus, out=out, resume=True, **options)
    assert history["loss"][1] < history["loss"][0]
    for name in ("loss", "val_loss", "val_bleu"):
        np.testing.assert_allclose(resumed[name], history[name], atol=1e-5, err_msg=name)
    for a, b in zip(second.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


GROWTH = """
import json
from pathlib import Path
from keras_attention.data import load, stream
from keras_attention.models import Seq2SeqTranslator
from keras_attention.models.training import build_vocabularies

def peak():  # ru_maxrss would begin with what the parent process takes
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024  # MB

def iterate(corpus):
    words = build_vocabularies(corpus, "word", 1000)
    dataset = Seq2SeqTranslator(*words, embedding_dim=2, units=2).dataset(corpus.train, 100, seed=0)
    return sum(len(y) for _, y in dataset)

peaks = []
for open_corpus, name in ((stream, "small"), (stream, "middle"), (stream, "large"), (load, "large")):
    assert iterate(open_corpus(f"{name}.tsv")) > 800
    peaks.append(peak())
print(json.dumps([after - before for before, after in zip(peaks, peaks[1:])]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak")
def test_a_large_file_needs_no_more_memory_than_a_small_one(tmp_path):
    """1,000 lines, then 100,000, which fill the buffers, then 400,000, then these as lists."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(2000)])
    for name, count in (("small", 1_000), ("middle", 100_000), ("large", 400_000)):
        with (tmp_path / f"{name}.tsv").open("w") as file:
            for i, row in enumerate(words[rng.integers(0, 2000, (count, 16))]):
                file.write(f"{i} {' '.join(row[:8])}\t{' '.join(row[8:])}\n")
    folder = str(Path(keras_attention.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", GROWTH],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    buffers, more, lists = json.loads(done.stdout.splitlines()[-1])
    assert buffers < 120
    assert more < 16
    assert lists > 50
