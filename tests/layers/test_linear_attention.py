import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import LinearAttention

B, N, WIDTH, H, DK, DV = 2, 23, 6, 3, 4, 5


def array(tensor):
    return ops.convert_to_numpy(ops.cast(tensor, "float32"))


def inputs(length=N):
    return np.random.default_rng(0).normal(size=(B, length, WIDTH)).astype("float32")


def with_random_weights(layer, x):
    layer(x)
    rng = np.random.default_rng(1)
    layer.set_weights([rng.normal(size=weight.shape, scale=0.5) for weight in layer.get_weights()])
    return layer


def by_hand(layer, x, mask=None, causal=False):
    """Output and weights in float64, from the weights of the layer."""
    wq, bq, wk, bk, wv, bv, wo, bo = map(np.float64, layer.get_weights())
    query, key = (np.einsum("bnd,dhk->bhnk", x, w) + b[:, None] for w, b in ((wq, bq), (wk, bk)))
    value = np.einsum("bnd,dhk->bhnk", x, wv) + bv[:, None]
    query, key = (np.where(z > 0, z + 1, np.exp(z)) for z in (query, key))
    scores = query @ np.swapaxes(key, -1, -2)
    if causal:
        scores = np.tril(scores)
    if mask is not None:
        scores = scores * mask[:, None, None, :] * mask[:, None, :, None]
    total = scores.sum(-1, keepdims=True)
    weights = np.divide(scores, total, out=np.zeros_like(scores), where=total > 0)
    return np.einsum("bhnk,hkd->bnd", weights @ value, wo) + bo, weights


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [None, (23, 9), (0, 23)])
def test_is_the_formula(causal, lengths):
    layer, x = LinearAttention(H, DK, value_dim=DV), inputs()
    with_random_weights(layer, x)
    mask = None if lengths is None else np.arange(N) < np.array(lengths)[:, None]
    results = layer(x, mask=mask, use_causal_mask=causal, return_attention_scores=True)
    for result, expected in zip(results, by_hand(layer, x, mask, causal), strict=True):
        np.testing.assert_allclose(array(result), expected, atol=2e-5)


@pytest.mark.parametrize("options", [{}, {"rotary": True}, {"num_key_value_heads": 1}, {"use_bias": False}])
def test_the_recurrent_form_equals_the_causal_one_step_by_step(options):
    layer, x = LinearAttention(H, DK, value_dim=DV, **options), inputs()
    with_random_weights(layer, x)
    expected = array(layer(x, use_causal_mask=True))
    for read in (0, 9):
        output, state = layer.prefill(x[:, :read])
        np.testing.assert_allclose(array(output), expected[:, :read], atol=1e-5)
        for i in range(read, x.shape[1]):
            output, state = layer.step(x[:, i], state)
            np.testing.assert_allclose(array(output), expected[:, i], atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"rotary": True}])
@pytest.mark.parametrize("carried", [False, True])
def test_a_prompt_may_be_padded(options, carried):
    layer, x = LinearAttention(H, DK, value_dim=DV, **options), inputs()
    with_random_weights(layer, x)
    mask = np.arange(N) < np.array([[9], [5]])
    mask[:, 9:] = True
    expected = array(layer(x, mask=mask, use_causal_mask=True))
    prompt = ops.convert_to_tensor(np.where(mask[..., None], x, np.nan)[:, :9])
    if carried:
        prompt._keras_mask = ops.convert_to_tensor(mask[:, :9])
    output, state = layer.prefill(prompt, None if carried else mask[:, :9])
    np.testing.assert_allclose(array(output), expected[:, :9], atol=1e-5)
    for i in range(9, 12):
        output, state = layer.step(x[:, i], state)
        np.testing.assert_allclose(array(output), expected[:, i], atol=1e-5)


def test_the_state_does_not_grow():
    layer = with_random_weights(LinearAttention(H, DK, value_dim=DV), inputs())
    shapes = {tuple(layer.prefill(inputs(length=n))[1][0].shape) for n in (0, 1, 40)}
    assert shapes == {(B, H, DK, DV + 1)}


def test_steps_keep_the_precision_of_the_layer():
    layer = LinearAttention(H, DK, dtype="mixed_float16")
    x = inputs()
    expected = array(layer(x, use_causal_mask=True))
    output, state = layer.prefill(x[:, :4])
    assert keras.backend.standardize_dtype(output.dtype) == "float16"
    assert keras.backend.standardize_dtype(state[0].dtype) == "float32"
    output, state = layer.step(x[:, 4], state)
    assert keras.backend.standardize_dtype(output.dtype) == "float16"
    np.testing.assert_allclose(array(output), expected[:, 4], atol=1e-2)


def test_sums_of_many_tokens_do_not_overflow_in_float16():
    layer = LinearAttention(1, 8, dtype="float16", kernel_initializer="ones")
    x = np.full((1, 4000, 8), 8, "float16")
    np.testing.assert_allclose(array(layer(x)), 8 * 8 * 8, rtol=1e-2)


def test_dropout_drops_whole_keys():
    layer, x = LinearAttention(1, N, dropout=0.5, seed=3, use_bias=False), np.eye(N, dtype="float32")[None]
    layer(x)
    *scores, _, _ = layer.get_weights()
    identity = np.eye(N)[:, None], np.eye(N)[None]
    layer.set_weights([*scores, *identity])  # so that the output is the weights
    expected = array(layer(x))[0]
    dropped = array(layer(x, training=True))[0]
    kept = dropped.any(0)
    assert 0 < kept.sum() < N
    np.testing.assert_allclose(dropped, np.where(kept, 2 * expected, 0), atol=1e-6)


@keras.saving.register_keras_serializable(package="keras_attention_tests")
def squares(x):
    return ops.concatenate([ops.ones_like(x[..., :1]), x**2], axis=-1)


def test_a_feature_map_of_ones_own_is_saved(tmp_path):
    symbol = keras.Input((None, 6))
    model = keras.Model(symbol, LinearAttention(H, DK, feature_map=squares)(symbol))
    model.save(tmp_path / "model.keras")
    x = inputs()
    reloaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(array(reloaded(x)), array(model(x)))
    assert reloaded.layers[-1].feature_map is squares


def test_an_unknown_feature_map_is_an_error():
    with pytest.raises(ValueError, match='"elu", "relu" or a function'):
        LinearAttention(H, DK, feature_map="softmax")
