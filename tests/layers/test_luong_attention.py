import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import LuongAttention

B, TQ, TK, D, DV, DKEY, U = 2, 5, 7, 6, 4, 9, 8


def array(tensor):
    return ops.convert_to_numpy(tensor)


def inputs(key_width=DKEY):
    rng = np.random.default_rng(0)
    return [
        rng.normal(size=shape).astype("float32") for shape in ((B, TQ, D), (B, TK, DV), (B, TK, key_width))
    ]


@pytest.mark.parametrize("score", ["dot", "general", "concat"])
def test_is_the_formula(score, softmax):
    query, value, key = inputs(D if score == "dot" else DKEY)
    layer = LuongAttention(score, units=U if score == "concat" else None)
    mask = np.arange(TK) < np.array([[4], [6]])
    output, weights = layer(query, value, key, value_mask=mask, return_attention_scores=True)
    parameters = layer.get_weights()
    formula = {
        "dot": lambda q, k: q @ k,
        "general": lambda q, k: q @ parameters[0] @ k,
        "concat": lambda q, k: parameters[1] @ np.tanh(np.concatenate([q, k]) @ parameters[0]),
    }[score]
    scores = np.zeros((B, TQ, TK))
    for n, i, j in np.ndindex(B, TQ, TK):
        scores[n, i, j] = formula(query[n, i], key[n, j])
    expected = softmax(scores, mask[:, None])
    np.testing.assert_allclose(array(weights), expected, atol=2e-6)
    np.testing.assert_allclose(array(output), expected @ value, atol=2e-6)


def test_dot_equals_keras_attention():
    query, value, key = inputs(D)
    theirs = keras.layers.Attention()([query, value, key])
    np.testing.assert_allclose(array(LuongAttention("dot")(query, value, key)), array(theirs), atol=1e-6)


@pytest.mark.parametrize("score", ["dot", "general", "concat"])
def test_step_by_step_equals_the_whole_sequence(score):
    query, value, key = inputs(D)
    layer = LuongAttention(score)
    whole = array(layer(query, value, key))
    steps = [array(layer(query[:, t], value, key)) for t in range(TQ)]
    np.testing.assert_allclose(np.stack(steps, 1), whole, atol=1e-6)


def test_concat_is_as_wide_as_the_query_unless_told():
    query, value, key = inputs()
    for units, width in ((None, D), (U, U)):
        layer = LuongAttention("concat", units=units)
        layer(query, value, key)
        assert [weight.shape for weight in layer.get_weights()] == [(D + DKEY, width), (width,)]


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="score is 'cosine'"):
        LuongAttention("cosine")
    with pytest.raises(ValueError, match='"general" has no units'):
        LuongAttention("general", units=3)
    with pytest.raises(ValueError, match="equal widths"):
        LuongAttention("dot")(*inputs())
    with pytest.raises(ValueError, match="units is 0"):
        LuongAttention("concat", units=0)
    for score in ("general", "concat"):
        with pytest.raises(ValueError, match="has no weights yet"):
            LuongAttention(score).project_keys(inputs()[2])
