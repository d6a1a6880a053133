import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.models.decoder import ATTENTIONS, AttentionDecoder

B, T, TK, E, U, F = 3, 4, 6, 5, 8, 7
LENGTHS = np.array([4, 6, 1])


def width(attention):
    return U if attention == "luong-dot" else 9


@pytest.fixture(scope="module")
def decoder():
    """decoder(attention, cell): with weights whose scores are far apart."""
    keras.utils.set_random_seed(0)

    def decoder(attention, cell="gru"):
        layer = AttentionDecoder(U, F, cell, attention)
        layer.build((None, None, E), (None, None, width(attention)))
        rng = np.random.default_rng(1)
        layer.set_weights([rng.normal(0, 0.6, w.shape) for w in layer.get_weights()])
        return layer

    return decoder


def inputs(attention):
    rng = np.random.default_rng(0)
    mask = np.arange(TK) < LENGTHS[:, None]
    embedded = rng.normal(size=(B, T, E))
    memory = rng.normal(size=(B, TK, width(attention))) * mask[..., None]
    return tf.constant(embedded, tf.float32), tf.constant(memory, tf.float32), tf.constant(mask)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_all_steps_at_once_equal_one_after_another(decoder, attention, cell):
    layer = decoder(attention, cell)
    embedded, memory, mask = inputs(attention)
    readouts, weights = layer(embedded, memory=memory, mask=mask)
    assert readouts.shape == (B, T, F)
    assert weights.shape == (B, T, TK)
    constants, state = layer.start(memory, mask)
    assert len(state) == (1 if cell == "gru" else 2)
    for t in range(T):
        readout, state, row = layer.step(embedded[:, t], state, constants)
        np.testing.assert_allclose(readout, readouts[:, t], atol=1e-5)
        np.testing.assert_allclose(row, weights[:, t], atol=1e-5)


@pytest.mark.parametrize("attention", [name for name in ATTENTIONS if name != "none"])
def test_a_step_looks_where_the_attention_layer_does(decoder, attention):
    layer = decoder(attention)
    embedded, memory, mask = inputs(attention)
    constants, state = layer.start(memory, mask)
    for t in range(T):
        query = tf.concat([state[0], embedded[:, t]], -1) if attention == "bahdanau-word" else state[0]
        expected = layer.attend(query, memory, value_mask=mask, return_attention_scores=True)[1]
        _, state, weights = layer.step(embedded[:, t], state, constants)
        np.testing.assert_allclose(weights, expected, atol=1e-5)
        np.testing.assert_array_equal(weights > 0, mask)
    assert np.ptp(weights[1]) > 0.1  # not near to uniform, where much would be equal


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_step_is_the_formula(decoder, cell):
    """s₀, cₜ, sₜ by Keras's cells and rₜ, for the first step."""
    layer = decoder("bahdanau", cell)
    embedded, memory, mask = inputs("bahdanau")
    mean = memory.numpy().sum(1) / LENGTHS[:, None]
    kernel, bias = layer.initial_dense.get_weights()
    state = np.tanh(mean @ kernel + bias)
    context = layer.attend(tf.constant(state), memory, value_mask=mask).numpy()
    keras_cell = keras.layers.GRUCell(U) if cell == "gru" else keras.layers.LSTMCell(U)
    keras_cell.build((B, E + 9))
    (w_y, b), (w_c,) = layer.input_dense.get_weights(), layer.context_dense.get_weights()
    recurrent, recurrent_bias = layer.state_dense.get_weights()
    biases = np.stack([b, recurrent_bias]) if cell == "gru" else b + recurrent_bias
    keras_cell.set_weights([np.concatenate([w_y, w_c]), recurrent, biases])
    states = [tf.constant(state)] + [tf.zeros((B, U))] * (cell == "lstm")
    new, _ = keras_cell(tf.concat([embedded[:, 0], context], -1), states)
    kernel, bias = layer.readout_dense.get_weights()
    expected = np.tanh(np.concatenate([new, context, embedded[:, 0]], -1) @ kernel + bias)
    readouts, _ = layer(embedded, memory=memory, mask=mask)
    np.testing.assert_allclose(readouts[:, 0], expected, atol=1e-5)


