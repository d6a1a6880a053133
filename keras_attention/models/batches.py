"""Batches of sentences of about one length, so that little of them is padding."""

import itertools

import numpy as np
import tensorflow as tf

from keras_attention.data.vocabulary import Vocabulary

IDS, LABELS = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None,), tf.int32)


def pad(sequences):
    """Lists of ids → an int32 array (B, T), filled up with PAD."""
    array = np.full(
        (len(sequences), max(1, *map(len, sequences)) if sequences else 1), Vocabulary.PAD, np.int32
    )
    for row, ids in zip(array, sequences, strict=True):
        row[: len(ids)] = ids
    return array


def bucketed(lengths, batch_size, rng=None, pool=None):
    """Indices of sentences, batch by batch, each batch of about one length.

    Args:
        lengths: a sort key for each sentence.
        batch_size: sentences a batch.
        rng: shuffles the sentences before and the batches after; None keeps their order.
        pool: how many sentences are sorted by length together; None means 40 batches.
    """
    order = range(len(lengths)) if rng is None else rng.permutation(len(lengths)).tolist()
    pool = pool or 40 * batch_size
    batches = []
    for start in range(0, len(order), pool):
        near = sorted(order[start : start + pool], key=lambda i: lengths[i])
        batches += [near[i : i + batch_size] for i in range(0, len(near), batch_size)]
    return batches if rng is None else [batches[i] for i in rng.permutation(len(batches))]


def pair_dataset(encode, size, batch_size, seed=None, first_epoch=0):
    """A `tf.data.Dataset` of ((source, target before), target) as `Seq2SeqTranslator.fit` takes it.

    Args:
        encode: function of an epoch's number that gives its source and target: two lists of id lists, without
            START and END.
        size: how many pairs there are.
        batch_size: pairs a batch.
        seed: shuffles, in another order each epoch; None keeps the order.
        first_epoch: the number of the first epoch, for training that is resumed.

    Returns:
        source (B, Tk), START y₁ … y_T (B, T + 1), y₁ … y_T END (B, T + 1), each 0 in its padding.
    """

    def batches(epoch, rng):
        source, target = encode(epoch)
        target = [[Vocabulary.START, *ids, Vocabulary.END] for ids in target]
        lengths = [(len(y), len(x)) for x, y in zip(source, target, strict=True)]
        for batch in bucketed(lengths, batch_size, rng):
            x, y = pad([source[i] for i in batch]), pad([target[i] for i in batch])
            before = np.where(y[:, :-1] == Vocabulary.END, Vocabulary.PAD, y[:, :-1])
            yield (x, before), y[:, 1:]

    return _dataset(batches, ((IDS, IDS), IDS), size, batch_size, seed, first_epoch)


def text_dataset(texts, labels, batch_size, seed=None, first_epoch=0):
    """A `tf.data.Dataset` of (text, label) as `AttentionClassifier.fit` takes it.

    Args:
        texts: a list of id lists.
        labels: a list of class numbers.
        batch_size, seed, first_epoch: as in `pair_dataset`.

    Returns:
        text (B, T), 0 in its padding, label (B,).
    """
    lengths = [len(ids) for ids in texts]

    def batches(epoch, rng):
        for batch in bucketed(lengths, batch_size, rng):
            yield pad([texts[i] for i in batch]), np.array([labels[i] for i in batch], np.int32)

    return _dataset(batches, (IDS, LABELS), len(texts), batch_size, seed, first_epoch)


def _dataset(batches, signature, size, batch_size, seed, first_epoch):
    """The batches of `batches(epoch, rng)`, in another order each epoch."""
    epochs = itertools.count(first_epoch)

    def next_epoch():
        epoch = next(epochs)
        yield from batches(epoch, None if seed is None else np.random.default_rng([seed, epoch]))

    dataset = tf.data.Dataset.from_generator(next_epoch, output_signature=signature)
    return dataset.apply(tf.data.experimental.assert_cardinality(-(-size // batch_size))).prefetch(2)
