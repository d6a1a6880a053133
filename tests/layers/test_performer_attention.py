import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import PerformerAttention, SelfAttention

B, N, WIDTH, H, DK, DV = 2, 23, 6, 3, 4, 5


def array(tensor):
    return ops.convert_to_numpy(ops.cast(tensor, "float32"))


def inputs(scale=1.0):
    return (scale * np.random.default_rng(0).normal(size=(B, N, WIDTH))).astype("float32")


def with_random_weights(layer, x):
    layer(x)
    rng = np.random.default_rng(1)
    layer.set_weights([rng.normal(size=weight.shape, scale=0.5) for weight in layer.get_weights()])
    return layer


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [(N, N), (N, 9)])
def test_is_the_formula(causal, lengths):
    layer, x = PerformerAttention(H, DK, num_features=9, value_dim=DV, seed=5), inputs()
    with_random_weights(layer, x)
    mask = np.arange(N) < np.array(lengths)[:, None]
    wq, bq, wk, bk, wv, bv, wo, bo = map(np.float64, layer.get_weights())
    query, key, value = (
        np.einsum("bnd,dhk->bhnk", x, w) + b[:, None] for w, b in ((wq, bq), (wk, bk), (wv, bv))
    )
    query, key = (
        np.exp(z / DK**0.25 @ layer.projection.T - np.square(z).sum(-1, keepdims=True) / DK**0.5 / 2)
        for z in (query, key)
    )
    scores = (query @ np.swapaxes(key, -1, -2)) * mask[:, None, None, :] * mask[:, None, :, None]
    scores = np.tril(scores) if causal else scores
    weights = scores / np.maximum(scores.sum(-1, keepdims=True), 1e-300)
    expected = np.einsum("bhnk,hkd->bnd", weights @ value, wo) + bo
    results = layer(x, mask=mask, use_causal_mask=causal, return_attention_scores=True)
    np.testing.assert_allclose(array(results[0]), expected, atol=1e-4)
    np.testing.assert_allclose(array(results[1]), weights, atol=1e-4)


def attend(layer, query, key, value, causal=False):
    options = {"query_mask": None, "key_mask": None, "attention_mask": None, "bias": None}
    output, _ = layer.attend_heads(query, key, value, causal=causal, dropout=None, **options)
    return array(output)


def error(num_features, orthogonal=True, seeds=40):
    """Root mean square against dense attention, over several seeds, where |x + y|² is about 1."""
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(3, 1, 2, 50, 16)).astype("float32")
    query, key = 0.35 * query, 0.35 * key
    expected = attend(SelfAttention(2, 16), query, key, value)
    layers = (PerformerAttention(2, 16, num_features, orthogonal=orthogonal, seed=s) for s in range(seeds))
    return np.sqrt(np.mean([np.square(attend(layer, query, key, value) - expected) for layer in layers]))


def test_the_error_falls_with_the_root_of_the_number_of_features():
    assert error(32) / error(512) == pytest.approx(4, rel=0.15)


def test_orthogonal_features_are_better():
    assert error(32) < 0.95 * error(32, orthogonal=False)


def test_it_is_useless_for_64_features_of_unit_variance():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(3, 1, 1, 512, 64)).astype("float32")
    expected = attend(SelfAttention(1, 64), query, key, value)
    output = attend(PerformerAttention(1, 64, num_features=256, seed=0), query, key, value)
    assert np.linalg.norm(output - expected) > np.linalg.norm(expected)


def test_the_recurrent_form_equals_the_causal_one_step_by_step():
    layer, x = PerformerAttention(H, DK, num_features=9, value_dim=DV, seed=5), inputs()
    with_random_weights(layer, x)
    expected = array(layer(x, use_causal_mask=True))
    _, state = layer.prefill(x[:, :7])
    for i in range(7, N):
        output, state = layer.step(x[:, i], state)
        np.testing.assert_allclose(array(output), expected[:, i], atol=1e-5)
        assert state[0].shape == (B, H, 9, DV + 1)


def test_a_key_with_large_features_does_not_move_what_came_before():
    query, key, value = np.random.default_rng(0).normal(size=(3, 1, 1, N, 16)).astype("float32")
    layer = PerformerAttention(1, 16, num_features=9, seed=5)
    expected = attend(layer, query, key, value, causal=True)
    key[..., 12, :] = 2 * layer.projection[3]  # 16^¼ · W_3, of all keys that with the largest feature
    output = attend(layer, query, key, value, causal=True)
    np.testing.assert_array_equal(output[:, :, :12], expected[:, :, :12])
    assert not np.isclose(output[:, :, 12:], expected[:, :, 12:]).all(-1).any()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [1e2, 1e4, 1e8])
def test_large_inputs_stay_finite(causal, scale):
    layer, x = PerformerAttention(H, DK, num_features=9, seed=5), inputs(scale)
    output, weights = layer(x, use_causal_mask=causal, return_attention_scores=True)
    np.testing.assert_allclose(array(weights).sum(-1), 1, atol=1e-3)
    assert np.isfinite(array(output)).all()


def test_features_are_float32_under_float16():
    x = inputs(8)
    exact, half = (
        PerformerAttention(H, DK, num_features=9, seed=5, dtype=dtype)
        for dtype in ("float32", "mixed_float16")
    )
    exact(x)
    half(x)
    half.set_weights(exact.get_weights())
    query, _, _ = half.features(*(np.ones((1, 1, 2, DK), "float16"),) * 3)
    assert keras.backend.standardize_dtype(query.dtype) == "float32"
    np.testing.assert_allclose(array(half(x)), array(exact(x)), rtol=0.1, atol=0.1)


def test_a_seed_is_drawn_and_kept():
    layer, other = PerformerAttention(H, DK), PerformerAttention(H, DK)
    assert (layer.projection != other.projection).any()
    again = PerformerAttention.from_config(layer.get_config())
    np.testing.assert_array_equal(again.projection, layer.projection)
    keras.utils.set_random_seed(3)
    first = PerformerAttention(H, DK).projection
    keras.utils.set_random_seed(3)
    np.testing.assert_array_equal(PerformerAttention(H, DK).projection, first)


@pytest.mark.parametrize("num_features", [0, 2.5])
def test_the_number_of_features_must_be_positive(num_features):
    with pytest.raises(ValueError, match=f"num_features is {num_features}"):
        PerformerAttention(H, DK, num_features)
