import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attention.layers import BigBirdAttention, SelfAttention

B, N, WIDTH, H, DK = 2, 23, 6, 3, 4


def array(tensor):
    return ops.convert_to_numpy(tensor)


def inputs(length=N):
    return np.random.default_rng(0).normal(size=(B, length, WIDTH)).astype("float32")


def blocks_of(layer, count, causal=False):
    """The visible blocks of each head and block, in order, repetitions included."""
    index, visible = map(array, layer.pattern(count, causal))
    return [[index[h, i][visible[h, i]].tolist() for i in range(count)] for h in range(layer.num_heads)]


@settings(deadline=None, max_examples=60)
@given(
    count=st.integers(1, 30),
    random_blocks=st.integers(0, 5),
    global_blocks=st.lists(st.integers(-3, 3), max_size=3),
    seed=st.integers(0, 99),
    causal=st.booleans(),
)
def test_each_block_sees_its_neighbours_the_global_ones_and_so_many_others(
    count, random_blocks, global_blocks, seed, causal
):
    layer = BigBirdAttention(H, DK, 2, random_blocks, global_blocks=global_blocks, seed=seed)
    global_blocks = [g for g in global_blocks if g >= 0 or not causal]
    everywhere = {g + count if g < 0 else g for g in global_blocks} & set(range(count))
    for head in blocks_of(layer, count, causal):
        for i, blocks in enumerate(head):
            assert len(blocks) == len(set(blocks))  # none is counted twice
            fixed = {i - 1, i, i + 1} & set(range(count)) | everywhere
            assert fixed <= set(blocks)
            left = set(range(max(i - 1, 0) if causal else count)) - fixed
            drawn = set(blocks) - fixed
            assert drawn <= left
            assert len(drawn) == min(random_blocks, len(left))


def test_the_random_blocks_are_spread_and_each_is_as_likely():
    count, seen = 40, np.zeros(40)
    for seed in range(200):
        layer = BigBirdAttention(2, DK, 1, 4, global_blocks=[], seed=seed)
        for blocks in blocks_of(layer, count):
            drawn = sorted(set(blocks[0]) - {0, 1})
            assert np.searchsorted([9, 19, 28], np.subtract(drawn, 2), "right").tolist() == [0, 1, 2, 3]
            seen[drawn] += 1
    np.testing.assert_allclose(seen[2:], 400 * 4 / (count - 2), atol=30)  # five standard deviations


def test_heads_and_blocks_and_seeds_differ():
    layer, other = (BigBirdAttention(2, DK, 1, 2, global_blocks=[], seed=seed) for seed in (1, 2))
    first, second = blocks_of(layer, 100)
    assert first != second
    assert first != blocks_of(other, 100)[0]
    assert len({blocks[3] for blocks in first[10:90]}) > 20  # out of the 48 or so of the first half


def test_when_causal_the_pattern_of_the_past_does_not_depend_on_the_length():
    layer = BigBirdAttention(H, DK, 2, 2, seed=1)
    long, short = (array(layer.pattern_mask(n, causal=True)) for n in (40, 31))
    np.testing.assert_array_equal(long[:, :31, :31], short)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("length", [1, 7, 22, 23])
def test_the_pattern_mask_is_made_of_the_blocks(length, causal):
    size, layer = 3, BigBirdAttention(H, DK, 3, 1, global_blocks=[0, -2], seed=1)
    count = -(-length // size)
    everywhere = {0} if causal else {0, count - 2}
    blocks = blocks_of(layer, count, causal)
    expected = [
        [
            [
                (j // size in blocks[h][i // size] or i // size in everywhere) and (j <= i or not causal)
                for j in range(length)
            ]
            for i in range(length)
        ]
        for h in range(H)
    ]
    assert array(layer.pattern_mask(length, causal=causal)).tolist() == expected


def test_one_block_is_full_attention():
    x = inputs()
    layer, dense = BigBirdAttention(H, DK, N), SelfAttention(H, DK)
    layer(x)
    dense(x)
    dense.set_weights(layer.get_weights())
    np.testing.assert_allclose(array(layer(x)), array(dense(x)), atol=1e-5)


def test_blocks_of_padding_alone_stay_finite():
    x = inputs(40)
    x[:, 9:] = np.nan
    mask = np.arange(40) < np.array([[9], [0]])
    layer = BigBirdAttention(H, DK, 4, 2, bias_initializer="ones")
    assert np.isfinite(array(layer(x, mask=mask))).all()


def test_a_seed_is_drawn_and_kept():
    layer, other = BigBirdAttention(H, DK, 2), BigBirdAttention(H, DK, 2)
    assert blocks_of(layer, 50) != blocks_of(other, 50)
    assert blocks_of(BigBirdAttention.from_config(layer.get_config()), 50) == blocks_of(layer, 50)
    keras.utils.set_random_seed(3)
    first = BigBirdAttention(H, DK, 2)
    keras.utils.set_random_seed(3)
    assert blocks_of(BigBirdAttention(H, DK, 2), 50) == blocks_of(first, 50)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block_size": 0}, "block_size is 0"),
        ({"block_size": 2.5}, "block_size is 2.5"),
        ({"num_random_blocks": -1}, "num_random_blocks is -1"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        BigBirdAttention(H, DK, **options)
