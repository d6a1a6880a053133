import numpy as np
import pytest
from keras import ops

from keras_attention import masks


def array(mask):
    return ops.convert_to_numpy(mask)


@pytest.mark.parametrize(("queries", "keys"), [(4, 4), (3, 5), (5, 3), (1, 6)])
def test_causal_is_aligned_at_the_last_query_and_the_last_key(queries, keys):
    expected = [[j <= i + keys - queries for j in range(keys)] for i in range(queries)]
    assert array(masks.causal_mask(queries, keys)).tolist() == expected


def test_causal_of_the_last_queries_is_the_end_of_the_whole_mask():
    assert array(masks.causal_mask(2, 5)).tolist() == array(masks.causal_mask(5))[3:].tolist()


@pytest.mark.parametrize("window", [0, 1, 3, 9])
def test_window_counts_neighbours_on_each_side(window):
    expected = [[abs(j - i - 2) <= window for j in range(6)] for i in range(4)]
    assert array(masks.window_mask(4, 6, window=window)).tolist() == expected


def test_window_must_not_be_negative():
    with pytest.raises(ValueError, match="neighbours on each side"):
        masks.window_mask(4, window=-1)


def test_block_enlarges_a_pattern_and_cuts_the_last_block():
    blocks = np.array([[1, 0, 1], [0, 1, 0]], bool)
    expected = [[blocks[i // 3, j // 3] for j in range(7)] for i in range(5)]
    assert array(masks.block_mask(blocks, 3, 5, 7)).tolist() == expected
    assert masks.block_mask(blocks, 3).shape == (6, 9)


@pytest.mark.parametrize("lengths", [(7, 9), (3, 9), (6, 10)])
def test_block_needs_a_pattern_of_the_right_size(lengths):
    with pytest.raises(ValueError, match="pass a pattern of that many"):
        masks.block_mask(np.ones((2, 3), bool), 3, *lengths)


def test_padding_takes_a_mask_or_ids():
    ids = np.array([[5, 2, 0, 0], [7, 1, 3, 0]])
    assert array(masks.padding_mask(ids)).tolist() == array(masks.padding_mask(ids != 0)).tolist()
    assert array(masks.padding_mask(ids)).tolist() == (ids != 0)[:, None].tolist()


def test_combine_is_the_logical_and_and_skips_none():
    causal, padding = masks.causal_mask(3), masks.padding_mask([[1, 1, 0], [1, 0, 0]])
    expected = np.tril(np.ones((3, 3), bool)) & np.array([[[1, 1, 0]], [[1, 0, 0]]], bool)
    assert array(masks.combine_masks(causal, None, padding)).tolist() == expected.tolist()
    assert masks.combine_masks(None, None) is None


def test_combine_lets_a_mask_of_rank_3_count_for_every_head():
    rng = np.random.default_rng(0)
    # two sentences, two heads: plain broadcasting would take the sentences for heads
    heads, sentences = rng.random((2, 2, 3, 5)) < 0.5, rng.random((2, 3, 5)) < 0.5
    expected = heads & sentences[:, None]
    assert array(masks.combine_masks(heads, sentences)).tolist() == expected.tolist()


def test_pair_mask_joins_both_sides():
    query_mask, key_mask = np.array([[1, 0], [1, 1]], bool), np.array([[1, 1, 0], [1, 0, 0]], bool)
    expected = query_mask[:, :, None] & key_mask[:, None, :]
    assert array(masks.pair_mask(query_mask, key_mask)).tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_float_mask_is_an_error_that_names_the_bias(dtype):
    with pytest.raises(ValueError, match="`attention_bias`"):
        masks.combine_masks(np.triu(np.full((3, 3), -1e4), 1).astype(dtype))


def test_a_mask_of_rank_2_is_an_error_that_names_both_readings():
    with pytest.raises(ValueError, match=r"\(B, Tk\) or as \(Tq, Tk\)"):
        masks.check_attention_mask(np.ones((3, 3), bool), heads=True)


@pytest.mark.parametrize(("shape", "heads"), [((3,), True), ((2, 3, 4, 5), False), ((1, 2, 3, 4, 5), True)])
def test_other_ranks_are_errors_that_name_the_needed_shape(shape, heads):
    with pytest.raises(ValueError, match=r"\(B, Tq, Tk\)"):
        masks.check_attention_mask(np.ones(shape, bool), heads)


def test_a_window_of_another_convention_shows_the_same_keys():
    n, w = 9, 2
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    theirs = {
        "keras": (3, distance < 3),
        "huggingface": (4, distance <= 4 // 2),
        "allenai": (2, distance <= 2),
        "keys": (5, distance <= (5 - 1) // 2),
    }
    for convention, (size, visible) in theirs.items():
        assert masks.window_from(size, convention) == w
        assert array(masks.window_mask(n, window=w)).tolist() == visible.tolist()


@pytest.mark.parametrize(
    ("size", "convention", "message"),
    [
        (3, "torch", "must be one of keras"),
        (5, "huggingface", "2.5 neighbours"),
        (4, "keys", "whole number"),
        (0, "keras", "-1 neighbours"),
    ],
)
def test_a_window_that_cannot_be_converted_is_an_error(size, convention, message):
    with pytest.raises(ValueError, match=message):
        masks.window_from(size, convention)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(5, 7), (7, 5), (6, 6)])
@pytest.mark.parametrize("shape", [None, "B1k", "Bqk", "1qk", "BHqk", "B11k", "1H1k", "1Hqk"])
def test_seen_keys_and_seeing_queries_are_those_of_the_whole_mask(queries, keys, causal, shape):
    batch, heads, rng = 4, 3, np.random.default_rng(0)
    query_mask, key_mask = rng.random((batch, queries)) < 0.5, rng.random((batch, keys)) < 0.5
    query_mask[1] = key_mask[2] = False
    query_mask[3], key_mask[3] = np.arange(queries) < 2, True
    mask = None
    if shape is not None:
        sizes = {"1": 1, "B": batch, "H": heads, "q": queries, "k": keys}
        mask = rng.random([sizes[axis] for axis in shape]) < 0.4
    for rows, columns in ((query_mask, key_mask), (query_mask, None), (None, key_mask), (None, None)):
        full = np.ones((batch, heads, queries, keys), bool)
        for part in (rows, columns):
            if part is not None:
                full &= part[:, None, :, None] if part is rows else part[:, None, None]
        if mask is not None:
            full &= mask[:, None] if mask.ndim == 3 else mask
        seeing = masks.seeing_queries(rows, columns, mask)
        expected = True if seeing is None else np.broadcast_to(array(seeing), full.shape[:3])
        np.testing.assert_array_equal(full.any(-1), expected)
        if causal:
            full &= np.tri(queries, keys, keys - queries, dtype=bool)
        seen = masks.seen_keys(queries, keys, rows, columns, mask, causal)
        expected = True if seen is None else np.broadcast_to(array(seen), (batch, heads, keys))
        np.testing.assert_array_equal(full.any(-2), expected)
