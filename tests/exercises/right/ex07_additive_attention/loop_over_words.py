import keras
from keras import ops


def additive_attention(query, memory, w_query, w_key, v, mask=None):
    q = ops.dot(query, w_query)
    scores = [ops.sum(ops.tanh(q + ops.dot(memory[:, i], w_key)) * v, -1) for i in range(memory.shape[1])]
    powers = [ops.exp(score) for score in scores]  # no larger than exp(Σ|v|)
    if mask is not None:
        powers = [power * ops.cast(mask[:, i], power.dtype) for i, power in enumerate(powers)]
    weights = ops.stack([power / sum(powers) for power in powers], axis=1)
    context = sum(weights[:, i, None] * memory[:, i] for i in range(memory.shape[1]))
    return context, weights


class AttentionDecoder(keras.layers.Layer):
    def __init__(self, units, attention_units):
        super().__init__()
        self.units, self.attention_units = units, attention_units

    def build(self, embedded_shape, memory_shape):
        u, a, m = self.units, self.attention_units, memory_shape[-1]
        self.w_query = self.add_weight(shape=(u, a))
        self.w_key = self.add_weight(shape=(m, a))
        self.v = self.add_weight(shape=(a,))
        self.w_input = self.add_weight(shape=(embedded_shape[-1], u))
        self.w_context = self.add_weight(shape=(m, u))
        self.w_state = self.add_weight(shape=(u, u))

    def call(self, embedded, state, memory, mask=None):
        inputs, states, rows = ops.dot(embedded, self.w_input), [state], []
        for word in ops.unstack(inputs, axis=1):
            context, row = additive_attention(states[-1], memory, self.w_query, self.w_key, self.v, mask)
            states.append(
                ops.tanh(word + ops.dot(context, self.w_context) + ops.dot(states[-1], self.w_state))
            )
            rows.append(row)
        return ops.swapaxes(ops.stack(states[1:]), 0, 1), ops.stack(rows, axis=-2)
