import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers, ops

from keras_attention import inspection
from keras_attention.inspection import AttentionRecorder, attention_scores
from keras_attention.layers import (
    AttentionPooling,
    BahdanauAttention,
    CrossAttention,
    LuongAttention,
    MultiHeadAttention,
    ScaledDotProductAttention,
    SelfAttention,
)


@pytest.fixture(autouse=True)
def _same_start():
    keras.utils.set_random_seed(0)
    keras.backend.clear_session(free_memory=False)


def tensor(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


QUERY, VALUE = tensor(2, 5, 8), tensor(2, 7, 8, seed=1)  # (B, Tq, D), (B, Tk, D)

# name: layer, how it is called, shape of its weights
LAYERS = {
    "MultiHeadAttention": (lambda: MultiHeadAttention(3, 4), "query, value", (2, 3, 5, 7)),
    "grouped": (lambda: MultiHeadAttention(4, 4, num_key_value_heads=2), "query, value", (2, 4, 5, 7)),
    "SelfAttention": (lambda: SelfAttention(3, 4), "query", (2, 3, 5, 5)),
    "CrossAttention": (lambda: CrossAttention(3, 4), "query, value", (2, 3, 5, 7)),
    "BahdanauAttention": (lambda: BahdanauAttention(6), "query, value", (2, 5, 7)),
    "LuongAttention": (lambda: LuongAttention(), "query, value", (2, 5, 7)),
    "ScaledDotProductAttention": (lambda: ScaledDotProductAttention(), "query, value", (2, 5, 7)),
    "AttentionPooling": (lambda: AttentionPooling(6), "query", (2, 5)),
    "keras MultiHeadAttention": (lambda: layers.MultiHeadAttention(3, 4), "query, value", (2, 3, 5, 7)),
    "keras GroupQueryAttention": (lambda: layers.GroupQueryAttention(4, 4, 2), "query, value", (2, 4, 5, 7)),
    "keras Attention": (lambda: layers.Attention(), "[query, value]", (2, 5, 7)),
    "keras AdditiveAttention": (lambda: layers.AdditiveAttention(), "[query, value]", (2, 5, 7)),
}
CALLS = {
    "query": lambda layer, query, value, **options: layer(query, **options),
    "query, value": lambda layer, query, value, **options: layer(query, value, **options),
    "[query, value]": lambda layer, query, value, **options: layer([query, value], **options),
}


@pytest.fixture(params=LAYERS)
def case(request):
    make, call, shape = LAYERS[request.param]
    layer = make()
    inputs = [keras.Input((None, 8)), keras.Input((None, 8))]
    model = keras.Model(inputs, CALLS[call](layer, *inputs))
    return model, layer, CALLS[call], shape


def test_every_attention_layer_shows_the_weights_it_would_return(case):
    model, layer, call, shape = case
    ((name, weights),) = attention_scores(model, [QUERY, VALUE]).items()
    expected = call(layer, QUERY, VALUE, return_attention_scores=True)[1]
    assert name == layer.path
    assert weights.shape == shape
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights, expected, atol=1e-6)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


def test_model_and_layer_stay_as_they_were(case):
    model, layer, _, _ = case
    before = model([QUERY, VALUE])
    attributes, values = dict(vars(layer)), model.get_weights()
    attention_scores(model, [QUERY, VALUE])
    assert vars(layer) == attributes
    np.testing.assert_array_equal(model([QUERY, VALUE]), before)
    for value, old in zip(model.get_weights(), values, strict=True):
        np.testing.assert_array_equal(value, old)
    assert not tf.config.functions_run_eagerly()


class Block(layers.Layer):
    """Attention within a layer, which hands the wish for its weights down."""

    def __init__(self, **options):
        super().__init__(**options)
        self.inner = {"attention": [SelfAttention(2, 4, dropout=0.5, name="attention")]}  # any nesting
        self.norm = layers.BatchNormalization()

    def call(self, inputs, mask=None, return_attention_scores=False):
        output, weights = self.inner["attention"][0](inputs, mask=mask, return_attention_scores=True)
        output = self.norm(inputs + output)
        return (output, weights) if return_attention_scores else output


class Nested(keras.Model):
    """A subclassed model of a sequential one, whose call is compiled, and that uses one layer twice."""

    def __init__(self, **options):
        super().__init__(**options)
        self.embedding = layers.Embedding(9, 8)
        self.blocks = keras.Sequential([Block(name="first"), Block(name="second")])
        self.pool = AttentionPooling(name="pool")

    @tf.function
    def call(self, inputs):
        embedded = self.embedding(inputs)
        return self.pool(self.blocks(embedded), mask=inputs > 0) + self.pool(embedded)


