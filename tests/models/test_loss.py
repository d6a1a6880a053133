import numpy as np
import pytest
import tensorflow as tf

from keras_attention.models.loss import linear_cross_entropy

N, D, V = 11, 4, 7


def factors(n=N):
    rng = np.random.default_rng(0)
    features, embedding, bias = rng.normal(size=(n, D)), rng.normal(size=(V, D)), rng.normal(size=V)
    return [x.astype("float32") for x in (2 * features, embedding, bias)], rng.integers(0, V, n)


def log_softmax(logits):
    logits = logits - logits.max(-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("rows", [1, 3, 5, 11, 64])
def test_is_the_cross_entropy_of_the_smoothed_target(rows, smoothing):
    (features, embedding, bias), labels = factors()
    logits = features.astype("float64") @ embedding.T + bias
    target = (1 - smoothing) * np.eye(V)[labels] + smoothing / V
    expected = -(target * log_softmax(logits)).sum(-1)
    loss = linear_cross_entropy(features, embedding, bias, labels, smoothing, rows)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize(("n", "rows"), [(N, 4), (N, 11), (1, 512), (1, 1)])
@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_mean])
def test_gradients_are_those_of_the_plain_computation(n, rows, smoothing, reduce):
    values, labels = factors(n)
    variables = [tf.Variable(value) for value in values]
    with tf.GradientTape(persistent=True) as tape:
        features, embedding, bias = variables
        ours = 3 * reduce(linear_cross_entropy(*variables, labels, smoothing, rows))
        logits = tf.nn.log_softmax(tf.matmul(features, embedding, transpose_b=True) + bias)
        target = (1 - smoothing) * tf.one_hot(labels, V) + smoothing / V
        plain = 3 * reduce(-tf.reduce_sum(target * logits, axis=-1))
    np.testing.assert_allclose(ours, plain, rtol=1e-5)
    for mine, expected in zip(tape.gradient(ours, variables), tape.gradient(plain, variables), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-5)


def test_in_a_graph_of_unknown_length():
    (features, embedding, bias), labels = factors()
    function = tf.function(
        lambda x, y: linear_cross_entropy(x, embedding, bias, y, rows=4),
        input_signature=[tf.TensorSpec((None, D)), tf.TensorSpec((None,), tf.int64)],
    )
    expected = -log_softmax(features @ embedding.T + bias)[np.arange(N), labels]
    for n in (1, 4, N):
        loss = function(features[:n], labels[:n])
        assert loss.shape == (n,)
        np.testing.assert_allclose(loss, expected[:n], rtol=1e-5)


def test_large_logits_do_not_overflow():
    (features, embedding, bias), labels = factors()
    loss = linear_cross_entropy(1e4 * features, embedding, bias, labels).numpy()
    expected = -log_softmax(1e4 * features.astype("float64") @ embedding.T + bias)[np.arange(N), labels]
    np.testing.assert_allclose(loss, expected, rtol=1e-5, atol=1e-2)
