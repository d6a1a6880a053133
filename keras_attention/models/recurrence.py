"""Recurrent networks over time, with and without attention, and their gradients in closed form.

One time step, for a state s and an input whose product Wx is already taken for all steps at once:

    a = Us + b                                      the recurrent product
    e = score(query, keys)    α = softmax(e)        with attention: query = W_q s, W_q s + W_y y, or s
    c = Σᵢ αᵢ·memoryᵢ         x̂ = Wx + W_c c
    s' = cell(x̂, a, s)

The gradient runs back through the same steps. What it finds for the products of a step is kept, and
the gradient of each weight matrix is one large product after the loop,

    dU = Σₜ sₜᵀ·daₜ        dW_c = Σₜ cₜᵀ·dx̂ₜ        dmemory = Σₜ αₜ ⊗ dcₜ

where automatic differentiation would add a small one at every step.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf


class GRU:
    """Gated recurrent unit; z, r, n are the update gate, the reset gate and the candidate.

        z, r = σ(x̂ + a)        n = tanh(x̂ₙ + r ⊙ aₙ)        s' = n + z ⊙ (s − n)

    Paper: Cho et al., 2014, in the form whose reset gate acts after the product.
    """

    gates, saved = 3, 5

    @staticmethod
    def forward(x, a, state):
        """x̂, a (B, 3·units), state (s,) → the next state, and what `backward` needs."""
        (s,) = state
        units = s.shape[-1]
        zr = tf.sigmoid(x[:, : 2 * units] + a[:, : 2 * units])
        z, r, a_n = zr[:, :units], zr[:, units:], a[:, 2 * units :]
        n = tf.tanh(x[:, 2 * units :] + r * a_n)
        return (n + z * (s - n),), (z, r, n, a_n, s)

    @staticmethod
    def backward(saved, d_state):
        """The gradients of x̂, of a, and of the state."""
        z, r, n, a_n, s = saved
        (ds,) = d_state
        dn = ds * (1 - z) * (1 - n * n)
        dz = ds * (s - n) * z * (1 - z)
        dr = dn * a_n * r * (1 - r)
        return tf.concat([dz, dr, dn], 1), tf.concat([dz, dr, dn * r], 1), (ds * z,)


class LSTM:
    """Long short-term memory; i, f, g, o are the input, forget, candidate and output parts of x̂ + a.

        c' = σ(f) ⊙ c + σ(i) ⊙ tanh(g)        s' = σ(o) ⊙ tanh(c')

    Paper: Hochreiter and Schmidhuber, 1997.
    """

    gates, saved = 4, 6

    @staticmethod
    def forward(x, a, state):
        """x̂, a (B, 4·units), state (s, c) → the next state, and what `backward` needs."""
        _, c = state
        i, f, g, o = tf.split(x + a, 4, axis=1)
        i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
        new = f * c + i * g
        t = tf.tanh(new)
        return (o * t, new), (i, f, g, o, c, t)

    @staticmethod
    def backward(saved, d_state):
        """The gradients of x̂, of a, and of the state."""
        i, f, g, o, c, t = saved
        ds, dc = d_state
        dc += ds * o * (1 - t * t)
        d = [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), ds * t * o * (1 - o)]
        d = tf.concat(d, 1)
        return d, d, (tf.zeros_like(ds), dc * f)


CELLS: dict[str, type[GRU] | type[LSTM]] = {"gru": GRU, "lstm": LSTM}


class Attention(NamedTuple):
    """What a decoder attends to.

    The score is additive, vᵀ tanh(query + key), where there is a vector v, else the dot product.
    """

    keys: tf.Tensor  # (B, Tk, U)
    memory: tf.Tensor  # (B, Tk, M)
    bias: tf.Tensor  # (B, Tk), added to the scores: very negative at padding
    context_kernel: tf.Tensor  # W_c (M, gates · units)
    vector: tf.Tensor | None = None  # v (U,)

    def look(self, query):
        """α (B, Tk), c (B, M), and the hidden layer of an additive score, for a query (B, U)."""
        if self.vector is None:
            hidden = query
            scores = tf.matmul(self.keys, query[:, :, None])[:, :, 0]  # (B, Tk)
        else:
            hidden = tf.tanh(query[:, None] + self.keys)  # (B, Tk, U)
            scores = tf.linalg.matvec(hidden, self.vector)  # (B, Tk)
        weights = tf.nn.softmax(scores + self.bias)
        return weights, tf.matmul(weights[:, None], self.memory)[:, 0], hidden

    def look_backward(self, d_context, weights, hidden):
        """The gradients of the query (B, U), of the keys (B, Tk, U) and of v, from that of c (B, M)."""
        d_weights = tf.matmul(self.memory, d_context[:, :, None])[:, :, 0]  # (B, Tk)
        d_scores = weights * (d_weights - tf.reduce_sum(weights * d_weights, 1, keepdims=True))
        if self.vector is None:
            query = hidden
            d_query = tf.matmul(d_scores[:, None], self.keys)[:, 0]
            return d_query, d_scores[:, :, None] * query[:, None], tf.zeros(())
        d_vector = tf.tensordot(d_scores, hidden, 2)
        d_hidden = tf.raw_ops.TanhGrad(y=hidden, dy=d_scores[:, :, None] * self.vector)  # (B, Tk, U)
        return tf.reduce_sum(d_hidden, 1), d_hidden, d_vector


def recurrent(cell, projected, state, kernel, bias, attention=None):
    """Run a cell over time.

    Args:
        cell: `GRU` or `LSTM`.
        projected: Wx of all steps (T, B, gates · units); where the query has a part that does not depend on
            the state, W_y y, that stands beside it.
        state: the tensors (B, units) before the first step.
        kernel: U (units, gates · units); with attention and a projected query, U and W_q side by side.
        bias: b (gates · units,).
        attention: an `Attention`, or None.

    Returns:
        states (T, B, units), and with attention c (T, B, M) and α (T, B, Tk). No gradient flows through α
        as an output.
    """
    wide = cell.gates * state[0].shape[-1]
    states = len(state)
    given = () if attention is None else tuple(x for x in attention if x is not None)

    @tf.custom_gradient
    def run(projected, kernel, bias, *rest):
        state, attention_given = rest[:states], rest[states:]
        look = Attention(*attention_given) if attention_given else None
        outputs, saved = _forward(cell, projected, state, kernel, bias, look, wide)

        def gradient(*upstream):
            return _backward(cell, outputs, saved, upstream, state, kernel, look, wide, projected.shape[-1])

        return outputs, gradient

    return run(projected, kernel, bias, *state, *given)


def step(cell, projected, state, kernel, bias, attention=None):
    """One step of `recurrent`: the state, and with attention c and α; projected is (B, gates · units)."""
    wide = cell.gates * state[0].shape[-1]
    state, outputs, _ = _step(cell, projected, state, kernel, bias, attention, wide)
    return state, *outputs[1:]


def _step(cell, x, state, kernel, bias, look, wide):
    products = tf.matmul(state[0], kernel)  # (B, gates · units [+ U])
    a = products[:, :wide] + bias
    if look is None:
        state, gates = cell.forward(x, a, state)
        return state, (state[0],), gates
    query = products[:, wide:] if kernel.shape[-1] > wide else state[0]
    if x.shape[-1] > wide:
        query += x[:, wide:]
    weights, context, hidden = look.look(query)
    state, gates = cell.forward(x[:, :wide] + tf.matmul(context, look.context_kernel), a, state)
    return state, (state[0], context, weights), (*gates, hidden)


def _forward(cell, projected, state, kernel, bias, look, wide):
    length, units = tf.shape(projected)[0], state[0].shape[-1]
    written, kept = [(None, units)], [(None, units)] * cell.saved
    if look is not None:
        written += [(None, look.memory.shape[-1]), (None, None)]
        kept.append((None, units) if look.vector is None else look.keys.shape)
    inputs = tf.TensorArray(projected.dtype, length).unstack(projected)

    def body(t, state, outputs, saved):
        state, values, keep = _step(cell, inputs.read(t), state, kernel, bias, look, wide)
        return t + 1, state, _write(outputs, t, values), _write(saved, t, keep)

    arrays = [_arrays(length, projected.dtype, shapes) for shapes in (written, kept)]
    *_, outputs, saved = tf.while_loop(
        lambda t, *_: t < length, body, (0, state, *arrays), maximum_iterations=length
    )
    return tuple(array.stack() for array in outputs), saved


def _backward(cell, outputs, saved, upstream, state, kernel, look, wide, projected_width):
    length, dtype = tf.shape(outputs[0])[0], outputs[0].dtype
    given = [upstream[0]] if look is None else [upstream[0], upstream[1], outputs[2]]
    given = [tf.TensorArray(dtype, length).unstack(x) for x in given]
    shapes = [(None, projected_width), (None, kernel.shape[-1])]
    kernel_back = tf.transpose(kernel)  # once: a product with a transposed view is slower at every step
    sums: tuple = ()  # what adds up over the steps: the gradients of the keys and of v
    if look is not None:
        shapes.append((None, look.memory.shape[-1]))
        context_back = tf.transpose(look.context_kernel)
        sums = (tf.zeros_like(look.keys), tf.zeros(()) if look.vector is None else tf.zeros_like(look.vector))

    def body(t, d_state, found, sums):
        d_output, *looked = [array.read(t) for array in given]
        keep = [array.read(t) for array in saved]
        d_x, d_a, (d_s, *d_rest) = cell.backward(keep[: cell.saved], (d_state[0] + d_output, *d_state[1:]))
        d_products, d_contexts = d_a, []
        if look is not None:
            d_context, weights = looked
            d_context += tf.matmul(d_x, context_back)
            d_query, *new = look.look_backward(d_context, weights, keep[-1])
            sums = tuple(x + d for x, d in zip(sums, new, strict=True))
            d_contexts = [d_context]
            if kernel.shape[-1] > wide:
                d_products = tf.concat([d_a, d_query], 1)
            else:
                d_s += d_query
            if projected_width > wide:
                d_x = tf.concat([d_x, d_query], 1)
        d_s += tf.matmul(d_products, kernel_back)
        return t - 1, (d_s, *d_rest), _write(found, t, (d_x, d_products, *d_contexts)), sums

    zeros = tuple(tf.zeros_like(x) for x in state)
    loop = (length - 1, zeros, _arrays(length, dtype, shapes), sums)
    _, d_state, found, sums = tf.while_loop(lambda t, *_: t >= 0, body, loop, maximum_iterations=length)
    d_x, d_products, *d_contexts = (array.stack() for array in found)  # (T, B, …)
    before = tf.concat([state[0][None], outputs[0][:-1]], 0)  # the state that each step began with
    d_bias = tf.reduce_sum(d_products[..., :wide], (0, 1))
    gradients = (d_x, _product(before, d_products), d_bias, *d_state)
    if look is None:
        return gradients
    d_keys, d_vector = sums
    d_memory = tf.einsum("tbk,tbm->bkm", outputs[2], *d_contexts)
    gradients += (d_keys, d_memory, None, _product(outputs[1], d_x[..., :wide]))
    return gradients if look.vector is None else (*gradients, d_vector)


def _arrays(length, dtype, shapes):
    return tuple(tf.TensorArray(dtype, length, element_shape=shape) for shape in shapes)


def _write(arrays, t, values):
    return tuple(array.write(t, value) for array, value in zip(arrays, values, strict=True))


def _product(x, d):
    """Σ over time and batch of xᵀ·d: (T, B, n) and (T, B, m) → (n, m)."""
    return tf.matmul(tf.reshape(x, (-1, x.shape[-1])), tf.reshape(d, (-1, d.shape[-1])), transpose_a=True)
