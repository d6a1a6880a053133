import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.models.encoder import BidirectionalEncoder

B, T, E, U = 3, 6, 5, 4
MASK = np.arange(T) < np.array([[4], [6], [0]])


@pytest.mark.parametrize("merge", ["concat", "sum"])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_is_the_bidirectional_layer_of_keras(cell, merge):
    rnn = {"gru": keras.layers.GRU, "lstm": keras.layers.LSTM}[cell](U, return_sequences=True)
    theirs = keras.layers.Bidirectional(rnn, merge_mode=merge)
    theirs.build((None, None, E))
    rng = np.random.default_rng(0)
    theirs.set_weights([rng.normal(size=weight.shape) for weight in theirs.get_weights()])
    ours = BidirectionalEncoder(U, cell, merge)
    ours.build((None, None, E))
    for direction, layer in enumerate((theirs.forward_layer, theirs.backward_layer)):
        kernel, recurrent, bias = layer.get_weights()
        biases = bias if cell == "gru" else (bias, np.zeros_like(bias))
        ours.input_dense[direction].set_weights([kernel, biases[0]])
        ours.state_dense[direction].set_weights([recurrent, biases[1]])
    embedded = tf.constant(rng.normal(size=(B, T, E)), tf.float32)
    annotations = ours(embedded, mask=tf.constant(MASK)).numpy()
    expected = theirs(embedded, mask=tf.constant(MASK)).numpy()
    assert annotations.shape == (B, T, 2 * U if merge == "concat" else U)
    np.testing.assert_allclose(annotations[MASK], expected[MASK], atol=1e-5)
    assert not annotations[~MASK].any()


def test_config_builds_the_same_layer():
    config = BidirectionalEncoder(U, "lstm", "sum").get_config()
    again = BidirectionalEncoder.from_config(config)
    assert (again.units, again.cell, again.merge) == (U, "lstm", "sum")
