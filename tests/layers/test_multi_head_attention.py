import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import MultiHeadAttention

B, TQ, TK, DQ, DKEY, DVALUE = 2, 5, 7, 6, 9, 4
H, DK, DV = 3, 8, 10


def array(tensor):
    return ops.convert_to_numpy(tensor)


def inputs(queries=TQ):
    rng = np.random.default_rng(0)
    shapes = (B, queries, DQ), (B, TK, DVALUE), (B, TK, DKEY)
    return [rng.normal(size=shape).astype("float32") for shape in shapes]


def pair(theirs, ours, *tensors):
    """Both layers with the same weights, all of them random."""
    theirs(*tensors, return_attention_scores=True)  # on JAX, its other path takes no value_dim of its own
    ours(*tensors)
    rng = np.random.default_rng(1)
    weights = [rng.normal(size=weight.shape, scale=0.5).astype("float32") for weight in theirs.get_weights()]
    theirs.set_weights(weights)
    ours.set_weights(weights)
    return theirs, ours


@pytest.mark.parametrize("use_bias", [True, False])
@pytest.mark.parametrize("output_shape", [None, 11, (3, 4)])
def test_equals_keras(use_bias, output_shape):
    query, value, key = inputs()
    options = {"value_dim": DV, "use_bias": use_bias, "output_shape": output_shape}
    theirs, ours = pair(
        keras.layers.MultiHeadAttention(H, DK, **options),
        MultiHeadAttention(H, DK, **options),
        query,
        value,
        key,
    )
    mask = np.random.default_rng(2).random((B, TQ, TK)) < 0.6
    mask[..., 0] = True
    expected = theirs(query, value, key, attention_mask=mask, return_attention_scores=True)
    results = ours(query, value, key, attention_mask=mask, return_attention_scores=True)
    for result, reference in zip(results, expected, strict=True):
        np.testing.assert_allclose(array(result), array(reference), atol=2e-6)
    assert ours.compute_output_shape(query.shape, value.shape, key.shape) == expected[0].shape


def test_equals_keras_when_causal():
    query, value, key = inputs(queries=TK)
    theirs, ours = pair(keras.layers.MultiHeadAttention(H, DK), MultiHeadAttention(H, DK), query, value, key)
    expected = theirs(query, value, key, use_causal_mask=True)
    np.testing.assert_allclose(
        array(ours(query, value, key, use_causal_mask=True)), array(expected), atol=2e-6
    )


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_grouped_queries_equal_keras(groups):
    query, value, _ = inputs()
    query = query[..., :DVALUE]  # theirs needs equal widths
    theirs, ours = pair(
        keras.layers.GroupQueryAttention(DK, 4, groups),
        MultiHeadAttention(4, DK, num_key_value_heads=groups),
        query,
        value,
    )
    np.testing.assert_allclose(array(ours(query, value)), array(theirs(query, value)), atol=2e-6)


def test_loads_the_weights_file_of_keras(tmp_path):
    query, value, key = inputs()

    def model(layer):
        symbols = [keras.Input(x.shape[1:]) for x in (query, value, key)]
        return keras.Model(symbols, layer(*symbols))

    theirs = model(keras.layers.MultiHeadAttention(H, DK, bias_initializer="normal"))
    ours = model(MultiHeadAttention(H, DK))
    theirs.save_weights(tmp_path / "model.weights.h5")
    ours.load_weights(tmp_path / "model.weights.h5")
    tensors = [query, value, key]
    np.testing.assert_allclose(array(ours(tensors)), array(theirs(tensors)), atol=2e-6)


def test_is_the_formula(softmax):
    query, value, key = inputs()
    layer = MultiHeadAttention(H, DK, value_dim=DV, bias_initializer="normal")
    mask = np.random.default_rng(2).random((B, H, TQ, TK)) < 0.6  # every head has its own mask
    mask[1, 2, 3] = False
    output, weights = layer(query, value, key, attention_mask=mask, return_attention_scores=True)
    wq, bq, wk, bk, wv, bv, wo, bo = map(np.float64, layer.get_weights())
    expected = np.broadcast_to(bo, (B, TQ, DQ)).copy()
    for h in range(H):
        scores = (query @ wq[:, h] + bq[h]) @ np.swapaxes(key @ wk[:, h] + bk[h], 1, 2) / DK**0.5
        expected_weights = softmax(scores, mask[:, h])
        np.testing.assert_allclose(array(weights)[:, h], expected_weights, atol=1e-6)
        expected += expected_weights @ (value @ wv[:, h] + bv[h]) @ wo[h]
    np.testing.assert_allclose(array(output), expected, atol=2e-6)


def test_rotary_depends_on_distances_alone():
    layer = MultiHeadAttention(H, DK, rotary=True)
    query, value, _ = inputs(queries=TK)
    plain = MultiHeadAttention(H, DK)
    plain(query, value)
    layer(query, value)
    plain.set_weights(layer.get_weights())
    # all tokens alike: without positions all weights are equal, with them they depend on i - j
    query[:], value[:] = query[:, :1], value[:, :1]
    weights = array(layer(query, value, return_attention_scores=True)[1])
    np.testing.assert_allclose(array(plain(query, value, return_attention_scores=True)[1]), 1 / TK, atol=1e-6)
    logs = np.log(weights)
    np.testing.assert_allclose(
        np.diff(logs, axis=-1)[..., 1:, 1:], np.diff(logs, axis=-1)[..., :-1, :-1], atol=1e-5
    )
    assert np.ptp(weights, axis=-1).min() > 1e-3


