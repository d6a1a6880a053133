import keras
from keras import ops


def last_state(states, mask):
    real = ops.cast(mask, "float32")
    after = ops.pad(real[:, 1:], ((0, 0), (0, 1)))
    return ops.einsum("bt,btd->bd", real - after, states)


def mean_state(states, mask):
    real = ops.cast(mask, "float32")
    return ops.einsum("bt,btd->bd", real / ops.sum(real, axis=1, keepdims=True), states)


def attention_pooling(states, w, b, v, mask=None):
    hidden = ops.tanh(ops.einsum("btd,du->btu", states, w) + b[None, None])
    scores = ops.einsum("btu,u->bt", hidden, v)
    if mask is None:
        mask = ops.ones(scores.shape, "bool")
    hidden_scores = ops.where(mask, scores, float("-inf"))
    weights = ops.exp(hidden_scores - ops.logsumexp(hidden_scores, axis=1, keepdims=True))
    weights = ops.where(ops.isnan(weights), 0.0, weights)
    return ops.einsum("bt,btd->bd", weights, states), weights


class AttentionPooling(keras.layers.Layer):
    """With the bias as one more row of W would have it: h and 1 side by side."""

    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, inputs_shape):
        self.w = keras.Variable(keras.random.normal((inputs_shape[-1], self.units)))
        self.b = keras.Variable(ops.zeros(self.units))
        self.v = keras.Variable(keras.random.normal((self.units,)))

    def call(self, inputs, mask=None):
        one = ops.concatenate([inputs, ops.ones_like(inputs[..., :1])], axis=-1)
        both = ops.concatenate([self.w, self.b[None]], axis=0)
        scores = ops.matmul(ops.tanh(ops.matmul(one, both)), self.v)
        powers = ops.exp(scores)
        if mask is not None:
            powers = ops.where(mask, powers, 0.0)
        weights = powers / ops.maximum(ops.sum(powers, axis=-1, keepdims=True), 1e-30)
        return ops.squeeze(ops.matmul(weights[:, None], inputs), 1), weights
