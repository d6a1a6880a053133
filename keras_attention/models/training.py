"""Training: progress, the best weights by a validation score, interruption and resumption."""

from __future__ import annotations

import functools
import json
import math
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from keras_attention.data import Corpus, DataError, Pairs, StreamedPairs, Vocabulary
from keras_attention.metrics import corpus_bleu
from keras_attention.models.memory import keep_freed_memory
from keras_attention.models.strategies import distributed_fit, is_chief
from keras_attention.models.translation import Translator


def train(
    translator: Translator,
    corpus: Corpus,
    *,
    epochs: int = 10,
    minutes: float | None = None,
    batch_size: int = 100,
    batch_tokens: int | None = None,
    learning_rate: float = 1e-3,
    warmup: int = 0,
    subword_dropout: float = 0.0,
    patience: int | None = None,
    validation_size: int = 500,
    out: str | Path | None = None,
    resume: bool = False,
    seed: int = 0,
    verbose: int | str = "auto",
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> dict[str, list[float]]:
    """Train with Adam, the learning rate falling from its peak to 0 along half a cosine, after a warm-up.

    The translator ends with the weights of the epoch whose greedy translations of the validation
    sentences had the highest BLEU, also after Ctrl-C.

    Where the translator was built within the scope of a `tf.distribute` strategy, the devices share each
    batch, and the result is that of one device; of several machines only the chief writes. Call `train`
    outside the scope.

    Args:
        translator: trained in place.
        corpus: its train and validation pairs are used; train may be `StreamedPairs`.
        epochs: how many.
        minutes: end by then, the learning rate reaching 0 at that time; None for no such end.
        batch_size: pairs a batch.
        batch_tokens: target tokens a batch, in place of batch_size.
        learning_rate: the peak.
        warmup: steps in which the learning rate rises from 0; a Transformer needs some.
        subword_dropout: the rate at which merges of a BPE vocabulary are left out, at random in each epoch.
        patience: end after so many epochs without a better BLEU; None for no such end.
        validation_size: how many validation pairs are translated after each epoch, at most.
        out: a `.keras` file that always holds the best translator so far. Beside it, in OUT.checkpoint,
            stands all that `resume` needs; it goes when training ends.
        resume: go on from OUT.checkpoint, to the same result as without the interruption.
        seed: of the order of the pairs.
        verbose, callbacks: as in `keras.Model.fit`.

    Returns:
        the history: for each epoch loss (nats a target token, smoothed, with dropout), val_loss (without
        both), val_bleu, tokens_per_second (of the target) and train_seconds.

    Raises:
        FileNotFoundError: there is nothing to resume from.
        DataError: no training or no validation pairs.
        ValueError: validation_size or minutes is not positive, a sentence is too long, or training diverges;
            the best translator so far is kept.
        KeyboardInterrupt: again after Ctrl-C, the best translator kept.
    """
    if validation_size < 1:
        raise ValueError(f"validation_size is {validation_size}, but BLEU needs pairs: give 1 or more.")
    for name, pairs in (("training", corpus.train), ("validation", corpus.validation)):
        if not len(pairs):
            raise DataError(f"{corpus.name} has no {name} pairs, and training needs some.")
    return run_training(
        translator,
        lambda first_epoch: translator.dataset(
            corpus.train, batch_size, seed, first_epoch, subword_dropout, batch_tokens
        ),
        translator.dataset(corpus.validation, batch_size),
        BestByBleu(corpus.validation[:validation_size], corpus.target_language, out, patience),
        Speed("tokens"),
        learning_rate=learning_rate,
        epochs=epochs,
        minutes=minutes,
        warmup=warmup,
        resume=resume,
        verbose=verbose,
        callbacks=callbacks,
    )


def run_training(
    model,
    training_data,
    validation_data,
    best,
    speed,
    *,
    learning_rate,
    epochs,
    minutes,
    resume,
    verbose,
    callbacks,
    warmup=0,
    class_weight=None,
    **compiling,
):
    """`fit` with Adam, a falling learning rate, the best weights kept, and all that a resumption needs.

    Args:
        model: trained in place; its `training_record` is written.
        training_data: the number of the first epoch → a dataset.
        best: a `Best`.
        speed: a `Speed`.
        compiling: more arguments of `compile`.
        The others as in `train`.

    Returns:
        the history.
    """
    if minutes is not None and not minutes > 0:
        raise ValueError(f"minutes is {minutes}, but training takes time: give more, or None for no end.")
    keep_freed_memory()
    strategy = model.distribute_strategy
    with strategy.scope():
        optimizer = keras.optimizers.Adam(learning_rate, global_clipnorm=1.0)
        model.compile(optimizer, jit_compile=False, **compiling)
        optimizer.build(model.trainable_variables)
    schedule = Schedule(learning_rate, 0, minutes, warmup)
    checkpoint = Checkpoint(Path(f"{best.out}.checkpoint") if best.out else None, schedule, best)
    first_epoch = checkpoint.load(model) if resume else 0
    data = training_data(first_epoch)
    schedule.steps = epochs * int(data.cardinality())
    if not is_chief(strategy):
        best.out = checkpoint.folder = None
    if not resume:
        checkpoint.clear()
    fit = (
        functools.partial(model.fit, shuffle=False, class_weight=class_weight)  # the dataset shuffles
        if strategy is tf.distribute.get_strategy()
        else functools.partial(distributed_fit, model)
    )
    try:
        fit(
            data,
            validation_data=validation_data,
            initial_epoch=first_epoch,
            epochs=epochs,
            verbose=verbose,
            callbacks=[speed, schedule, best, checkpoint, *callbacks],
        )
    finally:
        best.restore(model)
        model.training_record = speed.record(checkpoint.history)
        if best.out and best.weights:
            save_whole(model, best.out)
    checkpoint.clear()
    return checkpoint.history


class Speed(keras.callbacks.Callback):
    """Puts UNIT_per_second and train_seconds of the epoch into the logs, validation not counted.

    Args:
        unit: "tokens", which the model counts among its logs, or "texts".
        size: how many texts an epoch has.
    """

    def __init__(self, unit: str, size: int | None = None):
        super().__init__()
        self.unit, self.size = unit, size

    def on_epoch_begin(self, epoch, logs=None):
        self.start = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self.seconds = time.perf_counter() - self.start
        if self.size is None:
            self.rate = logs[f"{self.unit}_per_second"] = round(logs.pop(self.unit) / self.seconds)

    def on_epoch_end(self, epoch, logs=None):
        if self.size is None:
            del logs[self.unit], logs[f"val_{self.unit}"]
        else:
            self.rate = round(self.size / self.seconds)
        logs.update({f"{self.unit}_per_second": self.rate, "train_seconds": self.seconds})

    def record(self, history: dict[str, list[float]]) -> dict[str, float]:
        """What training cost: target_tokens_per_second or texts_per_second, train_seconds, epochs."""
        seconds = history.get("train_seconds", [])
        rates = history.get(f"{self.unit}_per_second", [])
        total = sum(rate * time for rate, time in zip(rates, seconds, strict=True))
        name = f"{'target_' if self.unit == 'tokens' else ''}{self.unit}_per_second"
        return {
            name: total / sum(seconds) if seconds else 0.0,
            "train_seconds": sum(seconds),
            "epochs": len(seconds),
        }


class Schedule(keras.callbacks.Callback):
    """The learning rate, peak · ½(1 + cos(π · progress)), and the end when the minutes are over.

    Progress goes from 0 to 1 with the steps, or with the minutes where they are over earlier. In the first
    `warmup` steps the rate is multiplied by what rises from 0 to 1 with them.
    """

    def __init__(self, peak: float, steps: int, minutes: float | None, warmup: int = 0):
        super().__init__()
        self.peak, self.steps, self.minutes, self.warmup = peak, steps, minutes, warmup
        self.earlier = 0.0  # seconds before an interruption

    def on_train_begin(self, logs=None):
        self.start = time.perf_counter()

    @property
    def seconds(self) -> float:
        return self.earlier + time.perf_counter() - self.start

    def on_train_batch_begin(self, batch, logs=None):
        step = int(tf.convert_to_tensor(self.model.optimizer.iterations))
        progress = step / self.steps
        if self.minutes is not None:
            progress = max(progress, self.seconds / (60 * self.minutes))
            self.model.stop_training |= progress >= 1
        rise = min(1.0, (step + 1) / (self.warmup + 1))
        self.model.optimizer.learning_rate = self.peak * rise * (1 + math.cos(math.pi * min(1, progress))) / 2


class Best(keras.callbacks.Callback):
    """Keeps the weights of the epoch with the highest score, in memory and in a file."""

    def __init__(self, out: str | Path | None, patience: int | None):
        super().__init__()
        self.out, self.patience = out, patience
        self.score, self.worse = -1.0, 0
        self.weights: list[np.ndarray] = []

    def measure(self, logs) -> float:
        """The score of the model as it is; the logs are those of the epoch, and may be added to."""
        raise NotImplementedError

    def on_epoch_end(self, epoch, logs=None):
        if not math.isfinite(logs.get("val_loss", 0)):
            raise ValueError(
                f"Training diverged in epoch {epoch + 1}, where val_loss is {logs['val_loss']}: train with a "
                "lower learning rate."
            )
        score = self.measure(logs)
        self.worse += 1
        if score > self.score:
            self.score, self.worse = score, 0
            self.weights = self.model.get_weights()
            if self.out:
                save_whole(self.model, self.out)
        if self.patience is not None and self.worse >= self.patience:
            self.model.stop_training = True

    def restore(self, model):
        if self.weights:
            model.set_weights(self.weights)


class BestByBleu(Best):
    """By the BLEU of the greedy translations of the validation sentences."""

    def __init__(self, pairs: Pairs, language: str | None, out: str | Path | None, patience: int | None):
        super().__init__(out, patience)
        self.pairs = pairs
        self.tokenize = "zh" if language == "zh" else "13a"

    def measure(self, logs):
        hypotheses = [translation.text for translation in self.model.translate(self.pairs.source)]
        logs["val_bleu"] = corpus_bleu(hypotheses, self.pairs.target, self.tokenize).score
        return logs["val_bleu"]

    def restore(self, model):
        super().restore(model)
        if self.weights:
            model.choose_alignment_head(self.pairs)


class Checkpoint(keras.callbacks.Callback):
    """After every epoch a folder holds all that training needs to go on as if nothing had happened."""

    def __init__(self, folder: Path | None, schedule: Schedule, best: Best):
        super().__init__()
        self.folder, self.schedule, self.best = folder, schedule, best
        self.history: dict[str, list[float]] = {}

    def on_epoch_end(self, epoch, logs=None):
        for name, value in logs.items():
            self.history.setdefault(name, []).append(float(value))
        if self.folder is None:
            return
        facts = {
            "epoch": epoch + 1,
            "seconds": self.schedule.seconds,
            "score": self.best.score,
            "worse": self.best.worse,
            "history": self.history,
        }
        arrays: dict[str, np.ndarray] = {f"now_{i}": v.numpy() for i, v in enumerate(_variables(self.model))}
        arrays |= {f"best_{i}": w for i, w in enumerate(self.best.weights)}
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / "partial.npz"
        np.savez(partial, allow_pickle=False, **arrays, facts=np.array(json.dumps(facts)))
        os.replace(partial, self.folder / "state.npz")

    def load(self, translator) -> int:
        """Restore the state; the number of the epoch to go on with."""
        path = self.folder and self.folder / "state.npz"
        if path is None or not path.exists():
            raise FileNotFoundError(
                f"There is no interrupted training to resume at {self.folder}: train without --resume."
            )
        with np.load(path, allow_pickle=False) as state:
            facts = json.loads(str(state["facts"]))
            variables = _variables(translator)
            saved = [state[f"now_{i}"] for i in range(sum(name.startswith("now_") for name in state.files))]
            if [v.shape for v in variables] != [x.shape for x in saved]:
                raise ValueError(
                    f"{path} belongs to another model: resume with the options that training began with."
                )
            for variable, value in zip(variables, saved, strict=True):
                variable.assign(value)
            best = sum(name.startswith("best_") for name in state.files)
            self.best.weights = [state[f"best_{i}"] for i in range(best)]
        self.best.score, self.best.worse = facts["score"], facts["worse"]
        self.schedule.earlier, self.history = facts["seconds"], facts["history"]
        return facts["epoch"]

    def clear(self):
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def _variables(model):
    """Weights, states of the random generators, and the optimizer's moments, in a fixed order."""
    return [*model.variables, *model.optimizer.variables]


def save_whole(model, path):
    """Save, so that the file is the old or the new one at every moment, never half of one."""
    path = Path(path)
    partial = path.with_name(f".{path.stem}.partial.keras")
    model.save(partial)
    os.replace(partial, path)


def build_vocabularies(corpus: Corpus, kind: str, size: int | None = None, lowercase: bool = False):
    """Source and target vocabulary from the training pairs; one for both where they are subwords.

    Of `StreamedPairs` the sample is read.
    """
    pairs = corpus.train.sample if isinstance(corpus.train, StreamedPairs) else corpus.train
    sides = (pairs.source, pairs.target)
    if kind == "subword":
        shared = Vocabulary.build(pairs.source + pairs.target, kind, size, lowercase)
        return shared, shared
    source, target = (
        Vocabulary.build(texts, kind, size, lowercase, lexicon=corpus.lexicon) for texts in sides
    )
    return source, target
