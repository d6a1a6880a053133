"""What Keras offers for any layer: files, quantization, LoRA, export, deterministic seeds."""

import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import CrossAttention, MultiHeadAttention, SelfAttention

T, WIDTH = 5, 6


def array(tensor):
    return ops.convert_to_numpy(tensor)


def data(length=T, batch=2):
    return np.random.default_rng(0).normal(size=(batch, length, WIDTH)).astype("float32")


def model_of(**options):
    inputs = keras.Input((None, WIDTH))
    hidden = SelfAttention(2, 4, **options)(inputs, use_causal_mask=True)
    return keras.Model(inputs, CrossAttention(2, 3, **options)(hidden, inputs))


def test_weights_of_keras_load_from_its_file(tmp_path):
    inputs = keras.Input((T, WIDTH))
    theirs = keras.Model(inputs, keras.layers.MultiHeadAttention(2, 4, name="attention")(inputs, inputs))
    theirs.save_weights(tmp_path / "theirs.weights.h5")
    ours = keras.Model(inputs, MultiHeadAttention(2, 4, name="attention")(inputs, inputs))
    ours.load_weights(tmp_path / "theirs.weights.h5")
    np.testing.assert_allclose(array(ours(data())), array(theirs(data())), atol=1e-6)


def test_weights_file_round_trip(tmp_path):
    model, other = model_of(), model_of()
    model.save_weights(tmp_path / "model.weights.h5")
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(array(other(data())), array(model(data())))


def test_grouped_queries_take_the_weights_of_keras():
    theirs = keras.layers.GroupQueryAttention(head_dim=4, num_query_heads=4, num_key_value_heads=2)
    ours = MultiHeadAttention(4, 4, num_key_value_heads=2)
    x, y = data(), data(7)
    theirs(x, y), ours(x, y)
    ours.set_weights(theirs.get_weights())
    np.testing.assert_allclose(array(ours(x, y)), array(theirs(x, y)), atol=1e-6)


def test_in_a_sequential_model():
    model = keras.Sequential([keras.Input((None, WIDTH)), SelfAttention(2, 4), keras.layers.Dense(3)])
    assert model(data()).shape == (2, T, 3)


def test_in_a_subclassed_model(tmp_path):
    @keras.saving.register_keras_serializable(package="test")
    class Model(keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.attention = SelfAttention(2, 4)

        def call(self, x):
            return self.attention(x)

    model = Model()
    expected = array(model(data()))
    model.save(tmp_path / "model.keras")
    np.testing.assert_array_equal(array(keras.saving.load_model(tmp_path / "model.keras")(data())), expected)


@pytest.mark.filterwarnings("ignore")  # Keras warns of layers that it leaves as they are
def test_a_model_may_be_quantized(tmp_path):
    model = model_of()
    expected = array(model(data()))
    model.quantize("int8")
    output = array(model(data()))
    assert (output != expected).any()
    np.testing.assert_allclose(output, expected, atol=0.05)
    kernels = [w for w in model.weights if w.dtype == "int8"]
    assert len(kernels) == 8
    for _ in range(2):  # what was loaded can be saved again
        model.save(tmp_path / "model.keras")
        model = keras.saving.load_model(tmp_path / "model.keras")
        np.testing.assert_allclose(array(model(data())), output, atol=1e-6)


def test_lora_trains_little_and_changes_nothing_at_first():
    layer = SelfAttention(2, 4)
    expected = array(layer(data()))
    for dense in layer.projections:
        dense.enable_lora(rank=2)
    np.testing.assert_allclose(array(layer(data())), expected, atol=1e-6)
    trainable = {w.path.split("/")[-1] for w in layer.trainable_weights}
    assert trainable == {"lora_kernel_a", "lora_kernel_b", "bias"}
    model = keras.Sequential([layer])
    model.compile("sgd", "mse")
    model.fit(data(), data(), epochs=2, verbose=0)
    assert (array(layer(data())) != expected).any()


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_export_to_a_saved_model_that_needs_no_package(tmp_path):
    model = model_of()
    expected = array(model(data()))
    model.export(tmp_path / "model", verbose=False)
    np.save(tmp_path / "x.npy", data())
    code = (
        "import sys, numpy as np, tensorflow as tf\n"
        f"model = tf.saved_model.load(r'{tmp_path / 'model'}')\n"
        f"y = model.serve(np.load(r'{tmp_path / 'x.npy'}'))\n"
        "assert 'keras_attention' not in sys.modules\n"
        f"np.save(r'{tmp_path / 'y.npy'}', y)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, atol=1e-6)


@pytest.mark.tensorflow
def test_new_lengths_are_not_traced_again():
    import tensorflow as tf

    layer, traces = SelfAttention(2, 4), []
    layer(data())

    @tf.function(input_signature=[tf.TensorSpec((None, None, WIDTH))])
    def call(x):
        traces.append(x)
        return layer(x, use_causal_mask=True)

    for length in (3, 5, 8):
        np.testing.assert_allclose(
            array(call(data(length))), array(layer(data(length), use_causal_mask=True)), atol=1e-6
        )
    assert len(traces) == 1


def test_random_seeds_make_it_repeat_itself():
    outputs = []
    for _ in range(2):
        keras.utils.set_random_seed(5)
        outputs.append(array(SelfAttention(2, 4, dropout=0.3)(data(), training=True)))
    np.testing.assert_array_equal(*outputs)
