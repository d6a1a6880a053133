"""Batches of sentences of about one length, so that little of them is padding."""

import itertools

import keras
import numpy as np
import tensorflow as tf

from keras_attention.data.vocabulary import Vocabulary

IDS, LABELS = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None,), tf.int32)


def pad(sequences):
    """Lists of ids → an int32 array (B, T), T ≥ 1, filled up with PAD."""
    longest = max([1, *map(len, sequences)])
    return keras.utils.pad_sequences(sequences, longest, padding="post", value=Vocabulary.PAD)


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


def token_batches(lengths, count, rng=None):
    """Indices of sentences in `count` batches of about one length and equally many tokens.

    Args:
        lengths: tokens of each sentence.
        count: how many batches; none of the sentences may be longer than two of them.
        rng: as in `bucketed`.
    """
    order = range(len(lengths)) if rng is None else rng.permutation(len(lengths)).tolist()
    near = np.array(sorted(order, key=lambda i: lengths[i]), int)
    before = np.cumsum([0, *(lengths[i] for i in near)])
    which = before[:-1] * count // max(1, before[-1])
    which = np.maximum(which, count - len(near) + np.arange(len(near)))  # at least one sentence a batch
    batches = [near[which == i].tolist() for i in range(count)]
    if not all(batches) or max(lengths) * count > 2 * before[-1]:
        raise too_long(max(lengths), before[-1] // count)
    return batches if rng is None else [batches[i] for i in rng.permutation(count)]


def too_long(longest, batch_tokens):
    return ValueError(
        f"A sentence of {longest} tokens is too long for batches of {batch_tokens}: raise batch_tokens."
    )


def pair_dataset(blocks, size, batch_size, seed=None, first_epoch=0, batches_by_tokens=None):
    """A `tf.data.Dataset` of ((source, target before), target) as a translator's `fit` takes it.

    Args:
        blocks: function of an epoch's number and random generator that gives (source, target, share) for
            each part of the pairs that is batched by itself: two lists of id lists, without START and END,
            and the share of the epoch that ends with them, 1.0 at last.
        size: how many pairs there are.
        batch_size: pairs a batch.
        seed: shuffles, in another order each epoch; None keeps the order.
        first_epoch: the number of the first epoch, for training that is resumed.
        batches_by_tokens: so many batches an epoch, alike in target tokens and not in pairs.

    Returns:
        source (B, Tk), START y₁ … y_T (B, T + 1), y₁ … y_T END (B, T + 1), each 0 in its padding.
    """

    def batches(epoch, rng):
        done = 0  # batches
        for source, target, share in blocks(epoch, rng):
            target = [[Vocabulary.START, *ids, Vocabulary.END] for ids in target]
            if batches_by_tokens is None:
                lengths = [(len(y), len(x)) for x, y in zip(source, target, strict=True)]
                chosen = bucketed(lengths, batch_size, rng)
            else:
                end = int(share * batches_by_tokens)
                chosen = token_batches([len(y) - 1 for y in target], end - done, rng)
                done = end
            for batch in chosen:
                x, y = pad([source[i] for i in batch]), pad([target[i] for i in batch])
                before = np.where(y[:, :-1] == Vocabulary.END, Vocabulary.PAD, y[:, :-1])
                yield (x, before), y[:, 1:]

    count = -(-size // batch_size) if batches_by_tokens is None else batches_by_tokens
    return _dataset(batches, ((IDS, IDS), IDS), count, seed, first_epoch)


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

    return _dataset(batches, (IDS, LABELS), -(-len(texts) // batch_size), seed, first_epoch)


def _dataset(batches, signature, count, seed, first_epoch):
    """The batches of `batches(epoch, rng)`, in another order each epoch."""
    epochs = itertools.count(first_epoch)

    def next_epoch():
        epoch = next(epochs)
        yield from batches(epoch, None if seed is None else np.random.default_rng([seed, epoch]))

    dataset = tf.data.Dataset.from_generator(next_epoch, output_signature=signature)
    return dataset.apply(tf.data.experimental.assert_cardinality(count)).prefetch(2)
