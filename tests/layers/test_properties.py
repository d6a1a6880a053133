"""Properties that hold for any inputs: drawn shapes, masks and numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attention.layers import (
    BahdanauAttention,
    LuongAttention,
    MultiHeadAttention,
    ScaledDotProductAttention,
)

LAYERS = {
    "scaled dot product": ScaledDotProductAttention,
    "multi-head": lambda: MultiHeadAttention(2, 3, bias_initializer="normal"),
    "grouped queries": lambda: MultiHeadAttention(4, 3, num_key_value_heads=2),
    "bahdanau": lambda: BahdanauAttention(5),
    "luong": lambda: LuongAttention("general"),
}
WIDTH = 4
every_layer = pytest.mark.parametrize("name", LAYERS)
few = settings(max_examples=15, deadline=None, derandomize=True)


def array(tensor):
    return ops.convert_to_numpy(tensor)


@st.composite
def problems(draw):
    """query, value, key and a mask of the keys."""
    batch, queries, keys = (draw(st.integers(1, n)) for n in (3, 5, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([0.1, 1, 10]))
    arrays = [
        (scale * rng.normal(size=(batch, length, WIDTH))).astype("float32")
        for length in (queries, keys, keys)
    ]
    return *arrays, rng.random((batch, keys)) < draw(st.sampled_from([0.2, 0.8]))


@pytest.fixture(scope="module")
def layers():
    """Built once: hypothesis calls a test many times."""
    built = {name: make() for name, make in LAYERS.items()}
    for layer in built.values():
        layer(*[np.zeros((1, 1, WIDTH), "float32")] * 2)
    return built


@every_layer
@few
@given(problem=problems(), seed=st.integers(0, 2**32))
def test_the_order_of_keys_and_values_does_not_matter(layers, name, problem, seed):
    query, value, key, mask = problem
    order = np.random.default_rng(seed).permutation(value.shape[1])
    expected, weights = layers[name](query, value, key, value_mask=mask, return_attention_scores=True)
    output, permuted = layers[name](
        query, value[:, order], key[:, order], value_mask=mask[:, order], return_attention_scores=True
    )
    np.testing.assert_allclose(array(output), array(expected), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(array(permuted), array(weights)[..., order], rtol=1e-4, atol=1e-6)


@every_layer
@few
@given(problem=problems(), extra=st.integers(1, 4))
def test_appended_padding_changes_nothing(layers, name, problem, extra):
    query, value, key, mask = problem
    expected = layers[name](query, value, key, value_mask=mask)
    longer = [(0, 0), (0, extra), (0, 0)]
    output = layers[name](
        query,
        np.pad(value, longer, constant_values=np.nan),
        np.pad(key, longer, constant_values=np.inf),
        value_mask=np.pad(mask, longer[:2]),
    )
    np.testing.assert_allclose(array(output), array(expected), rtol=1e-5, atol=1e-5)


@every_layer
@few
@given(problem=problems(), data=st.data())
def test_the_future_changes_nothing(layers, name, problem, data):
    query, value, key, _ = problem
    future = data.draw(st.integers(0, value.shape[1] - 1))
    expected = layers[name](query, value, key, use_causal_mask=True)
    value, key = value.copy(), key.copy()
    value[:, future:], key[:, future:] = 7, -7
    output = layers[name](query, value, key, use_causal_mask=True)
    past = max(0, future + query.shape[1] - value.shape[1])  # queries that stand before it
    np.testing.assert_array_equal(array(output)[:, :past], array(expected)[:, :past])


@every_layer
@few
@given(problem=problems(), data=st.data())
def test_an_example_does_not_depend_on_its_batch(layers, name, problem, data):
    query, value, key, mask = problem
    row = data.draw(st.integers(0, len(query) - 1))
    one = slice(row, row + 1)
    together = layers[name](query, value, key, value_mask=mask)
    alone = layers[name](query[one], value[one], key[one], value_mask=mask[one])
    np.testing.assert_allclose(array(alone), array(together)[one], rtol=1e-4, atol=1e-5)


@every_layer
@few
@given(problem=problems())
def test_weights_are_a_distribution_over_the_visible_keys(layers, name, problem):
    query, value, key, mask = problem
    _, weights = layers[name](query, value, key, value_mask=mask, return_attention_scores=True)
    weights = array(weights)
    weights = weights[:, None] if weights.ndim == 3 else weights  # (B, H, Tq, Tk)
    assert (weights >= 0).all()
    assert not weights[np.broadcast_to(~mask[:, None, None], weights.shape)].any()
    sums = np.broadcast_to(mask.any(-1)[:, None, None], weights.shape[:-1])
    np.testing.assert_allclose(weights.sum(-1), sums, atol=1e-5)
