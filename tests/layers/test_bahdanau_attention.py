import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import BahdanauAttention

B, TQ, TK, D, DV, DKEY, U = 2, 5, 7, 6, 4, 9, 8


def array(tensor):
    return ops.convert_to_numpy(tensor)


def inputs():
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype("float32") for shape in ((B, TQ, D), (B, TK, DV), (B, TK, DKEY))]


@pytest.mark.parametrize("use_bias", [True, False])
def test_is_the_formula(use_bias, softmax):
    query, value, key = inputs()
    layer = BahdanauAttention(U, use_bias=use_bias)
    layer(query, value, key)
    rng = np.random.default_rng(1)
    shapes = [(D, U), (DKEY, U), (U,), (U,)] if use_bias else [(D, U), (DKEY, U), (U,)]
    wq, wk, *b, v = (rng.normal(size=shape).astype("float32") for shape in shapes)
    layer.query_dense.set_weights([wq])
    layer.key_dense.set_weights([wk, *b])
    layer.vector.assign(v)
    mask = np.arange(TK) < np.array([[4], [6]])
    output, weights = layer(query, value, key, value_mask=mask, return_attention_scores=True)
    scores = np.zeros((B, TQ, TK))
    for n, i, j in np.ndindex(B, TQ, TK):
        scores[n, i, j] = v @ np.tanh(query[n, i] @ wq + key[n, j] @ wk + (b[0] if b else 0))
    expected = softmax(scores, mask[:, None])
    np.testing.assert_allclose(array(weights), expected, atol=2e-6)
    np.testing.assert_allclose(array(output), expected @ value, atol=2e-6)
    assert len(layer.get_weights()) == len(shapes)


def test_equals_keras_where_the_projections_are_identities():
    rng = np.random.default_rng(0)
    query, value = (rng.normal(size=(B, length, D)).astype("float32") for length in (TQ, TK))
    theirs = keras.layers.AdditiveAttention()
    expected = theirs([query, value])
    layer = BahdanauAttention(D, use_bias=False)
    layer(query, value)
    layer.query_dense.set_weights([np.eye(D)])
    layer.key_dense.set_weights([np.eye(D)])
    layer.vector.assign(theirs.scale)
    np.testing.assert_allclose(array(layer(query, value)), array(expected), atol=1e-6)


def test_step_by_step_equals_the_whole_sequence_with_keys_projected_once():
    query, value, _ = inputs()
    layer = BahdanauAttention(U)
    keys = layer.project_keys(value)
    mask = np.arange(TK) < np.array([[4], [6]])
    whole = layer(query, value, value_mask=mask, return_attention_scores=True)
    for t in range(TQ):
        step = layer(query[:, t], value, value_mask=mask, projected_keys=keys, return_attention_scores=True)
        assert step[0].shape == (B, DV)
        assert step[1].shape == (B, TK)
        for ours, expected in zip(step, whole, strict=True):
            np.testing.assert_allclose(array(ours), array(expected)[:, t], atol=1e-6)


def test_projected_keys_are_used_and_not_projected_again():
    query, value, _ = inputs()
    layer = BahdanauAttention(U)
    keys = layer.project_keys(value)
    calls = []
    layer.key_dense.call = lambda key: calls.append(key)
    layer(query[:, 0], value, projected_keys=keys)
    assert not calls


def test_a_step_carries_symbolic_shapes():
    state, value, keys = keras.Input((D,)), keras.Input((None, DV)), keras.Input((None, U))
    layer = BahdanauAttention(U)
    output, weights = layer(state, value, projected_keys=keys, return_attention_scores=True)
    assert output.shape == (None, DV)
    assert weights.shape == (None, None)
    model = keras.Model([state, value, keys], [output, weights])
    query, memory, _ = inputs()
    result = model([query[:, 0], memory, array(layer.project_keys(memory))])
    np.testing.assert_allclose(array(result[0]), array(layer(query[:, 0], memory)), atol=1e-6)


def test_the_mask_of_the_memory_reaches_a_step():
    ids = np.array([[2, 7, 1, 8, 0, 0, 0], [9, 0, 0, 0, 0, 0, 0]])
    memory = keras.layers.Embedding(11, DV, mask_zero=True)(ops.convert_to_tensor(ids))
    layer = BahdanauAttention(U)
    _, weights = layer(
        ops.ones((B, D)), memory, projected_keys=layer.project_keys(memory), return_attention_scores=True
    )
    np.testing.assert_array_equal(array(weights) > 0, ids != 0)


def test_every_weight_learns(gradients):
    layer = BahdanauAttention(U)
    layer(*inputs())
    found = gradients(lambda *x: ops.sum(layer(*x) ** 2), inputs(), layer.trainable_weights)
    assert len(found) == 4 + 3
    assert all(gradient.any() for gradient in found)


def test_an_unknown_argument_is_an_error():
    query, value, _ = inputs()
    with pytest.raises(TypeError, match="project_keys"):
        BahdanauAttention(U)(query, value, project_keys=value)
