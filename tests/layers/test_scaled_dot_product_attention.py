import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import ScaledDotProductAttention

B, TQ, TK, D, DV = 2, 5, 7, 64, 6


def array(tensor):
    return ops.convert_to_numpy(tensor)


def inputs():
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype("float32") for shape in ((B, TQ, D), (B, TK, DV), (B, TK, D))]


@pytest.mark.parametrize("scale", [None, 0.5])
def test_is_the_formula(scale, softmax):
    query, value, key = inputs()
    mask = np.arange(TK) < np.array([[4], [6]])
    output, weights = ScaledDotProductAttention(scale)(
        query, value, key, key_mask=mask, return_attention_scores=True
    )
    scores = query @ np.swapaxes(key, 1, 2) * (scale or D**-0.5)
    np.testing.assert_allclose(array(weights), softmax(scores, mask[:, None]), atol=1e-6)
    np.testing.assert_allclose(array(output), softmax(scores, mask[:, None]) @ value, atol=1e-6)


def test_with_scale_1_equals_keras_attention():
    query, value, key = inputs()
    mask = np.arange(TK) < np.array([[4], [6]])
    ours = ScaledDotProductAttention(scale=1)(query, value, key, value_mask=mask)
    theirs = keras.layers.Attention()([query, value, key], mask=[None, mask])
    np.testing.assert_allclose(array(ours), array(theirs), atol=1e-6)


def test_scaling_keeps_wide_queries_from_attending_to_one_key_alone():
    query, value, key = inputs()
    top = [
        array(ScaledDotProductAttention(scale)(query, value, key, return_attention_scores=True)[1])
        .max(-1)
        .mean()
        for scale in (None, 1)
    ]
    assert top[0] < 0.5 < 0.8 < top[1]


def test_a_key_mask_alone_hides_keys():
    query, value, key = inputs()
    mask = np.arange(TK) < np.array([[4], [6]])
    _, weights = ScaledDotProductAttention()(query, value, key, key_mask=mask, return_attention_scores=True)
    np.testing.assert_array_equal((array(weights) > 0).all(1), mask)


def test_key_and_value_masks_both_count():
    query, value, key = inputs()
    value_mask, key_mask = np.arange(TK) < np.array([[4], [6]]), np.arange(TK) > np.array([[1], [0]])
    _, weights = ScaledDotProductAttention()(
        query, value, key, value_mask=value_mask, key_mask=key_mask, return_attention_scores=True
    )
    np.testing.assert_array_equal((array(weights) > 0).all(1), value_mask & key_mask)


def test_one_step_equals_a_sequence_of_one():
    query, value, key = inputs()
    layer = ScaledDotProductAttention()
    output, weights = layer(query[:, 2], value, key, return_attention_scores=True)
    whole = layer(query, value, key, return_attention_scores=True)
    np.testing.assert_allclose(array(output), array(whole[0])[:, 2], atol=1e-6)
    np.testing.assert_allclose(array(weights), array(whole[1])[:, 2], atol=1e-6)


def test_float16_with_negative_scores_and_all_keys_hidden_stays_finite():
    query, value = np.full((1, 2, 4), -10, "float16"), np.full((1, 3, 4), 10, "float16")
    layer = ScaledDotProductAttention(scale=1, dtype="float16")
    output, weights = layer(query, value, value_mask=np.zeros((1, 3), bool), return_attention_scores=True)
    assert not array(output).any()
    assert not array(weights).any()


def test_widths_must_agree():
    with pytest.raises(ValueError, match="equal widths"):
        ScaledDotProductAttention()(np.ones((B, TQ, 3)), np.ones((B, TK, 4)))


def test_heads_of_ones_own_are_declared_and_masked():
    rng = np.random.default_rng(0)
    query, value = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 7, 4))
    mask = np.arange(7) < np.array([[4], [6]])
    results = ScaledDotProductAttention()(query, value, value_mask=mask, return_attention_scores=True)
    declared = ScaledDotProductAttention()(
        keras.Input((3, 5, 4)), keras.Input((3, 7, 4)), return_attention_scores=True
    )
    for result, symbol in zip(results, declared, strict=True):
        assert symbol.shape[1:] == result.shape[1:]
    one = ScaledDotProductAttention()(query[:, 1], value[:, 1], value_mask=mask)
    np.testing.assert_allclose(ops.convert_to_numpy(results[0])[:, 1], ops.convert_to_numpy(one), atol=1e-6)
