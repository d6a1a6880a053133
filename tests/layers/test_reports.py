"""What users reported of other attention layers, each as the behaviour that is right.

Of Keras 3.15, keras-hub, keras-self-attention and `attention`.
"""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import (
    BahdanauAttention,
    LuongAttention,
    MultiHeadAttention,
    ScaledDotProductAttention,
    SelfAttention,
)


def array(tensor):
    return ops.convert_to_numpy(tensor)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_the_inputs_keep_their_mask_for_the_next_layer():
    ids = np.array([[3, 1, 0, 0], [2, 0, 0, 0]])
    memory = keras.layers.Embedding(5, 6, mask_zero=True)(ids)
    query = ops.convert_to_tensor(normal(2, 3, 6))
    first, second = MultiHeadAttention(2, 4), MultiHeadAttention(2, 4)
    hidden = keras.layers.LayerNormalization()(first(query, memory))
    _, weights = second(hidden, memory, return_attention_scores=True)
    assert not array(weights)[np.broadcast_to((ids == 0)[:, None, None], weights.shape)].any()


def test_an_explicit_query_mask_counts():
    layer, x = MultiHeadAttention(2, 4), normal(2, 3, 6)
    mask = np.array([[True, False, True], [False, False, True]])
    _, weights = layer(x, x, query_mask=mask, return_attention_scores=True)
    np.testing.assert_allclose(array(weights).sum(-1), np.broadcast_to(mask[:, None], (2, 2, 3)), atol=1e-6)


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_a_fully_masked_row_is_zero_on_every_path(scores, dropout):
    layer, x = MultiHeadAttention(2, 4, dropout=dropout, use_bias=False), normal(2, 3, 6)
    output = layer(x, x, value_mask=np.zeros((2, 3), bool), return_attention_scores=scores)
    assert not array(output[0] if scores else output).any()


def test_float16_does_not_overflow_before_the_scale():
    layer, x = ScaledDotProductAttention(dtype="float16"), np.full((1, 3, 64), 40, "float16")
    np.testing.assert_array_equal(array(layer(x, x)), x)  # 40² · 64 = 102400 > 65504


def test_float16_with_all_keys_masked_is_zero():
    layer = LuongAttention("dot", dtype="float16")
    query, value = np.full((1, 2, 1), -10, "float16"), np.full((1, 3, 1), 10, "float16")
    assert not array(layer(query, value, value_mask=np.zeros((1, 3), bool))).any()


def test_the_symbolic_scores_have_the_real_shape():
    query, value = keras.Input((5, 8)), keras.Input((7, 8))
    _, weights = MultiHeadAttention(2, 4)(query, value, return_attention_scores=True)
    assert weights.shape == (None, 2, 5, 7)
    model = keras.Model([query, value], keras.layers.Dense(3)(weights))
    assert model([normal(1, 5, 8), normal(1, 7, 8)]).shape == (1, 2, 5, 3)


def test_an_additive_float_mask_is_refused_and_not_inverted():
    x, mask = normal(1, 4, 6), np.triu(np.full((4, 4), -1e9, "float32"), 1)[None]
    layer = SelfAttention(2, 3)
    with pytest.raises(ValueError, match="attention_bias"):
        layer(x, attention_mask=mask)
    _, weights = layer(x, attention_bias=mask, return_attention_scores=True)
    assert not np.triu(array(weights), 1).any()


def test_a_mask_of_rank_2_is_refused_where_both_readings_fit():
    x = normal(3, 3, 6)
    with pytest.raises(ValueError, match=r"\(B, Tk\) or as \(Tq, Tk\)"):
        SelfAttention(2, 3)(x, attention_mask=np.tri(3, dtype=bool))


def test_dot_products_are_scaled_by_the_root_of_the_width():
    query, key = normal(1, 200, 64), normal(1, 8, 64, seed=1)
    _, scaled = ScaledDotProductAttention()(query, key, return_attention_scores=True)
    _, plain = ScaledDotProductAttention(scale=1)(query, key, return_attention_scores=True)
    top_scaled, top_plain = (array(weights).max(-1).mean() for weights in (scaled, plain))
    assert top_scaled < 0.5 < 0.85 < top_plain


def test_additive_attention_has_its_weights_and_takes_two_widths():
    layer = BahdanauAttention(5)
    assert layer(normal(2, 3, 4), normal(2, 7, 6)).shape == (2, 3, 6)
    shapes = sorted(tuple(weight.shape) for weight in layer.weights)
    assert shapes == [(4, 5), (5,), (5,), (6, 5)]  # W_q, b, v, W_k


def test_causal_attention_wants_three_axes_and_says_so():
    with pytest.raises(ValueError, match=r"\(batch, length, width\)"):
        SelfAttention(2, 3)(normal(2, 3, 4, 6), use_causal_mask=True)


def test_nan_behind_the_mask_changes_no_bit():
    layer, x, mask = SelfAttention(2, 3), normal(2, 5, 6), np.arange(5) < [[3], [5]]
    expected = array(layer(x, mask=mask))
    output = array(layer(np.where(mask[..., None], x, np.nan), mask=mask))
    np.testing.assert_array_equal(output[mask], expected[mask])


def test_the_last_token_alone_sees_what_it_sees_in_the_whole():
    layer, x = MultiHeadAttention(2, 4), normal(2, 5, 6)
    whole = array(layer(x, x, use_causal_mask=True))
    last = array(layer(x[:, -1:], x, use_causal_mask=True))
    np.testing.assert_allclose(last, whole[:, -1:], atol=1e-6)


def test_padding_gets_no_weight_from_anyone():
    _, weights = SelfAttention(1, 3)(
        normal(1, 3, 6), mask=np.array([[True, True, False]]), return_attention_scores=True
    )
    assert not array(weights)[..., 2].any()


def test_a_saved_model_loads_without_custom_objects(tmp_path):
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(9, 6, mask_zero=True)(ids)
    model = keras.Model(ids, SelfAttention(2, 3)(x))
    model.save(tmp_path / "model.keras")
    tokens = np.array([[1, 2, 0]])
    np.testing.assert_array_equal(
        array(keras.saving.load_model(tmp_path / "model.keras")(tokens)), array(model(tokens))
    )


@pytest.mark.parametrize("name", ["key_mask", "value_mask"])
def test_a_mask_of_the_keys_counts_under_either_name(name):
    layer, x = ScaledDotProductAttention(), normal(1, 3, 6)
    _, weights = layer(x, x, x, **{name: np.array([[True, False, True]])}, return_attention_scores=True)
    assert not array(weights)[..., 1].any()
