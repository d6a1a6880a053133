"""Linear attention: a kernel φ(q) · φ(k) in the place of exp(q · k)."""

import keras
from keras import ops
from keras.src.backend import get_keras_mask  # the public API has no name for it

from keras_attention.kernels import kernel_attention, kernel_sums, kernel_weights, read_sums
from keras_attention.layers.efficient import EfficientAttention
from keras_attention.layers.multi_head_attention import merge_heads, project
from keras_attention.layers.transformer_block import without_padding
from keras_attention.masks import as_mask


class KernelAttention(EfficientAttention):
    """φ(q_i) · Σ_j φ(k_j) v_jᵀ / φ(q_i) · Σ_j φ(k_j). A subclass gives `query_features` and `key_features`.

    Features and sums are float32 in every precision. Dropout drops whole keys, the same for all queries,
    since there are no single weights to drop.

    The causal form is a recurrent network, whose state has the same size however much it has read:

        output, state = layer.prefill(prompt)             (B, n, D), n = 0 included
        output, state = layer.step(token, state)          (B, D), as often as needed
    """

    def attend_sequence(self, query, key, value, *, mask, causal, dropout, return_weights):
        query, key, floats = self.features(query, key, value)  # (B, H, n, M) twice, (B, H, n, Dv)
        if mask is not None:
            key = ops.where(mask[:, None, :, None], key, 0)
        if dropout is not None:
            floats = floats * ops.cast(dropout(ops.ones_like(floats[..., :1])), floats.dtype)
        output = ops.cast(kernel_attention(query, key, floats, causal=causal), value.dtype)
        weights = ops.cast(kernel_weights(query, key, causal), value.dtype) if return_weights else None
        return output, weights

    def features(self, query, key, value):
        """φ(q), φ(k), v in float32 (float64 for float64)."""
        dtype = keras.backend.result_type(value.dtype, "float32")
        query, key, value = (ops.cast(x, dtype) for x in (query, key, value))
        return self.query_features(query), self.key_features(key), value

    def query_features(self, query):
        """φ(q), where a factor that all features of a query share does not matter: (…, D) → (…, M)."""
        raise NotImplementedError(f"{type(self).__name__} has no query_features.")

    def key_features(self, key):
        """φ(k): (…, D) → (…, M)."""
        raise NotImplementedError(f"{type(self).__name__} has no key_features.")

    def prefill(self, inputs, mask=None):
        """The causal output for a prompt, and the state after it.

        Args:
            inputs: (B, n, D).
            mask: (B, n), True = a real token; left out, it is the Keras mask of the inputs. Padding takes
                positions, and does nothing else.

        Returns:
            output (B, n, E), state: a tuple of Σ_j φ(k_j) [v_j, 1]ᵀ (B, H, M, Dv + 1) and the length read.
        """
        if not self.built:
            self.build(inputs.shape)
        mask = get_keras_mask(inputs) if mask is None else mask
        query, key, value = self._project(without_padding(inputs, mask), 0)
        real = True if mask is None else as_mask(mask)[:, None, :, None]  # (B, 1, n, 1)
        key = ops.where(real, key, 0)
        output = ops.where(real, kernel_attention(query, key, value, causal=True), 0)
        return self._output(output), (kernel_sums(key, value), ops.shape(inputs)[1])

    def step(self, inputs, state):
        """The output for one more token, and the state after it.

        Args:
            inputs: (B, D).
            state: as returned by `prefill` or `step`.

        Returns:
            output (B, E), state
        """
        sums, position = state
        query, key, value = self._project(inputs[:, None], position)  # (B, H, 1, ·)
        sums = sums + kernel_sums(key, value)
        return self._output(read_sums(query, sums))[:, 0], (sums, position + 1)

    def _project(self, inputs, position):
        """(B, n, D), whose first token stands at the position → φ(q), φ(k) (B, H, n, M), v (B, H, n, Dv)."""
        inputs = ops.cast(inputs, self.compute_dtype)
        positions = position + ops.arange(ops.shape(inputs)[1])
        query = self.heads_of(self.query_dense, inputs, positions)  # (B, H, n, Dk)
        key = self.heads_of(self.key_dense, inputs, positions)  # (B, H, n, Dk)
        value = self.heads_of(self.value_dense, inputs)  # (B, H, n, Dv)
        return self.features(query, key, value)

    def _output(self, heads):
        heads = ops.cast(merge_heads(heads), self.compute_dtype)
        return ops.cast(project(self.output_dense, heads), self.compute_dtype)


FEATURE_MAPS = {"elu": lambda x: ops.elu(x) + 1, "relu": ops.relu}


@keras.saving.register_keras_serializable(package="keras_attention")
class LinearAttention(KernelAttention):
    """φ(q_i) · Σ_j φ(k_j) v_jᵀ / φ(q_i) · Σ_j φ(k_j), in time and memory of n · Dk · Dv.

    It is no approximation of softmax attention: weights that a dense layer has learned drop in, but the layer
    must be trained (further) with them. Its weights are much flatter.

    Args:
        num_heads, key_dim, …: those of `MultiHeadAttention`.
        feature_map: φ: "elu" (elu(x) + 1), "relu" (a query that shares no feature with any key gets zeros),
            or a function (…, Dk) → (…, M) that is never negative; to be saved, it must be one of Keras, or
            be registered with `keras.saving.register_keras_serializable`.

    Call arguments, returns and errors: those of `EfficientAttention`; `prefill` and `step` are those of
    `KernelAttention`.

    Raises:
        ValueError: the feature map is unknown.

    Paper: Katharopoulos et al., 2020, "Transformers are RNNs: Fast Autoregressive Transformers with Linear
    Attention".

    >>> layer, inputs = LinearAttention(3, 4), keras.random.normal((2, 5, 8), seed=0)
    >>> output = layer(inputs, use_causal_mask=True)
    >>> _, state = layer.prefill(inputs[:, :4])
    >>> last, state = layer.step(inputs[:, 4], state)
    >>> bool(ops.all(abs(last - output[:, 4]) < 1e-5))
    True
    """

    def __init__(self, num_heads, key_dim, *, feature_map="elu", **kwargs):
        super().__init__(num_heads, key_dim, **kwargs)
        if not callable(feature_map) and feature_map not in FEATURE_MAPS:
            names = ", ".join(f'"{name}"' for name in FEATURE_MAPS)
            raise ValueError(f"feature_map is {feature_map!r}, but it must be {names} or a function.")
        self.feature_map = feature_map

    def query_features(self, query):
        return FEATURE_MAPS.get(self.feature_map, self.feature_map)(query)

    def key_features(self, key):
        return FEATURE_MAPS.get(self.feature_map, self.feature_map)(key)

    def get_config(self):
        feature_map = self.feature_map
        if callable(feature_map):
            feature_map = keras.saving.serialize_keras_object(feature_map)
        return {**super().get_config(), "feature_map": feature_map}

    @classmethod
    def from_config(cls, config):
        if isinstance(config.get("feature_map"), dict):
            config = {
                **config,
                "feature_map": keras.saving.deserialize_keras_object(config["feature_map"]),
            }
        return super().from_config(config)
