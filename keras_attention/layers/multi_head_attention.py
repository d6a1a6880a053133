"""Multi-head attention, and the base of its whole family."""

import math

import keras
from keras import constraints, initializers, ops, regularizers

from keras_attention import functional
from keras_attention.exact import dot_product_attention
from keras_attention.layers.base import AttentionLayer, check_positive, check_ranks
from keras_attention.layers.cache import empty_cache, extend_cache, visible
from keras_attention.masks import combine_masks


@keras.saving.register_keras_serializable(package="keras_attention")
class MultiHeadAttention(AttentionLayer):
    """[head_1; …; head_H] W_o + b_o, where head_h = softmax(q_h k_hᵀ / √Dk) v_h and
    q_h = query W_q,h + b_q,h, k_h = key W_k,h + b_k,h, v_h = value W_v,h + b_v,h.

    The projections have the layout of `keras.layers.MultiHeadAttention` (with fewer key heads, that of
    `keras.layers.GroupQueryAttention`): `ours.set_weights(theirs.get_weights())` makes ours the same layer.
    A variant overrides `attend_heads`. Inputs of several axes, as images, are reshaped to (B, length, width)
    outside, where the order of the axes is in sight.

    Args:
        num_heads: H.
        key_dim: Dk, width of a head's queries and keys.
        value_dim: Dv, width of a head's values; None means key_dim.
        dropout: share of the weights that is dropped in training.
        use_bias: whether the projections have biases.
        output_shape: E, width of the output, or a tuple of them; None means the query's width.
        num_key_value_heads: key and value heads, each shared by a group of num_heads / num_key_value_heads
            queries; None means num_heads.
        rotary: turn queries and keys by their positions (`functional.rotary`); the last query stands at the
            last key.
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, kernel_constraint,
            bias_constraint: those of the projections.
        seed: seed of the dropout.

    Call arguments:
        query: (B, Tq, Dq); value: (B, Tk, Dval); key: (B, Tk, Dkey), or None for the value.
        cache: what `init_cache` or an earlier call gave. The new keys and values are written behind those
            that it holds, and each query sees the keys up to its own: decoding step by step.
        The others are those of `AttentionLayer`; attention_mask may be (B, H, Tq, Tk).

    Returns:
        output (B, Tq, E), and with `return_attention_scores` the weights (B, H, Tq, Tk) before dropout, and
        with `cache` the longer cache. Without the scores, TensorFlow forms no (Tq, Tk) of all heads when that
        would be large (`exact.dot_product_attention`).

    Raises:
        ValueError: a number of heads or a width is not positive, the heads do not divide into groups, rotary
            meets an odd key_dim, an input is not of rank 3; attention_mask is a float or of rank 2; the cache
            is full.

    Papers: Vaswani et al., 2017, "Attention Is All You Need"; Ainslie et al., 2023, "GQA: Training
    Generalized Multi-Query Transformer Models from Multi-Head Checkpoints"; Su et al., 2021, "RoFormer".

    >>> layer = MultiHeadAttention(num_heads=3, key_dim=4)
    >>> query, value = ops.ones((2, 5, 8)), ops.ones((2, 7, 6))
    >>> output, weights = layer(query, value, return_attention_scores=True)
    >>> output.shape, weights.shape
    (TensorShape([2, 5, 8]), TensorShape([2, 3, 5, 7]))
    """

    has_heads = True

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        *,
        num_key_value_heads=None,
        rotary=False,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(dropout, seed, **kwargs)
        self.num_heads = num_heads
        self.key_dim = key_dim
        self.value_dim = key_dim if value_dim is None else value_dim
        self.num_key_value_heads = num_heads if num_key_value_heads is None else num_key_value_heads
        names = ("num_heads", "key_dim", "value_dim", "num_key_value_heads")
        check_positive(**{name: getattr(self, name) for name in names})
        if num_heads % self.num_key_value_heads:
            raise ValueError(
                f"{num_heads} heads do not divide into {self.num_key_value_heads} groups: "
                "num_key_value_heads must divide num_heads."
            )
        if rotary and key_dim % 2:
            raise ValueError(f"rotary turns pairs of features, but key_dim is {key_dim}: make it even.")
        self.use_bias = use_bias
        self.rotary = rotary
        self._output_shape = (output_shape,) if isinstance(output_shape, int) else output_shape
        self._projection = {
            "kernel_initializer": initializers.get(kernel_initializer),
            "bias_initializer": initializers.get(bias_initializer),
            "kernel_regularizer": regularizers.get(kernel_regularizer),
            "bias_regularizer": regularizers.get(bias_regularizer),
            "kernel_constraint": constraints.get(kernel_constraint),
            "bias_constraint": constraints.get(bias_constraint),
        }

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        check_ranks(query=query_shape, key=key_shape, value=value_shape)
        heads, key_heads = self.num_heads, self.num_key_value_heads
        output_shape = self._output_shape or (query_shape[-1],)
        axes = "efghij"[: len(output_shape)]

        self.query_dense = self._dense("query", "btc,chd->bthd", "hd", (heads, self.key_dim))
        self.key_dense = self._dense("key", "btc,chd->bthd", "hd", (key_heads, self.key_dim))
        self.value_dense = self._dense("value", "btc,chd->bthd", "hd", (key_heads, self.value_dim))
        self.output_dense = self._dense("attention_output", f"bthd,hd{axes}->bt{axes}", axes, output_shape)
        self.query_dense.build(query_shape)
        self.key_dense.build(key_shape)
        self.value_dense.build(value_shape)
        self.output_dense.build((*query_shape[:-1], heads, self.value_dim))

    @property
    def projections(self):
        """Those of the query, the key, the value and the output."""
        return self.query_dense, self.key_dense, self.value_dense, self.output_dense

    @classmethod
    def from_torch(cls, module, **options):
        """The layer that computes what a `torch.nn.MultiheadAttention` does, with further options.

        Raises:
            ValueError: the module adds a bias or zeros as a key, which Keras layers do not.
        """
        from keras_attention.layers.torch_weights import from_torch

        return from_torch(cls, module, **options)

    def to_torch(self, **options):
        """The `torch.nn.MultiheadAttention`, batch first, that computes what the layer does.

        Raises:
            ValueError: the layer has what PyTorch's module lacks.
        """
        from keras_attention.layers.torch_weights import to_torch

        return to_torch(self, **options)

    def init_cache(self, batch_size, max_length):
        """An empty cache for `cache=`, with room for max_length positions: a dict of tensors."""
        return empty_cache(
            batch_size, self.num_key_value_heads, max_length, self.key_dim, self.value_dim, self.compute_dtype
        )

    def attend(
        self, query, key, value, *, key_mask, attention_mask=None, causal=False, cache=None, **options
    ):
        query = split_heads(project(self.query_dense, query))  # (B, H, Tq, Dk)
        query_length = ops.shape(query)[2]
        if value is not None:
            key, value = self.project_keys(key, value)
            new, first = ops.shape(key)[2], 0 if cache is None else cache["length"][0]
            if self.rotary:
                query = functional.rotary(query, ops.arange(query_length) + (first + new - query_length))
                key = functional.rotary(key, ops.arange(new) + first)
            if cache is not None:
                cache = extend_cache(cache, key, value, key_mask)
                attention_mask, causal = combine_masks(attention_mask, visible(cache, query_length)), False
        if cache is not None:
            key, value, key_mask = cache["key"], cache["value"], cache["mask"]
        group = self.num_heads // self.num_key_value_heads
        if group > 1:
            key, value = ops.repeat(key, group, axis=1), ops.repeat(value, group, axis=1)  # (B, H, Tk, ·)
        output, weights = self.attend_heads(
            query, key, value, key_mask=key_mask, attention_mask=attention_mask, causal=causal, **options
        )
        output = project(self.output_dense, merge_heads(output))  # (B, Tq, E)
        return (output, weights) if cache is None else (output, weights, cache)

    def project_keys(self, key, value):
        """(B, Tk, Dkey), (B, Tk, Dval) → (B, Hkv, Tk, Dk), (B, Hkv, Tk, Dv)."""
        return split_heads(project(self.key_dense, key)), split_heads(project(self.value_dense, value))

    def attend_heads(self, query, key, value, **options):
        """(B, H, Tq, Dk), (B, H, Tk, Dk), (B, H, Tk, Dv) → output (B, H, Tq, Dv), weights (B, H, Tq, Tk)."""
        return dot_product_attention(query, key, value, **options)

    def shapes(self, query_shape, value_shape):
        batch, query_length, width = query_shape
        output_shape = self._output_shape or (width,)
        return (batch, query_length, *output_shape), (batch, self.num_heads, query_length, value_shape[-2])

    def get_config(self):
        config = super().get_config()
        if self.built and any(dense.quantization_mode for dense in self.projections):
            # the precision of each projection, without which the file of a quantized model does not load
            policies = {dense.path: dense.dtype_policy for dense in self.projections}
            default = getattr(self.dtype_policy, "default_policy", self.dtype_policy)
            policies = keras.dtype_policies.DTypePolicyMap(default, policies)
            config["dtype"] = keras.dtype_policies.serialize(policies)
        return {
            **config,
            "num_heads": self.num_heads,
            "key_dim": self.key_dim,
            "value_dim": self.value_dim,
            "use_bias": self.use_bias,
            "output_shape": self._output_shape,
            "num_key_value_heads": self.num_key_value_heads,
            "rotary": self.rotary,
            **{name: keras.saving.serialize_keras_object(x) for name, x in self._projection.items()},
        }

    def _dense(self, name, equation, bias_axes, output_shape):
        policy = self.dtype_policy
        if isinstance(policy, keras.dtype_policies.DTypePolicyMap):  # of a quantized layer that is loaded
            policy = policy[f"{self.path}/{name}"]
        return keras.layers.EinsumDense(
            equation,
            output_shape=(None, *output_shape),
            bias_axes=bias_axes if self.use_bias else None,
            dtype=policy,
            name=name,
            # one initializer for all projections would give some of them the same numbers
            **{name: x.clone() if hasattr(x, "clone") else x for name, x in self._projection.items()},
        )


def project(dense, x):
    """dense(x) of an EinsumDense on (B, T, ·): one matmul on the reshaped kernel, faster than the einsum."""
    if dense.quantization_mode is not None:
        return dense(x)
    outputs = dense.partial_output_shape[1:]  # (H, D) or (E,)
    kernel = ops.reshape(dense.kernel, (-1, math.prod(outputs)))
    rows = ops.reshape(x, (-1, kernel.shape[0]))  # (B · T, ·)
    y = ops.reshape(ops.matmul(rows, kernel), (*ops.shape(x)[:2], *outputs))  # (B, T, *outputs)
    return y if dense.bias is None else ops.add(y, dense.bias)


def split_heads(x):
    """(B, T, H, D) → (B, H, T, D)."""
    return ops.transpose(x, (0, 2, 1, 3))


def merge_heads(x):
    """(B, H, T, D) → (B, T, H, D), the inverse of `split_heads`."""
    return ops.transpose(x, (0, 2, 1, 3))
