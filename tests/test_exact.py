"""Whichever way is taken, the layers' outputs are the same."""

import keras
import numpy as np
import pytest

from keras_attention import exact
from keras_attention.layers import MultiHeadAttention, ScaledDotProductAttention, SelfAttention

if keras.backend.backend() != "tensorflow":
    pytest.skip("only TensorFlow has two ways", allow_module_level=True)

import tensorflow as tf

B, TQ, TK, WIDTH = 2, 9, 13, 6
LAYERS = {
    "multi-head": lambda **kw: MultiHeadAttention(3, 4, value_dim=5, **kw),
    "grouped queries": lambda **kw: MultiHeadAttention(4, 4, num_key_value_heads=2, rotary=True, **kw),
    "scaled dot product": ScaledDotProductAttention,
}
every_layer = pytest.mark.parametrize("name", LAYERS)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(B, length, WIDTH)).astype("float32") for length in (TQ, TK)]


@pytest.fixture
def ways(monkeypatch):
    """Calls a function once on each way, and tells which were taken."""
    taken = []
    import keras_attention.chunked as chunked

    original = chunked.chunked_attention

    def spy(*args, **kwargs):
        taken.append("chunked")
        return original(*args, **kwargs)

    monkeypatch.setattr(chunked, "chunked_attention", spy)

    def call(function):
        results = []
        for limit in (2**60, 1):
            monkeypatch.setattr(exact, "CHUNKED_FROM", limit)
            before = len(taken)
            results.append(function())
            assert (len(taken) > before) == (limit == 1)
        return results

    return call


@pytest.fixture
def marked(monkeypatch):
    """Each way tells that it ran: the outputs of the whole are 0, those of the chunked one are 1."""
    import keras_attention.chunked as chunked

    def whole(query, *args, **options):
        return tf.zeros_like(query), None

    monkeypatch.setattr(exact, "scaled_dot_product_attention", whole)
    monkeypatch.setattr(chunked, "chunked_attention", lambda query, *args, **options: tf.ones_like(query))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("length", "chunked"),
    [(2896, 0), (2897, 1), (2**14, 1), (2**15, 1)],  # the scores of 8 heads; the last two are 2³¹ and 2³³
)
def test_the_way_suits_the_lengths(known, length, chunked, marked):
    def attend(x):
        return exact.dot_product_attention(x, x, x, need_weights=False)[0]

    x = tf.zeros((1, 8, length, 1))
    if not known:
        attend = tf.function(attend, input_signature=[tf.TensorSpec((None, 8, None, 1))])
    np.testing.assert_array_equal(attend(x)[0, 0, 0], chunked)


@every_layer
@pytest.mark.parametrize("causal", [False, True])
def test_both_ways_give_the_same(name, causal, ways):
    layer, (query, value) = LAYERS[name](), inputs()
    mask = np.arange(TK) < np.array([[8], [0]])
    bias = np.random.default_rng(1).normal(size=(B, TQ, TK)).astype("float32")
    layer(query, value)

    def call():
        with tf.GradientTape() as tape:
            output = layer(query, value, value_mask=mask, attention_bias=bias, use_causal_mask=causal)
            loss = tf.reduce_sum(output**3)
        return [output, *(tape.gradient(loss, layer.trainable_weights) if layer.weights else [])]

    for whole, chunked in zip(*ways(call), strict=True):
        np.testing.assert_allclose(chunked, whole, rtol=2e-6, atol=2e-6)


@every_layer
@pytest.mark.parametrize("jit", [False, True])
def test_lengths_that_are_known_only_at_run_time(name, jit, ways):
    layer, (query, value) = LAYERS[name](), inputs()
    layer(query, value)
    signature = [tf.TensorSpec((None, None, WIDTH))] * 2

    def compiled():
        return tf.function(lambda q, v: layer(q, v), input_signature=signature, jit_compile=jit)(query, value)

    outputs = []
    for limit in (2**60, 1):
        exact.CHUNKED_FROM, before = limit, exact.CHUNKED_FROM
        try:
            outputs.append(compiled())
        finally:
            exact.CHUNKED_FROM = before
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-6)
    np.testing.assert_allclose(outputs[0], layer(query, value), atol=1e-6)


def test_weights_that_are_asked_for_take_the_whole_way(monkeypatch):
    monkeypatch.setattr(exact, "CHUNKED_FROM", 1)
    layer, (query, value) = MultiHeadAttention(3, 4), inputs()
    output, weights = layer(query, value, return_attention_scores=True)
    assert weights.shape == (B, 3, TQ, TK)
    np.testing.assert_allclose(layer(query, value), output, atol=1e-6)


def test_without_flash_attention_all_scores_are_formed_at_once(monkeypatch):
    monkeypatch.setattr(exact, "CHUNKED_FROM", 1)
    layer, (query, value) = MultiHeadAttention(3, 4), inputs()
    chunked = layer(query, value)

    def ways():
        signature = [tf.TensorSpec((None, None, WIDTH))] * 2
        call = tf.function(lambda q, v: layer(q, v), input_signature=signature)
        return {operation.type for operation in call.get_concrete_function().graph.get_operations()}

    assert {"If", "StatelessIf"} & ways()
    keras.config.disable_flash_attention()
    try:
        assert not {"If", "StatelessIf"} & ways()
        np.testing.assert_allclose(layer(query, value), chunked, atol=1e-6)
    finally:
        keras.config.enable_flash_attention()


def test_dropout_works_on_the_chunked_way(monkeypatch):
    monkeypatch.setattr(exact, "CHUNKED_FROM", 1)
    _, value = inputs()
    outputs = []
    for seed in (1, 1, 2):
        layer = SelfAttention(2, 3, dropout=0.5, seed=seed, kernel_initializer="ones")
        layer(value)
        outputs.append([layer(value, training=True).numpy() for _ in range(2)])
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert (outputs[0][0] != outputs[2][0]).any()
    assert (outputs[0][0] != outputs[0][1]).any()  # drawn anew at every call


def test_a_model_trains_on_the_chunked_way(monkeypatch):
    monkeypatch.setattr(exact, "CHUNKED_FROM", 1)
    inputs_ = keras.Input((None, WIDTH))
    hidden = SelfAttention(2, 4, dropout=0.1, seed=0)(inputs_, use_causal_mask=True)
    model = keras.Model(inputs_, keras.layers.Dense(1)(hidden))
    model.compile("adam", "mse")
    x = inputs()[1]
    history = model.fit(x, x[..., :1], epochs=3, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]
