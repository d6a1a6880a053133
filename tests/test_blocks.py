import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attention import blocks
from keras_attention.functional import scaled_dot_product_attention

B, H, N, S, K, D, DV = 2, 3, 4, 5, 7, 6, 8


def array(tensor):
    return ops.convert_to_numpy(tensor)


def block_inputs(seed=0):
    rng = np.random.default_rng(seed)
    shapes = (B, H, N, S, D), (B, H, N, K, D), (B, H, N, K, DV)
    return [rng.normal(size=shape).astype("float32") for shape in shapes]


@settings(deadline=None, max_examples=30)
@given(length=st.integers(0, 12), size=st.integers(1, 7))
def test_padding_splitting_and_merging_lose_nothing(length, size):
    x = np.random.default_rng(0).normal(size=(B, H, length, D)).astype("float32")
    split = blocks.split_blocks(blocks.pad_to_blocks(x, size), size)
    assert split.shape == (B, H, max(1, math.ceil(length / size)), size, D)
    merged = array(blocks.merge_blocks(split))
    np.testing.assert_array_equal(merged[:, :, :length], x)
    assert not merged[:, :, length:].any()


@pytest.mark.parametrize(("before", "after"), [(1, 1), (1, 0), (2, 0)])
def test_neighbours_are_the_blocks_around(before, after):
    x = np.arange(1, N * S + 1).reshape(1, 1, N, S, 1)
    padded = np.pad(x.ravel(), (before * S, after * S))
    expected = [padded[i * S : (i + before + 1 + after) * S] for i in range(N)]
    assert (
        array(blocks.with_neighbours(x, before, after))[0, 0, :, :, 0].tolist() == np.array(expected).tolist()
    )


def test_attending_in_blocks_is_scaled_dot_product_attention():
    query, key, value = block_inputs()
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 2, (B, 1, N, K, 1))
    pattern = rng.random((S, K)) < 0.6
    kind[..., 0, :], pattern[:, 0] = 1, True  # everyone sees something
    bias = rng.normal(size=(S, K)).astype("float32")
    mask = pattern & (kind[..., 0] == 1)[..., None, :]
    expected = scaled_dot_product_attention(
        query, key, value, mask=mask, bias=np.where(mask, bias, 0), scale=0.3
    )
    results = blocks.attend_blocks(query, key, value, kind, visible=pattern, bias=bias, scale=0.3)
    for result, reference in zip(results[:2], expected, strict=True):
        np.testing.assert_allclose(array(result), array(reference), atol=1e-6)


def test_garbage_is_set_aside_and_reaches_those_alone_who_see_it():
    query, key, value = block_inputs()
    key, value = key[:, :, :1], value[:, :, :1]  # one block of keys, seen by all
    _, _, kind = blocks.set_aside(key[:, :, 0], value[:, :, 0])
    assert array(kind).shape == (B, 1, K, 1)
    pattern = np.ones((N, S, K), bool)
    pattern[1, 2, 4] = False
    clean, *_ = blocks.attend_blocks(query, key, value, kind[:, :, None], visible=pattern)
    value[1, 2, 0, 4, 3] = np.inf
    finite_key, finite_value, kind = blocks.set_aside(key[:, :, 0], value[:, :, 0])
    assert np.flatnonzero(array(kind) == blocks.BROKEN).tolist() == [K + 4]
    output, *_ = blocks.attend_blocks(
        query, finite_key[:, :, None], finite_value[:, :, None], kind[:, :, None], visible=pattern
    )
    np.testing.assert_array_equal(array(output)[0], array(clean)[0])
    np.testing.assert_array_equal(array(output)[1, :, 1, 2], array(clean)[1, :, 1, 2])
    assert np.isnan(array(output)[1]).mean() == 1 - 1 / (N * S)


def test_a_hidden_token_is_hidden_whatever_it_holds():
    key = np.full((B, H, K, D), np.nan, "float32")
    mask = np.arange(K) < np.array([[K], [2]])
    _, _, kind = blocks.set_aside(key, key, mask)
    np.testing.assert_array_equal(array(kind)[:, 0, :, 0], np.where(mask, blocks.BROKEN, blocks.HIDDEN))


def test_replaced_rows_are_new_and_the_others_as_they_were():
    rng = np.random.default_rng(0)
    x, rows = rng.normal(size=(B, H, N, D)), rng.normal(size=(B, H, 3, D))
    expected = x.copy()
    expected[:, :, [2, 0]] = rows[:, :, :2]
    np.testing.assert_array_equal(array(blocks.replace(x, rows, np.array([2, 0, N + 1]))), expected)


def test_scattered_blocks_lie_where_they_were_seen():
    rng = np.random.default_rng(0)
    weights = rng.random((B, H, N, S, 2 * S)).astype("float32")
    index = np.stack([rng.permutation(N + 1)[:2] - 1 for _ in range(H * N)]).reshape(H, N, 2)
    expected = np.zeros((B, H, N, S, N, S))
    for h in range(H):
        for i in range(N):
            for k in range(2):
                if index[h, i, k] >= 0:
                    expected[:, h, i, :, index[h, i, k]] = weights[:, h, i, :, k * S : (k + 1) * S]
    result = blocks.scatter_blocks(weights, ops.convert_to_tensor(index), N)
    np.testing.assert_allclose(array(result), expected.reshape(B, H, N * S, N * S), atol=1e-7)
