import numpy as np
import pytest

from keras_attention.data import Vocabulary
from keras_attention.models.batches import bucketed, pad, pair_dataset, token_batches

SOURCE = [[10 + i] * (i % 5) for i in range(23)]  # some are empty
TARGET = [[40 + i] * ((7 * i) % 4) for i in range(23)]


def test_pad():
    np.testing.assert_array_equal(pad([[5, 6, 7], [], [8]]), [[5, 6, 7], [0, 0, 0], [8, 0, 0]])
    assert pad([[], []]).shape == (2, 1)
    assert pad([]).shape == (0, 1)
    assert pad([[5]]).dtype == np.int32


@pytest.mark.parametrize("rng", [None, 3])
@pytest.mark.parametrize("pool", [None, 1, 7, 8, 100])
@pytest.mark.parametrize("size", [1, 4, 23, 50])
def test_every_index_is_in_one_batch(size, pool, rng):
    lengths = np.random.default_rng(0).integers(1, 9, 23).tolist()
    batches = bucketed(lengths, size, None if rng is None else np.random.default_rng(rng), pool)
    assert sorted(i for batch in batches for i in batch) == list(range(23))
    assert all(1 <= len(batch) <= size for batch in batches)


def test_batches_of_a_pool_have_sentences_of_about_one_length():
    lengths = np.random.default_rng(0).permutation(20).tolist()
    batches = bucketed(lengths, 4, np.random.default_rng(1), pool=20)
    found = [sorted(lengths[i] for i in batch) for batch in batches]
    assert sorted(found) == [list(range(start, start + 4)) for start in range(0, 20, 4)]
    assert found != sorted(found)


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("count", [1, 4, 7])
def test_batches_of_equally_many_tokens(count, seed):
    lengths = np.random.default_rng(0).integers(1, 9, 60).tolist()
    batches = token_batches(lengths, count, None if seed is None else np.random.default_rng(seed))
    assert len(batches) == count
    assert sorted(i for batch in batches for i in batch) == list(range(60))
    for batch in batches:
        tokens = [lengths[i] for i in batch]
        assert abs(sum(tokens) - sum(lengths) / count) <= max(lengths)
        assert max(tokens) - min(tokens) <= 8 // count + 2
    shuffled = [max(lengths[i] for i in batch) for batch in batches]
    assert (shuffled == sorted(shuffled)) == (seed is None or count == 1)


def test_a_sentence_that_fills_more_than_a_batch_is_an_error():
    with pytest.raises(
        ValueError, match="sentence of 9 tokens is too long for batches of 4: raise batch_tokens"
    ):
        token_batches([1, 1, 9, 2], 3)


def test_a_sentence_of_somewhat_more_than_a_batch_has_one_for_itself():
    """Without that, batch 2 of 4 would be empty."""
    batches = token_batches([1, 1, 1, 1, 1, 2, 2, 9], 4)
    assert sorted(batches[-1]) == [7]
    assert all(batches)


def test_no_sentence_makes_no_batch():
    assert bucketed([], 4, pool=0) == []


def pairs_of(batch_size, *args, **kwargs):
    return pair_dataset(lambda epoch, rng: [(SOURCE, TARGET, 1.0)], len(SOURCE), batch_size, *args, **kwargs)


def batches_of(dataset):
    return [((x.numpy(), before.numpy()), y.numpy()) for (x, before), y in dataset]


def without_padding(row):
    return row[row != Vocabulary.PAD].tolist()


@pytest.mark.parametrize("seed", [None, 5])
def test_batches_hold_every_pair_once_with_start_and_end(seed):
    dataset = pairs_of(4, seed)
    batches = batches_of(dataset)
    assert len(batches) == len(dataset) == 6
    pairs = []
    for (x, before), y in batches:
        assert {array.dtype for array in (x, before, y)} == {np.dtype("int32")}
        assert len(x) == len(before) <= 4
        assert before.shape == y.shape
        for source, shifted, target in zip(x, before, y, strict=True):
            ids = without_padding(target)
            assert ids.pop() == Vocabulary.END
            assert without_padding(shifted) == [Vocabulary.START, *ids]
            assert shifted[0] == Vocabulary.START
            assert (shifted != 0).sum() == (target != 0).sum()
            pairs.append((without_padding(source), ids))
    assert sorted(pairs) == sorted(zip(SOURCE, TARGET, strict=True))


def test_batches_by_tokens_hold_every_pair_once():
    dataset = pair_dataset(
        lambda epoch, rng: [(SOURCE, TARGET, 1.0)], len(SOURCE), 100, seed=5, batches_by_tokens=4
    )
    batches = batches_of(dataset)
    assert len(batches) == len(dataset) == 4
    pairs = [
        (without_padding(x), without_padding(y)[:-1])
        for (source, _), target in batches
        for x, y in zip(source, target, strict=True)
    ]
    assert sorted(pairs) == sorted(zip(SOURCE, TARGET, strict=True))


def order(dataset):
    return [x.tolist() for (x, _), _ in batches_of(dataset)]


def test_each_epoch_has_another_order_and_a_seed_repeats_them():
    one, two = pairs_of(4, seed=5), pairs_of(4, seed=5)
    epochs = [order(one) for _ in range(3)]
    assert epochs == [order(two) for _ in range(3)]
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    assert order(pairs_of(4, seed=6)) != epochs[0]
    assert order(pairs_of(4, seed=5, first_epoch=2)) == epochs[2]


def test_without_a_seed_the_order_stays():
    dataset = pairs_of(4)
    assert order(dataset) == order(dataset)


def test_the_pairs_may_be_encoded_anew_each_epoch():
    dataset = pair_dataset(lambda epoch, rng: [([[epoch + 4]], [[epoch + 5, 9]], 1.0)], 1, 4, first_epoch=3)
    for epoch in (3, 4):
        ((x, before), y) = batches_of(dataset)[0]
        assert (x.tolist(), before.tolist(), y.tolist()) == (
            [[epoch + 4]],
            [[Vocabulary.START, epoch + 5, 9]],
            [[epoch + 5, 9, Vocabulary.END]],
        )
