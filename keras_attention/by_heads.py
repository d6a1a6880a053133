"""One head after the other, forward and backward, on TensorFlow.

What a function makes on its way exists for one head at a time: the gradient computes it again.
"""

import tensorflow as tf

__all__ = ["by_heads"]


def by_heads(function, heads, widths):
    """function(*heads), where each head's results come from that head alone.

    Args:
        function: what makes of some tensors (B, 1, n, ·) a list of others. What it needs besides gets no
            gradient.
        heads: those tensors, (B, H, n, ·), of one float type.
        widths: the last axis of each result.

    Returns:
        the list, of (B, H, n, width)

    >>> x = tf.random.stateless_normal((2, 3, 5, 4), seed=(0, 0))
    >>> [y.shape for y in by_heads(lambda x, y: [tf.matmul(x, y, transpose_b=True)], [x, x], [5])]
    [TensorShape([2, 3, 5, 5])]
    """
    batch, count, length, _ = heads[0].shape

    def each(results, widths):
        """results(head), (B, 1, n, width) each, as (B, H, n, width)."""
        like = [tf.TensorSpec((batch, 1, length, width), heads[0].dtype) for width in widths]
        stacked = tf.map_fn(results, tf.range(count), fn_output_signature=like, parallel_iterations=1)
        return [tf.transpose(x[:, :, 0], (1, 0, 2, 3)) for x in stacked]  # x is (H, B, 1, n, width)

    @tf.custom_gradient
    def forward(*heads):
        def gradient(*upstreams):
            def of_head(i):
                inputs, upstream = ([x[:, i, None] for x in xs] for xs in (heads, upstreams))
                with tf.GradientTape() as tape:
                    tape.watch(inputs)
                    results = function(*inputs)
                return tape.gradient(results, inputs, upstream, tf.UnconnectedGradients.ZERO)

            return each(of_head, [x.shape[-1] for x in heads])

        return each(lambda i: function(*(x[:, i, None] for x in heads)), widths), gradient

    return forward(*heads)
