import keras
import numpy as np
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("by_heads needs TensorFlow", allow_module_level=True)

import tensorflow as tf

from keras_attention.by_heads import by_heads
from keras_attention.layers import LongformerAttention, longformer_attention

B, H, N, D, DV, WIDTH = 2, 3, 23, 4, 5, 6

LAYERS = {
    "window": {},
    "global": {"global_tokens": [0, 9, 40]},
    "projections": {"global_tokens": [0, 9], "global_projections": True, "num_key_value_heads": 1},
}
every_layer = pytest.mark.parametrize("name", LAYERS)
causal_or_not = pytest.mark.parametrize("causal", [False, True])


def attend(query, key, value):
    weights = tf.nn.softmax(tf.matmul(query, key, transpose_b=True))
    return [tf.matmul(weights, value), weights]


def inputs(dtype="float32"):
    rng = np.random.default_rng(0)
    return [tf.constant(rng.normal(size=(B, H, N, width)), dtype) for width in (D, D, DV)]


def with_gradients(function, arrays):
    """The results and the gradients of Σ results³, which is another one for every element."""
    with tf.GradientTape() as tape:
        tape.watch(arrays)
        results = function(*arrays)
        loss = tf.add_n([tf.reduce_sum(result**3) for result in results])
    return [*results, *tape.gradient(loss, arrays)]


def in_turn(*arrays):
    return by_heads(attend, arrays, [DV, N])


def assert_alike(results, expected, tolerance=1e-5):
    """Measured by the largest of all, since the gradient of a key's bias is 0 but for rounding."""
    results, expected = (
        [(x.dtype, np.asarray(tf.cast(x, "float64"))) for x in xs] for xs in (results, expected)
    )
    largest = max(abs(reference).max(initial=1) for _, reference in expected)
    for (dtype, result), (expected_dtype, reference) in zip(results, expected, strict=True):
        assert dtype == expected_dtype
        assert result.shape == reference.shape
        np.testing.assert_allclose(result, reference, rtol=0, atol=tolerance * largest)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-5), ("float16", 0.01), ("bfloat16", 0.1)]
)
@pytest.mark.parametrize("compiler", [None, {}, {"jit_compile": True}])
def test_results_and_gradients_are_those_of_all_heads_at_once(dtype, tolerance, compiler):
    run = with_gradients if compiler is None else tf.function(with_gradients, autograph=False, **compiler)
    assert_alike(run(in_turn, inputs(dtype)), with_gradients(attend, inputs(dtype)), tolerance)


def test_the_gradient_of_a_gradient_is_right():
    def second(function):
        def gradients(*arrays):
            return with_gradients(function, arrays)[2:]

        return lambda: with_gradients(gradients, inputs())

    assert_alike(tf.function(second(in_turn), autograph=False)(), second(attend)())
    assert_alike(second(in_turn)(), second(attend)())


def test_what_a_result_does_not_depend_on_gets_no_gradient():
    def first(query, key, value):
        return [2 * query]

    gradients = with_gradients(lambda *arrays: by_heads(first, arrays, [D]), inputs())[1:]
    assert_alike(gradients, [24 * inputs()[0] ** 2, *map(tf.zeros_like, inputs()[1:])])


def test_no_tensor_holds_the_scores_of_all_heads():
    def run():
        return with_gradients(lambda *arrays: by_heads(lambda *xs: attend(*xs)[:1], arrays, [DV]), inputs())

    graph = tf.function(run, autograph=False).get_concrete_function().graph
    graphs = [graph, *(f.graph for f in graph._functions.values() if hasattr(f, "graph"))]
    shapes = {
        tuple(x.shape.as_list())
        for g in graphs
        for operation in g.get_operations()
        for x in operation.outputs
        if x.shape.rank
    }
    assert (B, 1, N, N) in shapes
    assert all(None not in shape for shape in shapes)
    assert not [shape for shape in shapes if np.prod(shape) >= B * H * N * N]


def layer_with_gradients(layer, x, **call):
    """With random weights; the gradients are those by the inputs and the weights."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        output = layer(x, **call)
        loss = tf.reduce_sum(output**3)
    return [output, *tape.gradient(loss, [x, *layer.trainable_weights])]


def layer_and_inputs(name, batch=B, length=N, **options):
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(batch, length, WIDTH)), "float32")
    layer = LongformerAttention(H, D, 2, **LAYERS[name], **options)
    layer(x)
    layer.set_weights([rng.normal(size=weight.shape, scale=0.5) for weight in layer.get_weights()])
    return layer, x


@pytest.fixture
def by_heads_from(monkeypatch):
    """Sets from how many scores on Longformer goes head by head."""
    return lambda scores: monkeypatch.setattr(longformer_attention, "BY_HEADS_FROM", scores)


@every_layer
@causal_or_not
@pytest.mark.parametrize("compiler", [None, {}, {"jit_compile": True}])
def test_longformer_is_the_same_head_by_head(name, causal, compiler, by_heads_from):
    layer, x = layer_and_inputs(name)
    call = {"mask": np.arange(N) < np.array([[N], [9]]), "use_causal_mask": causal}
    expected = layer_with_gradients(layer, x, **call)
    by_heads_from(0)
    run = layer_with_gradients if compiler is None else tf.function(layer_with_gradients, **compiler)
    assert_alike(run(layer, x, **call), expected)


@every_layer
@causal_or_not
def test_the_scores_of_longformer_change_nothing_head_by_head(name, causal, by_heads_from):
    layer, x = layer_and_inputs(name)
    expected = layer(x, use_causal_mask=causal, return_attention_scores=True)
    by_heads_from(0)
    output, weights = layer(x, use_causal_mask=causal, return_attention_scores=True)
    assert_alike([output, weights], expected)
    np.testing.assert_array_equal(layer(x, use_causal_mask=causal), output)


@pytest.mark.parametrize(("batch", "length"), [(1, 7), (B, 1), (B, 0), (0, N)])
def test_longformer_head_by_head_of_any_size(batch, length, by_heads_from):
    layer, _ = layer_and_inputs("global")
    _, x = layer_and_inputs("global", batch, length)
    expected = layer_with_gradients(layer, x)
    by_heads_from(0)
    assert_alike(layer_with_gradients(layer, x), expected)


def test_longformer_head_by_head_of_an_unknown_batch_and_an_unknown_length(by_heads_from):
    layer, x = layer_and_inputs("global")
    expected = layer_with_gradients(layer, x)
    by_heads_from(0)
    for length in (N, None):
        signature = [tf.TensorSpec((None, length, WIDTH))]
        run = tf.function(lambda x: layer_with_gradients(layer, x), input_signature=signature)
        assert_alike(run(x), expected)


def test_dropout_goes_all_heads_at_once(by_heads_from):
    layer, x = layer_and_inputs("global", dropout=0.5, seed=1)
    other, _ = layer_and_inputs("global", dropout=0.5, seed=1)
    expected = layer_with_gradients(layer, x, training=True)
    by_heads_from(0)
    assert_alike(layer_with_gradients(other, x, training=True), expected)


def test_a_long_sequence_goes_head_by_head_and_a_short_one_does_not():
    layer, _ = layer_and_inputs("window")
    run = tf.function(layer, autograph=False)
    for length, expected in [(64, False), (2**21, True)]:
        graph = run.get_concrete_function(tf.TensorSpec((1, length, WIDTH))).graph
        loops = [operation for operation in graph.get_operations() if "While" in operation.type]
        assert bool(loops) == expected
