"""One step of the recurrent cells, from products that the caller has taken already."""

import tensorflow as tf


def gru(projected: tf.Tensor, recurrent: tf.Tensor, state: tf.Tensor) -> tf.Tensor:
    """One step of a gated recurrent unit.

    z, r, n are the update gate, the reset gate and the candidate:

        z, r = σ(W·x + U·s)        n = tanh(Wₙ·x + r ⊙ Uₙ·s)        s' = z ⊙ s + (1 − z) ⊙ n

    Args:
        projected: W·x with its bias (B, 3·units), in the order z, r, n.
        recurrent: U·s with its bias (B, 3·units).
        state: s (B, units).

    Paper: Cho et al., 2014, in the form whose reset gate acts after the product.
    """
    units = state.shape[-1]
    gates = tf.sigmoid(projected[:, : 2 * units] + recurrent[:, : 2 * units])
    update, reset = gates[:, :units], gates[:, units:]
    candidate = tf.tanh(projected[:, 2 * units :] + reset * recurrent[:, 2 * units :])
    return candidate + update * (state - candidate)


def lstm(projected: tf.Tensor, recurrent: tf.Tensor, state: tf.Tensor, cell: tf.Tensor):
    """One step of a long short-term memory; arguments as in `gru`, with the gates i, f, g, o.

        c' = σ(f) ⊙ c + σ(i) ⊙ tanh(g)        s' = σ(o) ⊙ tanh(c')

    Returns:
        s', c', each (B, units).

    Paper: Hochreiter and Schmidhuber, 1997.
    """
    write, keep, new, read = tf.split(projected + recurrent, 4, axis=-1)
    cell = tf.sigmoid(keep) * cell + tf.sigmoid(write) * tf.tanh(new)
    return tf.sigmoid(read) * tf.tanh(cell), cell
