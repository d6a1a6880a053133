"""Exports to ONNX and LiteRT, where the exporters are installed: what runs there computes the same."""

import keras
import numpy as np
import pytest

from keras_attention.layers import BahdanauAttention, CrossAttention, PerformerAttention, SelfAttention

WIDTH = 6
pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),  # the exporters' own
]


def data(batch, length):
    return np.random.default_rng(length).normal(size=(batch, length, WIDTH)).astype("float32")


def multi_head():
    inputs = keras.Input((None, WIDTH))
    # not one key head: tf2onnx takes the transposition of an axis of length 1 for a wrong reshape
    hidden = SelfAttention(4, 4, num_key_value_heads=2, rotary=True)(inputs, use_causal_mask=True)
    return keras.Model(inputs, CrossAttention(2, 3)(hidden, inputs))


def additive():
    inputs = keras.Input((None, WIDTH))
    return keras.Model(inputs, BahdanauAttention(4)(inputs, inputs, use_causal_mask=True))


def performer():
    inputs = keras.Input((None, WIDTH))
    return keras.Model(inputs, PerformerAttention(2, 4, num_features=8, seed=0)(inputs))


@pytest.fixture
def all_scores_at_once():
    keras.config.disable_flash_attention()
    yield
    keras.config.enable_flash_attention()


@pytest.mark.parametrize("make", [multi_head, additive, performer])
def test_onnx(make, tmp_path, all_scores_at_once):
    pytest.importorskip("tf2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    model, path = make(), str(tmp_path / "model.onnx")
    model(data(1, 2))  # Keras exports to ONNX what has been called
    model.export(path, format="onnx", verbose=False)
    session = onnxruntime.InferenceSession(path)
    for x in (data(2, 5), data(3, 8)):
        (output,) = session.run(None, {session.get_inputs()[0].name: x})
        np.testing.assert_allclose(output, model(x), atol=1e-5)


@pytest.mark.parametrize("make", [multi_head, additive])
def test_litert(make, tmp_path, all_scores_at_once):
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    model, path = make(), str(tmp_path / "model.tflite")
    model.export(path, format="litert", verbose=False)
    run = interpreter.Interpreter(path)
    source, result = (details()[0]["index"] for details in (run.get_input_details, run.get_output_details))
    for x in (data(2, 5), data(3, 8)):
        run.resize_tensor_input(source, x.shape)
        run.allocate_tensors()
        run.set_tensor(source, x)
        run.invoke()
        np.testing.assert_allclose(run.get_tensor(result), model(x), atol=1e-5)
