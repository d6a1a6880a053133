"""Batches of pairs that stay in their file: a block of them at a time is encoded and batched."""

from itertools import islice

from keras_attention.models.batches import too_long

BLOCK = 40  # batches, as many as `bucketed` sorts by length together


def encoded_blocks(pairs, encode, epoch, rng, batch_size, batches_by_tokens=None):
    """`StreamedPairs` in the order of an epoch, as `pair_dataset` takes its blocks.

    A block holds BLOCK batches: so many pairs, or so many characters of the target where the batches are
    alike in tokens. The last block has up to twice as many.

    Args:
        encode: (source and target sentences, epoch, number of the block) → their ids.
        rng: None keeps the order.
        The others as in `pair_dataset`.
    """
    total, size = len(pairs), BLOCK * batch_size
    if batches_by_tokens is not None:
        total, size = pairs.characters, BLOCK * pairs.characters / batches_by_tokens
    done = begun = number = 0
    block = []
    for row in iter(pairs) if rng is None else pairs.shuffled(rng):
        block.append(row)
        done += 1 if batches_by_tokens is None else len(row[1]) + 1
        if done - begun >= size <= total - done or done == total:
            yield *encode(list(zip(*block, strict=True)), epoch, number), done / total
            block, begun, number = [], done, number + 1


def count_tokens(pairs, encode, batch_tokens=None):
    """The target tokens of `StreamedPairs`, each END among them; `encode` refuses what is too long for it.

    Raises:
        ValueError: a sentence is longer than a batch.
    """
    tokens = 0
    rows = iter(pairs.track(pairs, "Counting their tokens", len(pairs)))
    while block := list(islice(rows, 1000)):
        lengths = [len(ids) + 1 for ids in encode(list(zip(*block, strict=True)))[1]]
        tokens += sum(lengths)
        if batch_tokens is not None and max(lengths) > batch_tokens:
            raise too_long(max(lengths), batch_tokens)
    return tokens