IDS = np.array([[3, 1, 4, 0], [1, 5, 2, 6], [5, 3, 5, 8]])


def test_layers_are_found_at_any_depth_and_in_compiled_code():
    model = Nested(name="model")
    before = model(IDS)  # traces a graph that knows nothing of recording
    scores = attention_scores(model, IDS)
    assert list(scores) == [
        "model/sequential/first/attention",
        "model/sequential/second/attention",
        "model/pool",
        "model/pool:2",
    ]
    first, _, pooled, embedded = scores.values()
    assert first.shape == (3, 2, 4, 4)
    assert pooled.shape == embedded.shape == (3, 4)
    assert pooled[0, 3] == 0  # padding
    assert not np.allclose(pooled, embedded)
    np.testing.assert_array_equal(model(IDS), before)


def test_an_unbuilt_model_is_built_first():
    assert len(attention_scores(Nested(), IDS)) == 4


def test_a_model_inside_a_model_in_a_wrapper():
    tokens = keras.Input((6, 8))
    inner = keras.Model(tokens, layers.MultiHeadAttention(2, 4, name="deep")(tokens, tokens), name="inner")
    outer = keras.Sequential([layers.TimeDistributed(inner), layers.Flatten(), layers.Dense(1)])
    inputs = tensor(2, 3, 6, 8)
    scores = attention_scores(outer, inputs)
    assert list(scores) == ["deep", "deep:2", "deep:3"]  # one call a step
    for step, weights in enumerate(scores.values()):
        expected = attention_scores(inner, inputs[:, step])["deep"]
        np.testing.assert_allclose(weights, expected, atol=1e-6)


def test_dropout_is_off_even_in_a_model_that_always_trains():
    layer = SelfAttention(2, 4, dropout=0.9)
    inputs = keras.Input((None, 8))
    model = keras.Model(inputs, layer(inputs))
    (weights,) = attention_scores(model, QUERY).values()
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


def test_states_of_layers_do_not_move():
    inputs = keras.Input(batch_shape=(2, 5, 8))
    recurrent = layers.GRU(8, stateful=True, return_sequences=True)
    noise = layers.GaussianNoise(1.0)
    model = keras.Model(inputs, SelfAttention(2, 4)(noise(recurrent(inputs), training=True)))
    states = [*recurrent.states, noise.seed_generator.state]
    before = [ops.convert_to_numpy(state) for state in states]
    attention_scores(model, QUERY)
    for state, old in zip(states, before, strict=True):
        np.testing.assert_array_equal(state, old)


def test_losses_of_layers_stay_those_of_the_last_call():
    inputs = keras.Input((None, 8))
    model = keras.Model(inputs, layers.ActivityRegularization(1.0)(SelfAttention(2, 4)(inputs)))
    model(QUERY)
    before = list(map(float, model.losses))
    assert before
    attention_scores(model, VALUE)
    assert list(map(float, model.losses)) == before


def test_flash_attention_is_put_aside_for_the_look():
    layer = layers.MultiHeadAttention(2, 4)
    inputs = keras.Input((None, 8))
    model = keras.Model(inputs, layer(inputs, inputs))
    layer._flash_attention = True
    assert len(attention_scores(model, QUERY)) == 1
    assert layer._flash_attention is True


def test_an_error_leaves_no_trace():
    layer = SelfAttention(2, 4)
    inputs = keras.Input((None, 8))
    model = keras.Model(inputs, layer(inputs))
    with pytest.raises(ValueError, match="incompatible"):
        attention_scores(model, tensor(2, 5, 9))
    assert "call" not in vars(layer)
    assert not tf.config.functions_run_eagerly()


def test_a_model_without_attention_says_so():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)], name="plain")
    with pytest.raises(ValueError, match="plain called no attention layer"):
        attention_scores(model, tensor(2, 3))


def test_other_arguments_of_the_call_are_passed_on():
    class Masked(keras.Model):
        def __init__(self):
            super().__init__()
            self.attention = SelfAttention(2, 4)

        def call(self, inputs, hide=None):
            return self.attention(inputs, mask=None if hide is None else ops.logical_not(hide))

    hide = np.zeros((2, 5), bool)
    hide[:, 3] = True
    model = Masked()
    (weights,) = attention_scores(model, QUERY, hide=hide).values()
    assert not weights[..., 3].any()
    (weights,) = attention_scores(model, QUERY).values()
    assert weights[..., 3].any()


