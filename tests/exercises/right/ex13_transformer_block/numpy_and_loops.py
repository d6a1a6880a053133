import math

import keras
import numpy as np
from keras import ops


def positional_encoding(length, width):
    table = np.zeros((length, width))
    for t in range(length):
        for column in range(width):
            angle = t / 10000 ** ((column - column % 2) / width)
            table[t, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


class LayerNorm(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def build(self, shape):
        self.gain = self.add_weight(shape=shape[-1:], initializer=keras.initializers.Constant(1.0))
        self.shift = self.add_weight(shape=shape[-1:], initializer=keras.initializers.Constant(0.0))

    def call(self, inputs):
        x = np.array(inputs, "float64")
        normed = (x - x.mean(axis=2, keepdims=True)) / np.sqrt(x.var(axis=2, keepdims=True) + 1e-6)
        return ops.convert_to_tensor((normed * np.array(self.gain) + np.array(self.shift)).astype("float32"))


class TransformerBlock(keras.layers.Layer):
    def __init__(self, width, num_heads, hidden_width):
        super().__init__()
        self.num_heads = num_heads
        self.norm_1, self.norm_2 = LayerNorm(), LayerNorm()
        self.query, self.key, self.value, self.merge = (keras.layers.Dense(width) for _ in range(4))
        self.expand = keras.layers.Dense(hidden_width, activation="relu")
        self.contract = keras.layers.Dense(width)

    def call(self, inputs, mask=None):
        x = self.norm_1(inputs)
        heads, all_weights = [], []
        split = [
            np.split(np.array(layer(x)), self.num_heads, 2) for layer in (self.query, self.key, self.value)
        ]
        for query, key, value in zip(*split, strict=True):
            powers = np.exp(query @ key.swapaxes(1, 2) / math.sqrt(key.shape[2]))
            powers = powers if mask is None else powers * np.array(mask)
            all_weights.append(powers / powers.sum(2, keepdims=True))
            heads.append(all_weights[-1] @ value)
        inputs = inputs + self.merge(np.concatenate(heads, 2))
        return inputs + self.contract(self.expand(self.norm_2(inputs))), np.stack(all_weights, 1)
