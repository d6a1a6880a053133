"""What holds for every layer without n × n weights, beside what test_conformance.py says of all layers."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_attention.layers import (
    BigBirdAttention,
    LinearAttention,
    LongformerAttention,
    MultiHeadAttention,
    PerformerAttention,
    ReformerAttention,
    SelfAttention,
)

B, N, WIDTH = 2, 23, 6

SPARSE = {
    "longformer": lambda heads=3, width=4, **kw: LongformerAttention(heads, width, window=3, **kw),
    "longformer, global": lambda heads=3, width=4, **kw: LongformerAttention(
        heads, width, window=2, global_tokens=[0, 9], **kw
    ),
    "longformer, wide": lambda heads=3, width=4, **kw: LongformerAttention(
        heads, width, window=64, global_tokens=1, **kw
    ),
    "big bird": lambda heads=3, width=4, **kw: BigBirdAttention(heads, width, 2, 2, seed=1, **kw),
    "big bird, unlike itself": lambda heads=3, width=4, **kw: BigBirdAttention(
        heads, width, 3, 0, global_blocks=[], **kw
    ),
}
LAYERS = SPARSE | {
    "linear": lambda heads=3, width=4, **kw: LinearAttention(heads, width, **kw),
    "reformer": lambda heads=3, width=4, **kw: ReformerAttention(heads, width, 4, seed=1, **kw),
    "reformer, rounds": lambda heads=3, width=4, **kw: ReformerAttention(heads, width, 3, 2, seed=1, **kw),
    "performer": lambda heads=3, width=4, **kw: PerformerAttention(heads, width, num_features=32, **kw),
}
every_layer = pytest.mark.parametrize("name", LAYERS)
one_of_each = pytest.mark.parametrize(
    "name", ["longformer, global", "big bird", "linear", "reformer, rounds", "performer"]
)
causal_or_not = pytest.mark.parametrize("causal", [False, True])


def array(tensor):
    return ops.convert_to_numpy(ops.cast(tensor, "float32"))


def inputs(batch=B, length=N, seed=0):
    return np.random.default_rng(seed).normal(size=(batch, length, WIDTH)).astype("float32")


def padding(*lengths):
    return np.arange(N) < np.array(lengths)[:, None]


def with_random_weights(layer, x):
    layer(x)
    rng = np.random.default_rng(1)
    layer.set_weights([rng.normal(size=weight.shape, scale=0.5) for weight in layer.get_weights()])
    return layer


@every_layer
def test_the_weights_of_a_dense_layer_drop_in_and_those_of_keras(name):
    x = inputs()
    layer = LAYERS[name]()
    layer(x)
    for dense in (MultiHeadAttention(3, 4), keras.layers.MultiHeadAttention(3, 4)):
        dense(x, x)
        layer.set_weights(dense.get_weights())
        assert [weight.path.split("/")[-2:] for weight in layer.weights] == [
            weight.path.split("/")[-2:] for weight in dense.weights
        ]


@every_layer
@causal_or_not
def test_any_length(name, causal):
    layer = LAYERS[name]()
    for length in (1, 8, 9, 40):
        x = inputs(length=length)
        output, weights = layer(x, use_causal_mask=causal, return_attention_scores=True)
        assert output.shape == x.shape
        assert np.isfinite(array(output)).all()
        np.testing.assert_allclose(array(weights).sum(-1), 1, atol=1e-5)
        assert weights.shape == (B, 3, length, length)


def output_and_gradients(layer, x, **call):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        output = layer(x, **call)
        loss = ops.sum(ops.sin(output) * ops.sin(ops.cast(ops.arange(x.shape[1])[:, None], "float32")))
    return [array(result) for result in (output, *tape.gradient(loss, [x, *layer.weights]))]


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", SPARSE)
@causal_or_not
@pytest.mark.parametrize(
    ("lengths", "options"),
    [((N, 0), {}), ((N - 1, 9), {"rotary": True, "num_key_value_heads": 1, "value_dim": 5})],
)
def test_is_the_dense_layer_under_its_pattern_mask(name, causal, lengths, options):
    x = inputs()
    sparse = with_random_weights(SPARSE[name](**options), x)
    dense = SelfAttention(3, 4, **options)
    dense(x)
    dense.set_weights(sparse.get_weights())
    mask = padding(*lengths)
    pattern = sparse.pattern_mask(N, causal=causal)[None]
    expected = output_and_gradients(dense, x, mask=mask, attention_mask=pattern)
    ours = output_and_gradients(sparse, x, mask=mask, use_causal_mask=causal)
    for result, reference in zip(ours, expected, strict=True):
        np.testing.assert_allclose(result, reference, atol=1e-5 * max(1, abs(reference).max()))


@pytest.mark.parametrize("name", SPARSE)
def test_a_causal_pattern_is_the_past_of_the_whole_and_the_weights_lie_within(name):
    layer, x = SPARSE[name](), inputs()
    for causal in (False, True):
        pattern = np.broadcast_to(array(layer.pattern_mask(N, causal=causal)) > 0, (3, N, N))
        assert pattern[:, range(N), range(N)].all()
        assert not (causal and np.triu(pattern, 1).any())
        _, weights = layer(x, use_causal_mask=causal, return_attention_scores=True)
        np.testing.assert_array_equal(array(weights) > 0, np.broadcast_to(pattern, (B, 3, N, N)))


@pytest.mark.parametrize("name", SPARSE)
def test_garbage_reaches_none_but_those_who_see_it(name):
    layer, x = SPARSE[name](), inputs()
    clean = array(layer(x))
    x[:, 17] = np.nan
    output = array(layer(x))
    seen = np.any(np.broadcast_to(array(layer.pattern_mask(N)) > 0, (3, N, N)), axis=0)[:, 17]
    assert np.isnan(output[:, seen]).all()
    np.testing.assert_allclose(output[:, ~seen], clean[:, ~seen], atol=1e-6)


@every_layer
@causal_or_not
def test_the_returned_weights_are_those_that_were_used(name, causal):
    x, mask = inputs(), padding(N, 9)
    layer = with_random_weights(LAYERS[name](), x)
    output, weights = layer(x, mask=mask, use_causal_mask=causal, return_attention_scores=True)
    value, value_bias, kernel, bias = map(np.float64, layer.get_weights()[4:8])
    value = np.einsum("bnd,dhk->bhnk", x, value) + value_bias[:, None]
    expected = np.einsum("bhij,bhjk,hkd->bid", array(weights), value, kernel) + bias
    np.testing.assert_allclose(array(output), expected, atol=1e-5)


@pytest.mark.tensorflow
@every_layer
@causal_or_not
def test_padding_matters_neither_by_its_content_nor_to_the_gradients(name, causal):
    x, mask = inputs(), padding(N, 9)
    layer = with_random_weights(LAYERS[name](), x)
    runs = []
    for garbage in (0, 1e4, np.nan):
        spoilt = tf.constant(np.where(mask[..., None], x, garbage).astype("float32"))
        with tf.GradientTape() as tape:
            tape.watch(spoilt)
            output = layer(spoilt, mask=mask, use_causal_mask=causal)
            loss = ops.sum(output**2)
        runs.append([output, *tape.gradient(loss, [spoilt, *layer.trainable_weights])])
    for clean, *spoilt in zip(*runs, strict=True):
        for result in spoilt:
            np.testing.assert_array_equal(array(result), array(clean))
        assert np.isfinite(array(clean)).all()
    bias = layer.get_weights()[7]
    np.testing.assert_allclose(array(runs[0][0])[~mask], np.broadcast_to(bias, (N - 9, WIDTH)), atol=1e-6)


@every_layer
def test_what_comes_after_changes_nothing_when_causal(name):
    x = inputs(length=N)
    layer = with_random_weights(LAYERS[name](), x)
    expected = array(layer(x, use_causal_mask=True))
    for first in (1, 15):
        for future in (inputs(seed=5), 30 * inputs(seed=5), np.full_like(x, np.nan)):
            changed = np.concatenate([x[:, :first], future[:, first:]], axis=1)
            output = array(layer(changed, use_causal_mask=True))
            np.testing.assert_allclose(output[:, :first], expected[:, :first], atol=1e-5)
            assert not np.allclose(output[:, first:], expected[:, first:], atol=1e-3)


@every_layer
def test_what_is_appended_changes_nothing_when_causal(name):
    x = inputs()
    layer = with_random_weights(LAYERS[name](), x)
    expected = array(layer(x, use_causal_mask=True))
    for length in (1, 2, 3, 4, 5, 8, 9, 15, 22):
        output = array(layer(x[:, :length], use_causal_mask=True))
        np.testing.assert_allclose(output, expected[:, :length], atol=1e-5)


@every_layer
def test_training_changes_nothing_without_dropout(name):
    layer, x = LAYERS[name](), inputs()
    evaluated = array(layer(x, training=False))
    for _ in range(2):
        np.testing.assert_array_equal(array(layer(x, training=True)), evaluated)


@every_layer
def test_a_reloaded_layer_has_the_same_pattern(name):
    layer, x = LAYERS[name](), inputs()
    layer(x)
    other = type(layer).from_config(layer.get_config())
    other(x)
    other.set_weights(layer.get_weights())
    np.testing.assert_array_equal(array(other(x)), array(layer(x)))


@every_layer
@pytest.mark.parametrize("argument", ["attention_mask", "attention_bias"])
def test_scores_that_are_not_there_cannot_be_changed(name, argument):
    with pytest.raises(ValueError, match="forms no n × n scores"):
        LAYERS[name]()(inputs(), **{argument: np.ones((1, N, N), bool)})


def shapes_in(graph):
    graphs = [graph, *(f.graph for f in graph._functions.values() if hasattr(f, "graph"))]
    tensors = [tensor for g in graphs for operation in g.get_operations() for tensor in operation.outputs]
    return [tensor.shape.as_list() for tensor in tensors if tensor.shape.rank]


@pytest.mark.tensorflow
@one_of_each
@causal_or_not
def test_memory_is_linear_in_the_length_also_in_training(name, causal):
    """No tensor of the graph has two axes of length n, and the largest only doubles when n does."""
    largest = []
    for n in (8192, 16384):
        layer = LAYERS[name](heads=8, width=64)
        layer(inputs())

        @tf.function(autograph=False)
        def train(x, mask, layer=layer):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = ops.sum(layer(x, mask=mask, use_causal_mask=causal, training=True))
            return loss, tape.gradient(loss, [x, *layer.trainable_weights])

        specs = tf.TensorSpec((1, n, WIDTH)), tf.TensorSpec((1, n), tf.bool)
        shapes = shapes_in(train.get_concrete_function(*specs).graph)  # traced, not run
        assert len(shapes) > 100
        shapes = [shape for shape in shapes if len(shape) > 1]
        assert all(None not in shape for shape in shapes)
        assert not [shape for shape in shapes if sorted(shape)[-2] >= n // 4]
        largest.append(max(np.prod(shape) for shape in shapes))
    assert largest[1] <= 2 * largest[0]


@pytest.mark.tensorflow
@one_of_each
def test_one_trace_serves_every_length(name):  # the symbolic shapes of test_conformance.py are not causal
    layer = with_random_weights(LAYERS[name](), inputs())
    traces = []

    @tf.function(autograph=False, input_signature=[tf.TensorSpec((None, None, WIDTH))])
    def run(x):
        traces.append(1)
        with tf.GradientTape() as tape:
            output = layer(x, use_causal_mask=True)
        return output, tape.gradient(output, layer.trainable_weights)

    for batch, length in [(2, 23), (3, 1)]:
        x = inputs(batch, length)
        output, gradients = run(x)
        np.testing.assert_allclose(array(output), array(layer(x, use_causal_mask=True)), atol=1e-5)
        assert all(np.isfinite(array(gradient)).all() for gradient in gradients)
    assert len(traces) == 1


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["longformer, global", "big bird", "reformer", "performer"])
def test_compiled_by_xla(name):
    x, mask = inputs(), padding(N, 9)
    layer = with_random_weights(LAYERS[name](), x)

    @tf.function(autograph=False, jit_compile=True)
    def run(x):
        with tf.GradientTape() as tape:
            output = layer(x, mask=mask, use_causal_mask=True)
        return output, tape.gradient(output, layer.trainable_weights)

    output, gradients = run(x)
    np.testing.assert_allclose(array(output), array(layer(x, mask=mask, use_causal_mask=True)), atol=1e-5)
    assert all(np.isfinite(array(gradient)).all() for gradient in gradients)
