"""Decoding step by step with a cache of keys and values."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import CrossAttention, MultiHeadAttention, SelfAttention, TransformerDecoderBlock

B, T, TK, WIDTH = 3, 6, 7, 8
OPTIONS = {
    "plain": {"num_heads": 2, "key_dim": 5, "value_dim": 3},
    "rotary": {"num_heads": 2, "key_dim": 6, "rotary": True},
    "grouped": {"num_heads": 4, "key_dim": 6, "num_key_value_heads": 2, "rotary": True},
}
every_kind = pytest.mark.parametrize("kind", OPTIONS)


def array(tensor):
    return ops.convert_to_numpy(tensor)


def sequence(seed=0, length=T):
    return np.random.default_rng(seed).normal(size=(B, length, WIDTH)).astype("float32")


def layer_of(kind, **options):
    layer = SelfAttention(**OPTIONS[kind], bias_initializer="normal", **options)
    layer.build((B, T, WIDTH))
    return layer


@every_kind
@pytest.mark.parametrize("steps", [[1] * T, [4, 1, 1], [2, 3, 1]])
def test_step_by_step_is_the_causal_whole(kind, steps):
    layer, x = layer_of(kind), sequence()
    expected, weights = layer(x, use_causal_mask=True, return_attention_scores=True)
    cache, start = layer.init_cache(B, T + 2), 0
    for step in steps:
        output, rows, cache = layer(x[:, start : start + step], cache=cache, return_attention_scores=True)
        np.testing.assert_allclose(array(output), array(expected)[:, start : start + step], atol=1e-5)
        np.testing.assert_allclose(
            array(rows)[..., :T], array(weights)[:, :, start : start + step], atol=1e-5
        )
        assert not array(rows)[..., T:].any()
        start += step
        np.testing.assert_array_equal(array(cache["length"]), start)


def test_multi_head_attention_takes_one_too():
    layer, x, other = MultiHeadAttention(2, 4), sequence(), sequence(1)
    expected = layer(x, x, other, use_causal_mask=True)
    cache = layer.init_cache(B, T)
    for i in range(T):
        step = slice(i, i + 1)
        output, cache = layer(x[:, step], x[:, step], other[:, step], cache=cache)
        np.testing.assert_allclose(array(output), array(expected)[:, step], atol=1e-5)


@every_kind
@pytest.mark.parametrize(("queries", "new"), [(1, 3), (3, 1), (2, 4), (5, 2)])
def test_the_last_query_stands_at_the_last_new_key(kind, queries, new):
    layer, x = MultiHeadAttention(**OPTIONS[kind]), sequence()
    expected = array(layer(x, x, use_causal_mask=True))[:, T - queries :]
    cache, old = layer.init_cache(B, T + 1), x[:, : T - new]
    _, cache = layer(old, old, cache=cache)
    output, cache = layer(x[:, T - queries :], x[:, T - new :], cache=cache)
    np.testing.assert_allclose(array(output), expected, atol=1e-5)


def test_without_a_cache_a_mask_hides_garbage(gradients):
    layer, query, value = MultiHeadAttention(2, 4), sequence(), sequence(1, TK)
    layer(query, value)
    value[:, 4:] = np.nan
    mask = (np.arange(TK) < 4)[None, None]
    found = gradients(
        lambda: ops.sum(layer(query, value, attention_mask=mask, cache=None)), [], layer.trainable_weights
    )
    assert all(np.isfinite(gradient).all() for gradient in found)


def test_a_prompt_may_be_padded():
    layer, x = layer_of("plain"), sequence()
    prompt = np.arange(4) < np.array([[4], [2], [3]])
    mask = np.concatenate([prompt, np.ones((B, 2), bool)], axis=1)
    expected = array(layer(x, mask=mask, use_causal_mask=True))
    x = np.where(mask[..., None], x, np.nan)
    output, cache = layer(x[:, :4], mask=prompt, cache=layer.init_cache(B, T))
    np.testing.assert_allclose(array(output)[prompt], expected[:, :4][prompt], atol=1e-5)
    for i in (4, 5):
        output, cache = layer(x[:, i : i + 1], cache=cache)
        np.testing.assert_allclose(array(output), expected[:, i : i + 1], atol=1e-5)


def test_no_room_is_an_error():
    layer, x = layer_of("plain"), sequence()
    _, cache = layer(x[:, :4], cache=layer.init_cache(B, 5))
    with pytest.raises(ValueError, match="room for 5 positions, but 6 are needed"):
        layer(x[:, 4:6], cache=cache)


@pytest.mark.skipif(keras.backend.backend() == "torch", reason="PyTorch compiles nothing here")
def test_no_room_in_a_compiled_function_gives_nan():
    layer, x = layer_of("plain"), sequence()
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        step = tf.function(lambda x, cache: layer(x, cache=cache))
    else:
        import jax

        step = jax.jit(lambda x, cache: layer(x, cache=cache))
    output, cache = step(x[:, :4], layer.init_cache(B, 5))
    assert np.isfinite(array(output)).all()
    output, cache = step(x[:, 4:6], cache)
    assert np.isnan(array(output)).all()


def test_beams_may_be_reordered():
    layer, x = layer_of("rotary"), sequence()
    parents = np.array([2, 0, 2])
    _, cache = layer(x[:, :4], cache=layer.init_cache(B, T))
    cache = keras.tree.map_structure(lambda y: ops.take(y, parents, axis=0), cache)
    output, _ = layer(x[:, 4:5], cache=cache)
    reordered = np.concatenate([x[parents][:, :4], x[:, 4:5]], axis=1)
    expected = layer(reordered, use_causal_mask=True)[:, -1:]
    np.testing.assert_allclose(array(output), array(expected), atol=1e-5)


def test_the_cache_given_stays_as_it_was():
    layer, x = layer_of("plain"), sequence()
    cache = layer.init_cache(B, T)
    layer(x[:, :2], cache=cache)
    assert not any(array(ops.cast(y, "float32")).any() for y in keras.tree.flatten(cache))


def test_a_cache_is_of_the_layers_precision():
    layer, x = layer_of("plain", dtype="mixed_float16"), sequence()
    output, cache = layer(x[:, :2], cache=layer.init_cache(B, T))
    assert {keras.backend.standardize_dtype(y.dtype) for y in (output, cache["key"], cache["value"])} == {
        "float16"
    }


def test_a_context_is_projected_once():
    layer, query, context = CrossAttention(2, 4, num_key_value_heads=1), sequence(), sequence(1, TK)
    mask = np.arange(TK) < np.array([[7], [4], [0]])
    expected, weights = layer(query, context, context_mask=mask, return_attention_scores=True)
    cache = layer.cache_context(np.where(mask[..., None], context, np.nan), mask)
    for i in range(T):
        output, rows, cache = layer(query[:, i : i + 1], cache=cache, return_attention_scores=True)
        np.testing.assert_allclose(array(output), array(expected)[:, i : i + 1], atol=1e-5)
        np.testing.assert_allclose(array(rows), array(weights)[:, :, i : i + 1], atol=1e-6)


def test_a_rotary_context_is_refused():
    layer = CrossAttention(2, 4, rotary=True)
    with pytest.raises(ValueError, match="rotary layer cannot be cached"):
        layer.cache_context(sequence())


def test_a_context_before_the_layer_has_weights_is_an_error():
    with pytest.raises(ValueError, match="has no weights yet"):
        CrossAttention(2, 4).cache_context(sequence())


def test_a_context_is_kept_in_the_layers_precision():
    layer = CrossAttention(2, 4, dtype="mixed_bfloat16")
    layer(sequence(), sequence(1, TK))
    cache = layer.cache_context(sequence(1, TK))
    assert {keras.backend.standardize_dtype(cache[name].dtype) for name in ("key", "value")} == {"bfloat16"}


@pytest.mark.parametrize("scores", [False, True])
def test_a_step_may_be_a_functional_model(scores):
    self_attention, cross = layer_of("rotary"), CrossAttention(2, 4)
    block = TransformerDecoderBlock(4, 11)
    x, context = sequence(), sequence(1, TK)
    cross(x, context)
    block(x, context)
    caches = (
        self_attention.init_cache(B, T + 2),
        cross.cache_context(context),
        block.init_cache(B, T + 2),
        block.cache_context(context),
    )
    step = ops.convert_to_tensor(x[:, :3])

    def call(x, own, of_context, of_block, context_of_block):
        options = {"return_attention_scores": scores}
        return [
            self_attention(x, cache=own, **options),
            cross(x, cache=of_context, **options),
            block(x, cache=of_block, context_cache=context_of_block, **options),
        ]

    symbols = keras.tree.map_structure(
        lambda y: keras.Input(y.shape[1:], dtype=keras.backend.standardize_dtype(y.dtype)), (step, *caches)
    )
    declared = call(*symbols)
    results = keras.Model(symbols, declared)((step, *caches))
    expected = call(step, *caches)
    keras.tree.assert_same_structure(results, expected)
    for symbol, result, reference in zip(
        *map(keras.tree.flatten, (declared, results, expected)), strict=True
    ):
        assert symbol.shape == (None, *reference.shape[1:])
        np.testing.assert_allclose(array(result), array(reference), atol=1e-6)