@pytest.mark.parametrize("wanted", [False, True])
def test_a_layer_may_return_a_cache_too(wanted):
    class Step(keras.Model):
        def __init__(self):
            super().__init__()
            self.attention = SelfAttention(2, 4)

        def call(self, inputs):
            cache = self.attention.init_cache(2, 6)
            results = self.attention(inputs, cache=cache, return_attention_scores=wanted)
            assert len(results) == (3 if wanted else 2)
            return results[-1]["length"]

    (weights,) = attention_scores(Step(), QUERY).values()
    assert weights.shape == (2, 2, 5, 6)


def test_the_translator_shows_its_decoder():
    from keras_attention.data.vocabulary import Vocabulary
    from keras_attention.models import Seq2SeqTranslator

    vocabulary = Vocabulary.build(["a b c d", "d c b a"])
    model = Seq2SeqTranslator(vocabulary, vocabulary, embedding_dim=6, units=4)
    source, target = np.array([[5, 6, 7, 0], [6, 5, 4, 7]]), np.array([[2, 5, 6], [2, 7, 0]])
    ((_, weights),) = attention_scores(model, (source, target)).items()
    assert weights.shape == (2, 3, 4)
    np.testing.assert_allclose(weights, model.readout(source, target)[1], atol=1e-6)


def classifier():
    inputs = keras.Input((5, 8))
    output = layers.Dense(1)(layers.Flatten()(SelfAttention(2, 4, name="attention")(inputs)))
    model = keras.Model(inputs, output)
    model.compile("sgd", "mse")
    return model


def test_the_recorder_notes_the_same_batch_before_training_and_after_epochs():
    model = classifier()
    start = attention_scores(model, VALUE[:, :5])["attention"]
    recorder = AttentionRecorder(VALUE[:, :5], every=2)
    model.fit(QUERY, tensor(2, 1), epochs=5, verbose=0, callbacks=[recorder])
    assert recorder.epochs == [0, 2, 4, 5]
    assert recorder.titles == ["epoch 0", "epoch 2", "epoch 4", "epoch 5"]
    np.testing.assert_allclose(recorder.records[0]["attention"], start, atol=1e-6)
    end = attention_scores(model, VALUE[:, :5])["attention"]
    np.testing.assert_allclose(recorder.records[-1]["attention"], end, atol=1e-6)
    assert not np.allclose(start, end)
    frames = recorder.frames(sample=1, head=1)
    assert frames.shape == (4, 5, 5)
    np.testing.assert_array_equal(frames[-1], recorder.records[-1]["attention"][1, 1])


def test_recording_does_not_change_the_training():
    weights = []
    for callbacks in ([], [AttentionRecorder(VALUE[:, :5])]):
        keras.utils.set_random_seed(0)
        model = classifier()
        model.fit(QUERY, tensor(2, 1), epochs=2, verbose=0, callbacks=callbacks)
        weights.append(model.get_weights())
    for with_recorder, without in zip(*weights, strict=True):
        np.testing.assert_array_equal(with_recorder, without)


def test_a_second_training_starts_anew():
    model, recorder = classifier(), AttentionRecorder(QUERY)
    for _ in range(2):
        model.fit(QUERY, tensor(2, 1), epochs=1, verbose=0, callbacks=[recorder])
    assert recorder.epochs == [0, 1]


def test_the_layer_is_chosen_by_name():
    recorder = AttentionRecorder(QUERY)
    with pytest.raises(ValueError, match="Nothing is recorded yet"):
        recorder.frames()
    recorder.records = [{"a": tensor(2, 5, 7), "b": tensor(2, 5)}]
    assert recorder.frames("a").shape == (1, 5, 7)
    assert recorder.frames("b").shape == (1, 1, 5)  # pooling has one query
    with pytest.raises(ValueError, match="There are several layers: choose among a, b"):
        recorder.frames()
    with pytest.raises(ValueError, match="There is no layer 'c': choose among a, b"):
        recorder.frames("c")
    with pytest.raises(ValueError, match="every is 0"):
        AttentionRecorder(QUERY, every=0)


def test_the_example_of_the_docstring_runs():
    import doctest

    result = doctest.testmod(inspection)
    assert result.attempted > 2
    assert result.failed == 0
