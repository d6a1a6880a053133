import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attention.layers import LongformerAttention, MultiHeadAttention, SelfAttention
from keras_attention.masks import window_from

B, N, WIDTH, H, DK = 2, 23, 6, 3, 4


def array(tensor):
    return ops.convert_to_numpy(tensor)


def inputs(length=N):
    return np.random.default_rng(0).normal(size=(B, length, WIDTH)).astype("float32")


def with_random_weights(layer, x):
    layer(x)
    rng = np.random.default_rng(1)
    layer.set_weights([rng.normal(size=weight.shape, scale=0.5) for weight in layer.get_weights()])
    return layer


@settings(deadline=None, max_examples=40)
@given(
    length=st.integers(1, 20),
    window=st.integers(0, 22),
    tokens=st.sets(st.integers(0, 25), max_size=4),
    causal=st.booleans(),
)
def test_the_pattern_is_the_window_and_the_global_tokens(length, window, tokens, causal):
    layer = LongformerAttention(H, DK, window, global_tokens=tokens)
    expected = [
        [
            (abs(i - j) <= window or i in tokens or j in tokens) and (j <= i or not causal)
            for j in range(length)
        ]
        for i in range(length)
    ]
    assert array(layer.pattern_mask(length, causal=causal)).tolist() == expected


@pytest.mark.parametrize("window", [0, 1, 4, 5, 22, 40])
@pytest.mark.parametrize("causal", [False, True])
def test_equals_the_sliding_window_of_keras(window, causal):
    x = inputs()
    theirs = keras.layers.GroupQueryAttention(DK, H, H, sliding_window=window + 1)
    ours = LongformerAttention(H, DK, window=window_from(window + 1, "keras"))
    theirs(x, x)
    with_random_weights(ours, x)
    theirs.set_weights(ours.get_weights())
    expected = array(theirs(x, x, use_causal_mask=causal))
    np.testing.assert_allclose(array(ours(x, use_causal_mask=causal)), expected, atol=1e-5)


@pytest.mark.parametrize("window", [N - 1, N, 3 * N])
def test_a_window_as_long_as_the_sequence_is_full_attention(window):
    x = inputs()
    layer = with_random_weights(LongformerAttention(H, DK, window), x)
    dense = SelfAttention(H, DK)
    dense(x)
    dense.set_weights(layer.get_weights())
    np.testing.assert_allclose(array(layer(x)), array(dense(x)), atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("options", [{}, {"rotary": True, "num_key_value_heads": 1}])
def test_global_tokens_look_by_projections_of_their_own(causal, options):
    x, tokens = inputs(), [0, 9, 40]
    mask = np.arange(N) < np.array([[N], [14]])
    layer = LongformerAttention(H, DK, 2, global_tokens=tokens, global_projections=True, **options)
    with_random_weights(layer, x)
    weights = layer.get_weights()
    local, others = SelfAttention(H, DK, **options), SelfAttention(H, DK, **options)
    for dense, own in ((local, weights[:8]), (others, [*weights[8:], *weights[6:8]])):
        dense(x)
        dense.set_weights(own)
    pattern = layer.pattern_mask(N, causal=causal)[None]
    expected = array(local(x, mask=mask, attention_mask=pattern))
    expected[:, [0, 9]] = array(others(x, mask=mask, attention_mask=pattern))[:, [0, 9]]
    np.testing.assert_allclose(array(layer(x, mask=mask, use_causal_mask=causal)), expected, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
def test_global_tokens_beyond_the_end_are_ignored(causal):
    x = inputs(22)  # a whole number of windows: no padding stands where they would be
    layer = LongformerAttention(H, DK, 2, global_tokens=[0, 22, 30])
    with_random_weights(layer, x)
    other = LongformerAttention(H, DK, 2, global_tokens=1)
    other(x)
    other.set_weights(layer.get_weights())
    expected = array(other(x, use_causal_mask=causal))
    np.testing.assert_allclose(array(layer(x, use_causal_mask=causal)), expected, atol=1e-5)


def test_garbage_in_the_future_does_not_reach_a_global_token():
    x = inputs()
    layer = LongformerAttention(H, DK, 2, global_tokens=[9], global_projections=True)
    with_random_weights(layer, x)
    expected = array(layer(x, use_causal_mask=True))
    x[:, 15] = np.nan
    output = array(layer(x, use_causal_mask=True))
    np.testing.assert_allclose(output[:, :15], expected[:, :15], atol=1e-6)


def test_dense_weights_are_the_start_of_the_global_projections():
    x = inputs()
    dense = MultiHeadAttention(H, DK)
    dense(x, x)
    layer = LongformerAttention(H, DK, 2, global_tokens=2, global_projections=True)
    plain = LongformerAttention(H, DK, 2, global_tokens=2)
    layer(x)
    plain(x)
    layer.set_weights(dense.get_weights() + dense.get_weights()[:6])
    plain.set_weights(dense.get_weights())
    np.testing.assert_allclose(array(layer(x)), array(plain(x)), atol=1e-6)
    np.testing.assert_allclose(array(layer(x))[:, :2], array(dense(x, x))[:, :2], atol=1e-5)


def test_dropout_drops_single_weights():
    layer = LongformerAttention(1, N, 3, global_tokens=1, dropout=0.5, seed=3, use_bias=False)
    x = np.eye(N, dtype="float32")[None]
    layer(x)
    *scores, _, _ = layer.get_weights()
    layer.set_weights([*scores, np.eye(N)[:, None], np.eye(N)[None]])  # so that the output is the weights
    expected, dropped = array(layer(x))[0], array(layer(x, training=True))[0]
    kept = dropped > 0
    pattern = array(layer.pattern_mask(N))
    assert 0.3 < kept[pattern].mean() < 0.7
    assert not kept[~pattern].any()
    np.testing.assert_allclose(dropped, np.where(kept, 2 * expected, 0), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": -1}, "window is -1"),
        ({"window": 2.5}, "window is 2.5"),
        ({"window": 1, "global_tokens": -1}, "global_tokens is -1"),
        ({"window": 1, "global_tokens": [0, -1]}, "position in global_tokens is -1"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        LongformerAttention(H, DK, **options)
