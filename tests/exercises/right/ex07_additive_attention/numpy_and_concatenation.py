import keras
import numpy as np


def additive_attention(query, memory, w_query, w_key, v, mask=None):
    queries = np.repeat(query[:, None], memory.shape[1], axis=1)
    pairs = np.concatenate([queries, memory], axis=-1)  # (B, Tk, U + M)
    scores = np.tanh(pairs @ np.concatenate([w_query, w_key])) @ v
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return np.einsum("bk,bkm->bm", weights, memory), weights


class AttentionDecoder(keras.layers.Layer):
    def __init__(self, units, attention_units):
        super().__init__()
        self.units, self.attention_units = units, attention_units

    def build(self, embedded_shape, memory_shape):
        e, m, u, a = embedded_shape[-1], memory_shape[-1], self.units, self.attention_units
        shapes = {"w_query": (u, a), "w_key": (m, a), "v": (a,)}
        shapes |= {"w_input": (e, u), "w_context": (m, u), "w_state": (u, u)}
        for name, shape in shapes.items():
            setattr(self, name, self.add_weight(name=name, shape=shape, initializer="normal"))

    def call(self, embedded, state, memory, mask=None):
        embedded, state, memory = (np.array(x, "float64") for x in (embedded, state, memory))
        attention = [np.array(w, "float64") for w in (self.w_query, self.w_key, self.v)]
        cell = np.concatenate([self.w_input, self.w_context, self.w_state])
        mask = None if mask is None else np.array(mask)
        states = np.zeros((*embedded.shape[:2], self.units))
        looked = np.zeros((*embedded.shape[:2], memory.shape[1]))
        for t in range(embedded.shape[1]):
            context, looked[:, t] = additive_attention(state, memory, *attention, mask)
            state = np.tanh(np.concatenate([embedded[:, t], context, state], axis=1) @ cell)
            states[:, t] = state
        return states, looked