def test_without_attention_only_the_mean_of_the_memory_counts(decoder):
    layer = decoder("none")
    embedded, memory, mask = inputs("none")
    readouts, weights = layer(embedded, memory=memory, mask=mask)
    assert not weights.numpy().any()
    assert weights.shape == (B, T, TK)
    mean = tf.reduce_sum(memory, 1, keepdims=True) / LENGTHS[:, None, None]
    short, _ = layer(embedded, memory=mean, mask=tf.ones((B, 1), bool))
    np.testing.assert_allclose(short, readouts, atol=1e-5)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_padding_of_the_source_changes_nothing(decoder, attention):
    layer = decoder(attention)
    embedded, memory, mask = inputs(attention)
    readouts, weights = layer(embedded, memory=memory, mask=mask)
    longer = layer(
        embedded, memory=tf.pad(memory, [[0, 0], [0, 5], [0, 0]]), mask=tf.pad(mask, [[0, 0], [0, 5]])
    )
    np.testing.assert_allclose(longer[0], readouts, atol=1e-5)
    np.testing.assert_allclose(longer[1][..., :TK], weights, atol=1e-6)
    assert not longer[1][..., TK:].numpy().any()
    for i, n in enumerate(LENGTHS):
        alone, _ = layer(embedded[i : i + 1], memory=memory[i : i + 1, :n], mask=mask[i : i + 1, :n])
        np.testing.assert_allclose(alone[0], readouts[i], atol=1e-5)


def test_an_empty_source_gives_numbers(decoder):
    layer = decoder("bahdanau")
    embedded, memory, mask = inputs("bahdanau")
    constants, state = layer.start(tf.zeros_like(memory), tf.zeros_like(mask))
    readout, *_ = layer.step(embedded[:, 0], state, constants)
    assert np.isfinite(readout).all()


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_every_weight_learns(decoder, cell):
    layer = decoder("bahdanau", cell)
    embedded, memory, mask = inputs("bahdanau")
    with tf.GradientTape() as tape:
        readouts, _ = layer(embedded, memory=memory, mask=mask)
        loss = tf.reduce_sum(readouts**2)
    gradients = tape.gradient(loss, layer.trainable_weights)
    moved = [bool(np.abs(gradient).max() > 1e-6) for gradient in gradients]
    assert all(moved), moved


def test_config_builds_the_same_layer(decoder):
    layer = decoder("luong-general", "lstm")
    config = layer.get_config()
    assert (config["units"], config["features"], config["cell"], config["attention"]) == (
        U,
        F,
        "lstm",
        "luong-general",
    )
    again = AttentionDecoder.from_config(config)
    again.build((None, None, E), (None, None, 9))
    assert [w.shape for w in again.weights] == [w.shape for w in layer.weights]


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_gradients_are_those_of_step_by_step(decoder, attention, cell):
    layer = decoder(attention, cell)
    embedded, memory, mask = inputs(attention)
    results = []
    for at_once in (True, False):
        with tf.GradientTape() as tape:
            tape.watch([embedded, memory])
            if at_once:
                readouts, _ = layer(embedded, memory=memory, mask=mask)
            else:
                constants, state = layer.start(memory, mask)
                rows = []
                for t in range(T):
                    readout, state, _ = layer.step(embedded[:, t], state, constants)
                    rows.append(readout)
                readouts = tf.stack(rows, 1)
            loss = tf.reduce_sum(readouts**3)
        results.append(tape.gradient(loss, [embedded, memory, *map(variable, layer.trainable_weights)]))
    for mine, expected in zip(*results, strict=True):
        np.testing.assert_allclose(mine, expected, atol=5e-5)


def variable(weight):
    return weight.value
