import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.models.recurrence import CELLS, GRU, LSTM, Attention, recurrent, step

T, B, TK, D, U, M, A = 5, 3, 6, 7, 4, 9, 8


def tensors(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [tf.constant(rng.normal(0, 0.7, shape), tf.float32) for shape in shapes]


def test_gru_is_a_step_of_keras():
    x, state, kernel, recurrent_kernel, bias = tensors((B, D), (B, U), (D, 3 * U), (U, 3 * U), (2, 3 * U))
    cell = keras.layers.GRUCell(U, reset_after=True)
    cell.build((B, D))
    cell.set_weights([kernel, recurrent_kernel, bias])
    expected, _ = cell(x, [state])
    (ours,), _ = GRU.forward(x @ kernel + bias[0], state @ recurrent_kernel + bias[1], (state,))
    np.testing.assert_allclose(ours, expected, atol=1e-6)


def test_lstm_is_a_step_of_keras():
    shapes = (B, D), (B, U), (B, U), (D, 4 * U), (U, 4 * U), (4 * U,)
    x, state, cell_state, kernel, recurrent_kernel, bias = tensors(*shapes)
    cell = keras.layers.LSTMCell(U)
    cell.build((B, D))
    cell.set_weights([kernel, recurrent_kernel, bias])
    _, expected = cell(x, [state, cell_state])
    ours, _ = LSTM.forward(x @ kernel + bias, state @ recurrent_kernel, (state, cell_state))
    for mine, theirs in zip(ours, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)


def inputs(name, attention):
    """Everything that `recurrent` takes, as a dictionary of tensors; keys of width U where it is "dot".

    "with input" is additive, the query having a part that comes from the input.
    """
    gates = CELLS[name].gates * U
    wide = gates + (A if attention in ("additive", "with input") else 0)
    names = ["projected", "kernel", "bias", "state", "cell"][: 4 if name == "gru" else 5]
    shapes = [(T, B, wide if attention == "with input" else gates), (U, wide), (gates,), (B, U), (B, U)][
        : len(names)
    ]
    if attention:
        names += ["keys", "memory", "context_kernel"]
        shapes += [(B, TK, U if attention == "dot" else A), (B, TK, M), (M, gates)]
    if attention in ("additive", "with input"):
        names, shapes = [*names, "vector"], [*shapes, (A,)]
    return dict(zip(names, tensors(*shapes), strict=True))


def parts(values):
    """The arguments of `recurrent` after the cell."""
    state = tuple(values[name] for name in ("state", "cell") if name in values)
    look = None
    if "keys" in values:
        bias = tf.where(np.arange(TK) < [[4], [6], [1]], 0.0, -1e9)
        look = Attention(
            values["keys"], values["memory"], bias, values["context_kernel"], values.get("vector")
        )
    return values["projected"], state, values["kernel"], values["bias"], look


def step_by_step(cell, values):
    projected, state, kernel, bias, look = parts(values)
    rows = []
    for x in tf.unstack(projected):
        state, *found = step(cell, x, state, kernel, bias, look)
        rows.append((state[0], *found))
    return [tf.stack(column) for column in zip(*rows, strict=True)]


CASES = (
    pytest.mark.parametrize("name", CELLS),
    pytest.mark.parametrize("attention", [None, "dot", "additive", "with input"]),
)


@CASES[0]
@CASES[1]
def test_gradients_are_those_of_automatic_differentiation(name, attention):
    values = inputs(name, attention)
    results = []
    for run in (lambda cell, values: recurrent(cell, *parts(values)), step_by_step):
        with tf.GradientTape() as tape:
            tape.watch(values)
            outputs = run(CELLS[name], values)
            weights = tensors(*(x.shape for x in outputs[:2]), seed=1)
            loss = sum(tf.reduce_sum(w * x) for w, x in zip(weights, outputs, strict=False))
        results.append((outputs, tape.gradient(loss, values)))
    (ours, gradients), (expected, plain) = results
    assert [x.shape for x in ours] == [(T, B, U), (T, B, M), (T, B, TK)][: 3 if attention else 1]
    for a, b in zip(ours, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    for key in values:
        assert np.abs(plain[key]).max() > 1e-3, key
        np.testing.assert_allclose(gradients[key], plain[key], atol=2e-5, err_msg=key)


def test_a_look_is_the_formula():
    values = inputs("gru", "additive")
    look = parts(values)[-1]
    (query,) = tensors((B, A), seed=2)
    weights, context, _ = look.look(query)
    scores = np.tanh(query.numpy()[:, None] + look.keys.numpy()) @ look.vector.numpy()
    for i, n in enumerate((4, 6, 1)):
        expected = np.exp(scores[i, :n]) / np.exp(scores[i, :n]).sum()
        np.testing.assert_allclose(weights[i, :n], expected, atol=1e-6)
        assert not weights[i, n:].numpy().any()
        np.testing.assert_allclose(context[i], expected @ look.memory[i, :n].numpy(), atol=1e-5)


@pytest.mark.parametrize("name", CELLS)
def test_in_a_graph_of_unknown_lengths(name):
    values = inputs(name, None)
    projected, state, kernel, bias, _ = parts(values)

    @tf.function(input_signature=[tf.TensorSpec((None, None, projected.shape[-1]))])
    def run(projected):
        return recurrent(CELLS[name], projected, state, kernel, bias)[0]

    whole = run(projected)
    np.testing.assert_allclose(whole, step_by_step(CELLS[name], values)[0], atol=1e-6)
    np.testing.assert_allclose(run(projected[:2]), whole[:2], atol=1e-6)
