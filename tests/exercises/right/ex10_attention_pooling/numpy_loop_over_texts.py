import math

import keras
import numpy as np


def last_state(states, mask):
    return np.array(
        [[h for h, real in zip(*text, strict=True) if real][-1] for text in zip(states, mask, strict=True)]
    )


def mean_state(states, mask):
    return np.array([np.mean(text[real], axis=0) for text, real in zip(states, mask, strict=True)])


def attention_pooling(states, w, b, v, mask=None):
    states, w, b, v = (np.array(x) for x in (states, w, b, v))
    batch, length, width = states.shape
    output, weights = np.zeros((batch, width)), np.zeros((batch, length))
    for text, h in enumerate(states):
        real = [t for t in range(length) if mask is None or mask[text, t]]
        powers = {t: math.exp(float(sum(v * np.tanh(h[t] @ w + b)))) for t in real}
        for t in real:
            weights[text, t] = powers[t] / sum(powers.values())
            output[text] += weights[text, t] * h[t]
    return output, weights


class AttentionPooling(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, inputs_shape):
        self.w = self.add_weight(shape=(inputs_shape[2], self.units))
        self.b, self.v = self.add_weight(shape=(self.units,)), self.add_weight(shape=(self.units,))

    def call(self, inputs, mask=None):
        return attention_pooling(inputs, self.w, self.b, self.v, mask)
