"""The products by hand, with the weights of the given layers."""

import keras
from keras import ops


def positional_encoding(length, width):
    column = ops.arange(width)
    wave = ops.power(10000.0, -ops.cast(2 * (column // 2), "float32") / width)
    angle = ops.outer(ops.arange(length, dtype="float32"), wave)
    return ops.where(column % 2 == 1, ops.cos(angle), ops.sin(angle))


class LayerNorm(keras.layers.Layer):
    def build(self, inputs_shape):
        self.gain = keras.Variable(ops.ones(inputs_shape[-1:]))
        self.shift = keras.Variable(ops.zeros(inputs_shape[-1:]))

    def call(self, inputs):
        centred = inputs - ops.mean(inputs, axis=-1, keepdims=True)
        scale = ops.rsqrt(ops.mean(centred * centred, axis=-1, keepdims=True) + 1e-6)
        return ops.multiply(centred * scale, self.gain) + self.shift


class TransformerBlock(keras.layers.Layer):
    def __init__(self, width, num_heads, hidden_width):
        super().__init__()
        self.num_heads = num_heads
        self.norm_1, self.norm_2 = LayerNorm(), LayerNorm()
        for name in ("query", "key", "value", "merge", "contract"):
            setattr(self, name, keras.layers.Dense(width))
        self.expand = keras.layers.Dense(hidden_width)
        self.hidden_width = hidden_width

    def build(self, inputs_shape):
        for layer in (self.norm_1, self.norm_2, self.query, self.key, self.value, self.merge, self.expand):
            layer.build(inputs_shape)
        self.contract.build((*inputs_shape[:-1], self.hidden_width))

    def project(self, layer, x):
        kernel = ops.reshape(layer.kernel, (layer.kernel.shape[0], self.num_heads, -1))
        return ops.einsum("btd,dhe->bhte", x, kernel) + ops.reshape(layer.bias, (self.num_heads, 1, -1))

    def call(self, inputs, mask=None):
        x = self.norm_1(inputs)
        query, key, value = (self.project(layer, x) for layer in (self.query, self.key, self.value))
        scores = ops.einsum("bhqe,bhke->bhqk", query, key) / ops.sqrt(float(key.shape[-1]))
        if mask is not None:
            scores = ops.where(ops.expand_dims(mask, 1), scores, float("-inf"))
        weights = ops.softmax(scores, axis=-1)
        attended = ops.reshape(ops.einsum("bhqk,bhke->bqhe", weights, value), inputs.shape)
        y = inputs + ops.matmul(attended, self.merge.kernel) + self.merge.bias
        hidden = ops.maximum(self.expand(self.norm_2(y)), 0.0)
        return y + self.contract(hidden), weights
