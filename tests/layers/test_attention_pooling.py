import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import AttentionPooling
from keras_attention.layers.attention_pooling import weighted_sum

B, T, D, U = 2, 5, 6, 8


def array(tensor):
    return ops.convert_to_numpy(tensor)


@pytest.mark.parametrize("units", [None, U])
@pytest.mark.parametrize("heads", [1, 3])
def test_is_the_formula(units, heads, softmax):
    x = np.random.default_rng(0).normal(size=(B, T, D)).astype("float32")
    mask = np.arange(T) < np.array([[3], [5]])
    layer = AttentionPooling(units, num_heads=heads)
    output, weights = layer(x, mask=mask, return_attention_scores=True)
    vector = array(layer.vector)
    hidden = np.tanh(x if units is None else x @ array(layer.hidden.kernel) + array(layer.hidden.bias))
    assert weights.shape == ((B, T) if heads == 1 else (B, heads, T))
    for h in range(heads):
        expected = softmax(hidden @ vector[:, h], mask)
        np.testing.assert_allclose(
            array(weights) if heads == 1 else array(weights)[:, h], expected, atol=1e-6
        )
        part = slice(h * D // heads, (h + 1) * D // heads)
        np.testing.assert_allclose(
            array(output)[:, part], np.einsum("bt,btd->bd", expected, x[..., part]), atol=1e-6
        )


def test_a_sequence_without_tokens_gives_zeros():
    x = np.random.default_rng(0).normal(size=(B, T, D)).astype("float32")
    output = array(AttentionPooling(U)(x, mask=np.arange(T) < np.array([[3], [0]])))
    assert not output[1].any()
    assert output[0].any()


def test_pools_a_bidirectional_lstm_and_ends_the_mask():
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(11, D, mask_zero=True)(ids)
    x = keras.layers.Bidirectional(keras.layers.LSTM(4, return_sequences=True))(x)
    pooled, weights = AttentionPooling(U)(x, return_attention_scores=True)
    assert pooled.shape == (None, 8)
    assert weights.shape == (None, None)
    model = keras.Model(ids, [keras.layers.Dense(2)(pooled), weights])
    batch = np.array([[3, 1, 4, 0, 0, 0], [1, 5, 9, 2, 6, 0]])
    logits, weights = model(batch)
    np.testing.assert_array_equal(array(weights) > 0, batch != 0)
    alone, _ = model(batch[:1, :3])
    np.testing.assert_allclose(array(logits)[:1], array(alone), atol=1e-6)


@pytest.mark.parametrize("units", [None, U])
def test_whole_numbers_become_floats(units):
    x = np.random.default_rng(0).integers(-2, 3, (B, T, D))
    layer = AttentionPooling(units)
    expected = array(layer(x.astype("float32")))
    np.testing.assert_allclose(array(layer(x)), expected, atol=1e-6)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="num_heads is 0"):
        AttentionPooling(num_heads=0)
    with pytest.raises(ValueError, match="4 heads do not divide 6 features"):
        AttentionPooling(num_heads=4)(np.ones((B, T, D)))
    with pytest.raises(ValueError, match="batch, length, width"):
        AttentionPooling()(np.ones((B, D)))
    with pytest.raises(ValueError, match="mask is float32"):
        AttentionPooling()(np.ones((B, T, D)), mask=np.ones((B, T), "float32"))


def test_weighted_sum_head_by_head():
    rng = np.random.default_rng(0)
    weights, h = rng.normal(size=(2, 3, 5)).astype("float32"), rng.normal(size=(2, 5, 12)).astype("float32")
    expected = np.concatenate(
        [np.einsum("bt,btd->bd", weights[:, i], h[..., 4 * i : 4 * i + 4]) for i in range(3)], -1
    )
    np.testing.assert_allclose(array(weighted_sum(weights, h)), expected, atol=1e-5)
