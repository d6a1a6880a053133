"""The bidirectional encoder, whose states are the annotations that a decoder attends to."""

import keras
import tensorflow as tf

from keras_attention.models.recurrence import CELLS, recurrent


@keras.saving.register_keras_serializable(package="keras_attention")
class BidirectionalEncoder(keras.layers.Layer):
    """hᵢ = [forward stateᵢ; backward stateᵢ], one annotation for each source token.

    Args:
        units: width of each direction.
        cell: "gru" or "lstm".
        merge: "concat" for annotations of width 2·units, "sum" for units.

    Paper: Schuster and Paliwal, 1997, "Bidirectional Recurrent Neural Networks".
    """

    def __init__(self, units, cell="gru", merge="concat", **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units, self.cell, self.merge = units, cell, merge
        wide = CELLS[cell].gates * units
        self.input_dense = [keras.layers.Dense(wide, name=f"{d}_input") for d in ("forward", "backward")]
        self.state_dense = [
            keras.layers.Dense(wide, kernel_initializer="orthogonal", name=f"{d}_state")
            for d in ("forward", "backward")
        ]

    def build(self, embedded_shape):
        for input_dense, state_dense in zip(self.input_dense, self.state_dense, strict=True):
            input_dense.build((None, embedded_shape[-1]))
            state_dense.build((None, self.units))

    def call(self, embedded, mask):
        """Annotations (B, T, 2·units or units), zero at padding, of embeddings (B, T, E).

        Args:
            mask: (B, T), True at tokens; padding stands at the end.
        """
        lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
        embedded = tf.transpose(embedded, (1, 0, 2))  # (T, B, E)
        forward = self._run(0, embedded)
        backward = _reverse(self._run(1, _reverse(embedded, lengths)), lengths)
        both = forward + backward if self.merge == "sum" else tf.concat([forward, backward], axis=-1)
        return tf.transpose(both, (1, 0, 2)) * tf.cast(mask, both.dtype)[..., None]  # (B, T, …)

    def _run(self, direction, embedded):
        zeros = tf.zeros((tf.shape(embedded)[1], self.units))
        dense = self.state_dense[direction]
        (states,) = recurrent(
            CELLS[self.cell],
            self.input_dense[direction](embedded),
            (zeros,) if self.cell == "gru" else (zeros, zeros),
            tf.convert_to_tensor(dense.kernel),
            tf.convert_to_tensor(dense.bias),
        )
        return states  # (T, B, units)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "cell": self.cell, "merge": self.merge}


def _reverse(x, lengths):
    """Each sentence backwards, its padding left at the end: (T, B, …)."""
    return tf.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)
