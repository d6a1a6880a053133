"""Training a classifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import keras

from keras_attention.data import DataError, TextCorpus
from keras_attention.models.classifier import AttentionClassifier
from keras_attention.models.training import Best, Speed, run_training


def train_classifier(
    classifier: AttentionClassifier,
    corpus: TextCorpus,
    *,
    epochs: int = 10,
    minutes: float | None = None,
    batch_size: int = 50,
    learning_rate: float = 2e-3,
    patience: int | None = None,
    max_length: int | None = None,
    class_weights: bool = False,
    out: str | Path | None = None,
    resume: bool = False,
    seed: int = 0,
    verbose: int | str = "auto",
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> dict[str, list[float]]:
    """Train with Adam, the learning rate falling from its peak to 0 along half a cosine.

    The classifier ends with the weights of the epoch with the highest validation accuracy, of equal ones the
    one with the lowest validation loss, also after Ctrl-C.

    Args:
        classifier: trained in place.
        corpus: its train and validation texts are used.
        epochs: how many.
        minutes: end by then, the learning rate reaching 0 at that time; None for no such end.
        batch_size: texts a batch.
        learning_rate: the peak.
        patience: end after so many epochs that are no better; None for no such end.
        max_length: training cuts longer texts to so many tokens, the first and the last half of them.
        class_weights: whether rare classes count more, as if all were equally common.
        out, resume, seed, verbose, callbacks: as in `train`.

    Returns:
        the history: for each epoch loss (nats a text, with dropout), accuracy, val_loss and val_accuracy
        (without), texts_per_second and train_seconds.

    Raises:
        FileNotFoundError: there is nothing to resume from.
        DataError: no training or no validation texts, or a label that the classifier does not have.
        ValueError: minutes is not positive, or training diverges; the best classifier so far is kept.
        KeyboardInterrupt: again after Ctrl-C, the best classifier kept.
    """
    for split in ("train", "validation"):
        if not len(corpus.split(split)):
            raise DataError(f"{corpus.name} has no {split} texts, and training needs some.")
    for split, texts in corpus.splits.items():
        unknown = sorted(set(texts.labels) - set(classifier.labels))
        if unknown:
            raise DataError(
                f"{corpus.name}: the label {unknown[0]!r} of its {split} texts does not occur in training; "
                "add such texts or correct it."
            )
    return run_training(
        classifier,
        lambda first_epoch: classifier.dataset(corpus.train, batch_size, seed, first_epoch, max_length),
        classifier.dataset(corpus.validation, batch_size, max_length=max_length),
        BestByAccuracy(out, patience),
        Speed("texts", len(corpus.train)),
        learning_rate=learning_rate,
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        epochs=epochs,
        minutes=minutes,
        resume=resume,
        verbose=verbose,
        callbacks=callbacks,
        class_weight=balance(classifier.label_ids(corpus.train.labels)) if class_weights else None,
    )


def balance(labels: Sequence[int]) -> dict[int, float]:
    """The weight N / (classes · N_c) of each class c, so that every class counts as much in all.

    >>> balance([0, 0, 0, 1])
    {0: 0.6666666666666666, 1: 2.0}
    """
    counts = Counter(labels)
    return {label: len(labels) / (len(counts) * count) for label, count in sorted(counts.items())}


class BestByAccuracy(Best):
    """By validation accuracy, and among equals by validation loss."""

    def measure(self, logs):
        return logs["val_accuracy"] - 1e-6 * min(logs["val_loss"], 100)


def class_names(labels: Sequence[str]) -> list[str]:
    """The different labels in order, numbers as numbers.

    >>> class_names(["10", "2", "2"])
    ['2', '10']
    """
    return sorted(
        set(labels), key=lambda label: (0, int(label), label) if label.isdecimal() else (1, 0, label)
    )
