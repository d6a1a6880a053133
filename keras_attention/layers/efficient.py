"""What the layers share that do without the n × n weights of self-attention."""
# mypy: disable-error-code="override"

from keras import ops

from keras_attention.blocks import pad_to_blocks, set_aside
from keras_attention.functional import rotary
from keras_attention.layers.multi_head_attention import project, split_heads
from keras_attention.layers.self_attention import SelfAttention
from keras_attention.masks import combine_masks


class EfficientAttention(SelfAttention):
    """Self-attention in time and memory linear in n. A subclass gives `attend_sequence`.

    The projections are those of `MultiHeadAttention`: `efficient.set_weights(dense.get_weights())`.

    Call arguments:
        inputs: (B, n, D), of any length n.
        mask: (B, n), True = a real token; left out, it is the Keras mask of the inputs.
        return_attention_scores: return (output, weights); it alone costs memory of n².
        training: whether to drop weights.
        use_causal_mask: hide the future.

    Returns:
        output (B, n, E), and with `return_attention_scores` the weights (B, H, n, n).

    Raises:
        ValueError: an attention_mask or attention_bias is given, which would be n × n.
    """

    def call(
        self,
        inputs,
        mask=None,
        attention_mask=None,
        attention_bias=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
    ):
        if attention_mask is not None or attention_bias is not None:
            raise ValueError(
                f"{type(self).__name__} forms no n × n scores that an attention_mask or attention_bias could "
                "change: hide padding with `mask`, the future with `use_causal_mask`, or use SelfAttention."
            )
        return super().call(
            inputs,
            mask=mask,
            return_attention_scores=return_attention_scores,
            training=training,
            use_causal_mask=use_causal_mask,
        )

    def trace(self, *args, **kwargs):
        raise TypeError(f"{type(self).__name__} forms no n × n scores to trace: trace SelfAttention.")

    def attend_heads(
        self,
        query,
        key,
        value,
        *,
        query_mask,
        key_mask,
        attention_mask,
        bias,
        need_weights=False,
        **options,
    ):
        """(B, H, n, Dk) twice, (B, H, n, Dv) → output (B, H, n, Dv), weights (B, H, n, n) or None."""
        mask = combine_masks(query_mask, key_mask)  # (B, n); the same tokens are queries and keys
        output, weights = self.attend_sequence(
            query, key, value, mask=mask, return_weights=need_weights, **options
        )
        if mask is not None:
            rows = mask[:, None, :, None]  # (B, 1, n, 1)
            output = ops.where(rows, output, 0)
            weights = ops.where(rows, weights, 0) if need_weights else None
        return output, weights

    def heads_of(self, dense, inputs, positions=None):
        """The heads that a projection makes of (B, n, D), turned by the positions (n,): (B, H, n, ·)."""
        heads = split_heads(project(dense, inputs))
        if self.rotary and positions is not None:
            heads = rotary(heads, positions)
        group = self.num_heads // heads.shape[1]
        return ops.repeat(heads, group, axis=1) if group > 1 else heads

    def attend_sequence(self, query, key, value, *, mask, causal, dropout, return_weights):
        """What `attend_heads` does, with one mask (B, n); the rows of hidden queries do not matter."""
        raise NotImplementedError(f"{type(self).__name__} has no attend_sequence.")


class BlockAttention(EfficientAttention):
    """Self-attention of which blocks of `block_length` tokens see a few others. A subclass gives
    `attend_padded`."""

    block_length: int

    def attend_sequence(self, query, key, value, *, mask, **options):
        length = ops.shape(query)[2]
        key, value, kind = set_aside(key, value, mask)
        padded = [pad_to_blocks(x, self.block_length_of(length)) for x in (query, key, value, kind)]
        output, weights = self.attend_padded(*padded, **options)
        return output[:, :, :length], None if weights is None else weights[:, :, :length, :length]

    def block_length_of(self, length):
        """Tokens in a block of a sequence of n."""
        return self.block_length

    def attend_padded(self, query, key, value, kind, *, causal, dropout, return_weights):
        """What `attend_sequence` does, for n a multiple of the block's length; kind (B, 1, n, 1) is that of
        `blocks.set_aside`."""
        raise NotImplementedError(f"{type(self).__name__} has no attend_padded.")
