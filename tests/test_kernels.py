import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attention import kernels

B, H, N, M, DV = 2, 3, 13, 5, 4


def array(tensor):
    return ops.convert_to_numpy(tensor)


def features(length=N, seed=0):
    rng = np.random.default_rng(seed)
    query, key = rng.random((2, B, H, length, M)).astype("float32") + 0.1
    return query, key, rng.normal(size=(B, H, length, DV)).astype("float32")


def by_hand(query, key, value, causal=False):
    scores = np.float64(query) @ np.swapaxes(key, -1, -2)
    scores = np.tril(scores) if causal else scores
    weights = scores / scores.sum(-1, keepdims=True)
    return weights @ value, weights


@settings(deadline=None, max_examples=40)
@given(length=st.integers(1, 33), chunk_size=st.integers(1, 40), causal=st.booleans())
def test_is_the_formula_for_any_length_and_any_chunk(length, chunk_size, causal):
    query, key, value = features(length)
    output, weights = by_hand(query, key, value, causal)
    ours = kernels.kernel_attention(query, key, value, causal=causal, chunk_size=chunk_size)
    np.testing.assert_allclose(array(ours), output, atol=1e-5)
    np.testing.assert_allclose(array(kernels.kernel_weights(query, key, causal)), weights, atol=1e-6)


@pytest.mark.parametrize("garbage", [math.nan, math.inf])
def test_garbage_in_the_future_does_not_reach_the_past(garbage):
    query, key, value = features()
    expected = array(kernels.kernel_attention(query, key, value, causal=True, chunk_size=4))
    for spoilt in (key, value):
        original = spoilt[:, :, 6].copy()
        spoilt[:, :, 6] = garbage
        output = array(kernels.kernel_attention(query, key, value, causal=True, chunk_size=4))
        np.testing.assert_array_equal(output[:, :, :6], expected[:, :, :6])
        assert not np.isfinite(output[:, :, 6:]).any()
        spoilt[:, :, 6] = original


@pytest.mark.parametrize("causal", [False, True])
def test_a_key_of_zeros_is_never_seen(causal):
    query, key, value = features()
    key[:, :, 6] = 0
    expected = array(kernels.kernel_attention(query, key, value, causal=causal, chunk_size=4))
    value[:, :, 6] = math.nan
    output = array(kernels.kernel_attention(query, key, value, causal=causal, chunk_size=4))
    np.testing.assert_array_equal(output, expected)


def test_a_query_without_any_feature_of_a_key_gets_zeros():
    query, key, value = features()
    query[0, 1, 3] = 0
    output = array(kernels.kernel_attention(query, key, value))
    assert not output[0, 1, 3].any()
    assert output.all(-1).sum() == B * H * N - 1


def test_small_features_weigh_as_large_ones():
    query, key, value = features()
    expected = array(kernels.kernel_attention(query, key, value))
    np.testing.assert_allclose(
        array(kernels.kernel_attention(1e-9 * query, 1e-9 * key, value)), expected, atol=1e-5
    )


# the features of Performer

WIDTH, ROUNDS = 16, 4000


def pair(cosine, squared_norm_of_sum=1.5, seed=0):
    """Two vectors of equal length at that angle, with |x + y|² as given."""
    rng = np.random.default_rng(seed)
    first, second = np.linalg.qr(rng.normal(size=(WIDTH, 2)))[0].T
    length = math.sqrt(squared_norm_of_sum / (2 + 2 * cosine))
    return length * first, length * (cosine * first + math.sqrt(1 - cosine**2) * second)


def mean_squared_error(x, y, num_features, orthogonal):
    """Of the estimate of exp(x · y), over many draws, relative to exp(2 x · y)."""
    errors = []
    for seed in range(ROUNDS):
        projection = kernels.gaussian_projection(num_features, WIDTH, orthogonal, seed=seed)
        exponents = projection @ (x + y) - (x @ x + y @ y) / 2
        errors.append(np.mean(np.exp(exponents - x @ y)) - 1)
    return np.mean(np.square(errors))


def test_the_error_is_that_of_the_closed_form():
    x, y = pair(cosine=0.2)
    for num_features in (16, 64):
        predicted = (math.exp(1.5) - 1) / num_features
        assert mean_squared_error(x, y, num_features, orthogonal=False) == pytest.approx(predicted, rel=0.2)


def test_orthogonal_directions_lower_the_error():
    x, y = pair(cosine=0.2)
    ratio = mean_squared_error(x, y, 16, orthogonal=True) / ((math.exp(1.5) - 1) / 16)
    assert 0.65 < ratio < 0.9


@pytest.mark.parametrize("orthogonal", [True, False])
def test_the_features_estimate_the_exponential_of_the_dot_product(orthogonal):
    x, y = pair(cosine=0.2, squared_norm_of_sum=1)
    projection = ops.convert_to_tensor(kernels.gaussian_projection(8192, WIDTH, orthogonal, seed=3))
    features, scales = kernels.positive_features(ops.convert_to_tensor(np.float32([x, y])), projection)
    phi = np.float64(array(features)) * np.exp(array(scales))
    assert phi[0] @ phi[1] == pytest.approx(math.exp(x @ y), rel=0.05)


def test_the_directions_are_orthogonal_and_as_long_as_gaussian_ones():
    rows = np.stack([kernels.gaussian_projection(37, WIDTH, seed=seed) for seed in range(200)])
    for start in (0, 16, 32):
        block = rows[:, start : start + 16]
        products = block @ np.swapaxes(block, 1, 2)
        off_diagonal = products[:, ~np.eye(block.shape[1], dtype=bool)]
        np.testing.assert_allclose(off_diagonal, 0, atol=1e-4)
    assert np.square(rows).sum(-1).mean() == pytest.approx(WIDTH, rel=0.02)
    np.testing.assert_allclose(rows.mean((0, 1)), 0, atol=0.05)  # no direction is preferred
    assert np.std(rows) == pytest.approx(1, rel=0.02)
    assert rows.dtype == np.float32


def test_the_directions_are_fixed_by_the_seed():
    first, again, other = (kernels.gaussian_projection(7, 5, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


@pytest.mark.parametrize("scale", [0, 1e3, 1e18])
def test_features_stay_finite_and_positive(scale):
    x = ops.convert_to_tensor(np.full((1, WIDTH), scale, "float32"))
    features, _ = kernels.positive_features(
        x, ops.convert_to_tensor(kernels.gaussian_projection(9, WIDTH, seed=0))
    )
    assert np.isfinite(array(features)).all()
    assert (array(features) > 0).all()
