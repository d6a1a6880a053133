import math

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import PositionalEncoding

B, T, D = 2, 5, 6


def array(tensor):
    return ops.convert_to_numpy(tensor)


def sequence(length=T, width=D):
    return np.random.default_rng(0).normal(size=(B, length, width)).astype("float32")


@pytest.mark.parametrize("width", [6, 7])
@pytest.mark.parametrize("first", [0, 40])
def test_sinusoidal_is_the_formula(width, first):
    expected = np.zeros((T, width))
    for t in range(T):
        for i in range(width):
            angle = (first + t) / 10000 ** (2 * (i // 2) / width)
            expected[t, i] = math.cos(angle) if i % 2 else math.sin(angle)
    x = sequence(width=width)
    np.testing.assert_allclose(array(PositionalEncoding()(x, first=first)) - x, [expected] * B, atol=1e-5)


def test_learned_positions_are_the_rows_of_a_weight():
    x, layer = sequence(), PositionalEncoding("learned", max_length=9)
    layer(x)
    (table,) = layer.get_weights()
    assert table.shape == (9, D)
    assert len(np.unique(table)) == table.size
    np.testing.assert_allclose(array(layer(x, first=3)) - x, [table[3:8]] * B, atol=1e-6)


def test_learned_positions_are_learned(gradients):
    x, layer = sequence(), PositionalEncoding("learned", max_length=9)
    layer(x)
    slope, _ = gradients(lambda x: ops.sum(layer(x) ** 2), [x], layer.trainable_weights)
    np.testing.assert_allclose(slope[:T], 2 * array(layer(x)).sum(0), rtol=1e-5)
    assert not slope[T:].any()


@pytest.mark.parametrize("options", [{}, {"kind": "learned", "max_length": 8}])
def test_step_by_step_is_the_whole(options):
    x, layer = sequence(), PositionalEncoding(**options)
    steps = [array(layer(x[:, t : t + 1], first=ops.convert_to_tensor(t))) for t in range(T)]
    np.testing.assert_allclose(np.concatenate(steps, 1), array(layer(x)), atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"kind": "learned", "max_length": 8}])
def test_a_keras_layer(options, tmp_path):
    ids = np.array([[3, 1, 4, 0, 0], [1, 5, 0, 0, 0]])
    tokens = keras.Input((None,), dtype="int32")
    embedded = keras.layers.Embedding(7, D, mask_zero=True)(tokens)
    output = PositionalEncoding(**options)(embedded)
    assert output.shape == (None, None, D)
    model = keras.Model(tokens, output)
    expected = model(ids)
    np.testing.assert_array_equal(array(expected._keras_mask), ids != 0)
    model.save(tmp_path / "model.keras")
    np.testing.assert_array_equal(
        array(keras.saving.load_model(tmp_path / "model.keras")(ids)), array(expected)
    )
    layer = PositionalEncoding(**options, dtype="mixed_float16")
    assert keras.backend.standardize_dtype(layer(sequence()).dtype) == "float16"
    assert layer(sequence(0)).shape == (B, 0, D)


def test_too_many_positions_are_an_error():
    layer = PositionalEncoding("learned", max_length=6)
    layer(sequence())
    with pytest.raises(ValueError, match="6 learned positions, but 7 are needed"):
        layer(sequence(), first=2)


def test_too_many_positions_in_a_compiled_function_give_nan(jit):
    layer = PositionalEncoding("learned", max_length=6)
    x = sequence()
    expected = array(layer(x))
    found = array(jit(lambda x, first: layer(x, first=first))(x, 2))
    assert np.isfinite(found[:, :4]).all()
    assert np.isnan(found[:, 4:]).all()
    np.testing.assert_allclose(found[:, :3] - x[:, :3], (expected - x)[:, 2:], atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "rotary"}, "kind is 'rotary', but it must be one of sinusoidal, learned"),
        ({"kind": "learned"}, "max_length is None: learned positions need it"),
        ({"max_length": 9}, "max_length is 9: .* sinusoidal have no end"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        PositionalEncoding(**options)
