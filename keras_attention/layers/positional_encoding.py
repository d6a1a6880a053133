"""Positional encoding: where a token stands, added to what it is."""

import math

import keras
from keras import ops

KINDS = ("sinusoidal", "learned")


@keras.saving.register_keras_serializable(package="keras_attention")
class PositionalEncoding(keras.layers.Layer):
    """inputs + p, where p_t is a vector for position t = 0, 1, …

        sinusoidal:  p_t,2i = sin(t / 10000^(2i / D))    p_t,2i+1 = cos(t / 10000^(2i / D))
        learned:     p_t is row t of a weight (max_length, D)

    Without it attention is blind to the order. Rotary positions are no layer of their own, since they turn
    queries and keys within each attention: `SelfAttention(…, rotary=True)`.

    Args:
        kind: "sinusoidal" or "learned".
        max_length: how many positions are learned; None for sinusoidal, which has no end.

    Call arguments:
        inputs: (B, T, D).
        first: the position of the first input, for decoding step by step.

    Returns:
        (B, T, D); the Keras mask of the inputs goes on.

    Raises:
        ValueError: the kind is unknown, max_length does not go with it, or there are more positions than were
            learned. In a compiled function, which cannot raise, those behind the last become NaN.

    Papers: Vaswani et al., 2017, "Attention Is All You Need"; Gehring et al., 2017, "Convolutional Sequence
    to Sequence Learning" (learned).

    >>> PositionalEncoding()(ops.zeros((1, 2, 4))).numpy().round(2)
    array([[[0.  , 1.  , 0.  , 1.  ],
            [0.84, 0.54, 0.01, 1.  ]]], dtype=float32)
    """

    def __init__(self, kind="sinusoidal", max_length=None, **kwargs):
        super().__init__(**kwargs)
        if kind not in KINDS:
            raise ValueError(f"kind is {kind!r}, but it must be one of {', '.join(KINDS)}.")
        if (kind == "learned") != (max_length is not None):
            raise ValueError(
                f"max_length is {max_length}: learned positions need it, sinusoidal have no end."
            )
        self.supports_masking = True
        self.kind, self.max_length = kind, max_length

    def build(self, inputs_shape):
        if self.kind == "learned":
            normal = keras.initializers.RandomNormal(stddev=0.1)
            self.table = self.add_weight(
                shape=(self.max_length, inputs_shape[-1]), initializer=normal, name="table"
            )

    def call(self, inputs, first=0):
        positions = ops.arange(ops.shape(inputs)[1]) + first  # (T,)
        encode = self._look_up if self.kind == "learned" else sinusoids
        return inputs + ops.cast(encode(positions, inputs.shape[-1]), inputs.dtype)

    def _look_up(self, positions, width):
        beyond = positions >= self.max_length
        try:
            if bool(ops.any(beyond)):
                raise ValueError(
                    f"There are {self.max_length} learned positions, but {int(positions[-1]) + 1} are "
                    "needed: build the layer with a larger max_length."
                )
        except TypeError:  # not known while a function is compiled
            pass
        rows = ops.take(self.table, ops.minimum(positions, self.max_length - 1), axis=0)  # (T, D)
        return ops.where(beyond[:, None], math.nan, rows)

    def compute_output_shape(self, inputs_shape):
        return inputs_shape

    def get_config(self):
        return {**super().get_config(), "kind": self.kind, "max_length": self.max_length}


def sinusoids(positions, width):
    """(T,) → (T, width): sine and cosine of the position at speeds that fall from 1 to 1 / 10000."""
    speeds = 10000.0 ** -(ops.arange(0, width, 2, dtype="float32") / width)  # (⌈D / 2⌉,)
    angles = ops.cast(positions, "float32")[:, None] * speeds  # (T, ⌈D / 2⌉)
    pairs = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)  # (T, ⌈D / 2⌉, 2)
    return ops.reshape(pairs, (-1, 2 * angles.shape[-1]))[:, :width]  # (T, D)
