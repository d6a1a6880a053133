"""Cross-entropy straight from the features, without the logits of a whole batch."""

import tensorflow as tf


def linear_cross_entropy(features, embedding, bias, labels, label_smoothing=0.0, rows=128):
    """−log softmax(features · embeddingᵀ + bias) at the labels, one value a row.

    The logits (N, V) of a batch would be its largest tensor by far. Here only `rows` of them exist at a
    time; they leave behind their loss and the gradients of the three factors, in one pass.

    With label smoothing ε the target is (1 − ε)·onehot + ε/V, and the loss gains a term that needs no
    logits either, since the mean over the vocabulary commutes with the product:

        ε · (logit at the label − mean logit) = ε · (features · (E_label − mean E) + b_label − mean b)

    Args:
        features: (N, D); those of lower precision are computed with in that of the embedding.
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
    features = tf.cast(features, embedding.dtype)
    loss = _cross_entropy(features, embedding, bias, labels, rows)
    if label_smoothing:
        at_label = tf.reduce_sum(features * tf.gather(embedding, labels), axis=-1) + tf.gather(bias, labels)
        mean = tf.linalg.matvec(features, tf.reduce_mean(embedding, axis=0)) + tf.reduce_mean(bias)
        loss += label_smoothing * (at_label - mean)
    return loss


def _cross_entropy(features, embedding, bias, labels, rows):
    """The gradient of a row's logits is p − onehot(label); the two parts are multiplied apart, since the
    second one only picks rows of the factors."""

    @tf.custom_gradient
    def run(features, embedding, bias):
        chunks = (tf.shape(features)[0] + rows - 1) // rows
        transposed = tf.transpose(embedding)  # (D, V), once: a product with a transposed view is slower
        at_label = tf.gather(embedding, labels)  # (N, D)
        scores = tf.reduce_sum(features * at_label, axis=-1) + tf.gather(bias, labels)  # (N,)

        def array(*shape):
            return tf.TensorArray(features.dtype, chunks, infer_shape=False, element_shape=shape)

        def chunk(i, totals, slopes, d_embedding, d_bias):
            x = features[i * rows : (i + 1) * rows]
            logits = tf.matmul(x, transposed) + bias  # (rows, V)
            p = tf.nn.softmax(logits)
            # log Σ exp from what is there: max logit − log max p
            total = tf.reduce_max(logits, axis=-1) - tf.math.log(tf.reduce_max(p, axis=-1))
            return (
                i + 1,
                totals.write(i, total),
                slopes.write(i, tf.matmul(p, embedding)),
                d_embedding + tf.matmul(p, x, transpose_a=True),
                d_bias + tf.reduce_sum(p, axis=0),
            )

        start = (
            0,
            array(None),
            array(None, features.shape[-1]),
            tf.zeros_like(embedding),
            tf.zeros_like(bias),
        )
        _, totals, slopes, d_embedding, d_bias = tf.while_loop(lambda i, *_: i < chunks, chunk, start)
        loss, d_features = totals.concat() - scores, slopes.concat() - at_label
        V = tf.shape(embedding)[0]
        d_embedding -= tf.math.unsorted_segment_sum(features, labels, V)
        d_bias -= tf.math.unsorted_segment_sum(tf.ones_like(scores), labels, V)

        def gradient(upstream):
            slope = tf.reduce_sum(upstream[:1])  # 0 where there is no row
            return slope * d_features, slope * d_embedding, slope * d_bias

        return loss, gradient

    return run(features, tf.convert_to_tensor(embedding), tf.convert_to_tensor(bias))