@pytest.mark.parametrize("rotary", [False, True])
def test_the_last_queries_equal_the_end_of_the_whole_pass(rotary):
    query, value, key = inputs(queries=TK)
    layer = MultiHeadAttention(H, DK, rotary=rotary)
    whole = array(layer(query, value, key, use_causal_mask=True))
    last = array(layer(query[:, -2:], value, key, use_causal_mask=True))
    np.testing.assert_allclose(last, whole[:, -2:], atol=2e-6)


def test_an_empty_row_gives_the_output_bias_on_every_path():
    query, value, _ = inputs()
    for dropout in (0.0, 0.1):
        layer = MultiHeadAttention(H, DK, dropout=dropout, bias_initializer="normal")
        for scores in (False, True):
            output = layer(query, value, value_mask=np.zeros((B, TK), bool), return_attention_scores=scores)
            output = array(output[0] if scores else output)
            np.testing.assert_allclose(
                output, np.broadcast_to(layer.output_dense.bias, output.shape), atol=1e-6
            )


def test_declared_scores_fit_the_layer_after_them():
    query, value = keras.Input((5, 6)), keras.Input((7, 4))
    _, scores = MultiHeadAttention(2, DK)(query, value, return_attention_scores=True)
    assert scores.shape == (None, 2, 5, 7)
    model = keras.Model([query, value], keras.layers.Dense(3)(scores))
    assert model([np.ones((1, 5, 6)), np.ones((1, 7, 4))]).shape == (1, 2, 5, 3)


def test_float16_does_not_overflow():
    layer = MultiHeadAttention(1, 64, dtype="float16", use_bias=False)
    x = np.full((1, 3, 64), 40, "float16")
    layer(x, x)
    identity = np.eye(64, dtype="float16")
    layer.set_weights([identity[:, None], identity[:, None], identity[:, None], identity[None]])
    np.testing.assert_allclose(array(layer(x, x)), 40, atol=0.1)


def test_the_projections_may_be_quantized():
    query, value, key = inputs()
    layer = MultiHeadAttention(H, DK)
    expected = array(layer(query, value, key))
    for dense in (layer.query_dense, layer.key_dense, layer.value_dense, layer.output_dense):
        dense.quantize("int8")
    output = array(layer(query, value, key))
    assert (output != expected).any()
    np.testing.assert_allclose(output, expected, atol=0.05)


def test_projections_take_callables_that_no_file_could_hold():
    class Twos(keras.initializers.Initializer):
        def __call__(self, shape, dtype=None):
            return 2 * ops.ones(shape, dtype)

    layer = MultiHeadAttention(H, DK, kernel_initializer=Twos(), kernel_regularizer=lambda w: ops.sum(w))
    query, value, _ = inputs()
    layer(query, value)
    kernels = layer.get_weights()[::2]
    assert all((kernel == 2).all() for kernel in kernels)
    np.testing.assert_allclose(sum(map(array, layer.losses)), 2 * sum(x.size for x in kernels), rtol=1e-5)


def test_the_projections_start_from_different_numbers():
    for initializer in ("glorot_uniform", keras.initializers.RandomNormal()):
        layer = MultiHeadAttention(H, DK, kernel_initializer=initializer)
        layer(inputs()[0], inputs()[0])
        assert (layer.get_weights()[0] != layer.get_weights()[2]).all()


def test_projections_take_initializers_and_regularizers():
    layer = MultiHeadAttention(
        H, DK, kernel_initializer="ones", bias_initializer="zeros", kernel_regularizer="l2"
    )
    query, value, _ = inputs()
    layer(query, value)
    count = sum(weight.size for weight in layer.get_weights()[::2])
    np.testing.assert_allclose(sum(map(array, layer.losses)), 0.01 * count, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_heads": 0, "key_dim": 8}, "num_heads is 0"),
        ({"num_heads": 3, "key_dim": 2.5}, "key_dim is 2.5"),
        ({"num_heads": 3, "key_dim": 8, "value_dim": -1}, "value_dim is -1"),
        ({"num_heads": 4, "key_dim": 8, "num_key_value_heads": 3}, "must divide num_heads"),
        ({"num_heads": 3, "key_dim": 7, "rotary": True}, "make it even"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(**options)


def test_inputs_must_be_of_rank_3():
    with pytest.raises(ValueError, match=r"query has shape \(2, 6\)"):
        MultiHeadAttention(H, DK)(np.ones((2, 6)), np.ones((2, 7, 4)))
    layer = MultiHeadAttention(H, DK)
    layer(np.ones((2, 5, 6)), np.ones((2, 7, 4)))
    with pytest.raises(ValueError, match=r"query has shape \(2, 6\)"):
        layer(np.ones((2, 6)), np.ones((2, 7, 4)))
    with pytest.raises(ValueError, match=r"value has shape \(2, 4\)"):
        layer(np.ones((2, 5, 6)), np.ones((2, 4)))
