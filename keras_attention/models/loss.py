"""Cross-entropy straight from the features, without the logits of a whole batch."""

import tensorflow as tf


def linear_cross_entropy(features, embedding, bias, labels, label_smoothing=0.0, rows=512):
    """−log softmax(features · embeddingᵀ + bias) at the labels, one value a row.

    The logits (N, V) of a batch would be its largest tensor by far. Here only `rows` of them exist at a
    time; they leave behind their loss and the gradients of the three factors, in one pass.

    With label smoothing ε the target is (1 − ε)·onehot + ε/V, and the loss gains a term that needs no
    logits either, since the mean over the vocabulary commutes with the product:

        ε · (logit at the label − mean logit) = ε · (features · (E_label − mean E) + b_label − mean b)

    Args:
        features: (N, D).
        embedding: E, the output embedding (V, D).
        bias: b, (V,).
        labels: (N,) integers below V.
        label_smoothing: ε.
        rows: how many rows of logits exist at a time.

    Returns:
        (N,), in nats. Its sum or mean may be differentiated, weighted rows may not: the gradient that
        arrives has to be the same for every row.

    Paper: Szegedy et al., 2016, "Rethinking the Inception Architecture" (label smoothing).
    """
    loss = _cross_entropy(features, embedding, bias, labels, rows)
    if label_smoothing:
        at_label = tf.reduce_sum(features * tf.gather(embedding, labels), axis=-1) + tf.gather(bias, labels)
        mean = tf.linalg.matvec(features, tf.reduce_mean(embedding, axis=0)) + tf.reduce_mean(bias)
        loss += label_smoothing * (at_label - mean)
    return loss


def _cross_entropy(features, embedding, bias, labels, rows):
    @tf.custom_gradient
    def run(features, embedding, bias):
        chunks = (tf.shape(features)[0] + rows - 1) // rows

        def arrays(element_shape):
            return tf.TensorArray(features.dtype, chunks, infer_shape=False, element_shape=element_shape)

        def chunk(i, losses, slopes, d_embedding, d_bias):
            x, y = features[i * rows : (i + 1) * rows], labels[i * rows : (i + 1) * rows]
            logits = tf.matmul(x, embedding, transpose_b=True) + bias  # (rows, V)
            loss, d_logits = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=logits, labels=y)
            losses = losses.write(i, loss)
            slopes = slopes.write(i, tf.matmul(d_logits, embedding))
            d_embedding += tf.matmul(d_logits, x, transpose_a=True)
            return i + 1, losses, slopes, d_embedding, d_bias + tf.reduce_sum(d_logits, axis=0)

        start = (
            0,
            arrays((None,)),
            arrays((None, features.shape[-1])),
            tf.zeros_like(embedding),
            tf.zeros_like(bias),
        )
        _, losses, slopes, d_embedding, d_bias = tf.while_loop(lambda i, *_: i < chunks, chunk, start)
        d_features = slopes.concat()

        def gradient(upstream):
            return upstream[0] * d_features, upstream[0] * d_embedding, upstream[0] * d_bias

        return losses.concat(), gradient

    return run(features, tf.convert_to_tensor(embedding), tf.convert_to_tensor(bias))
