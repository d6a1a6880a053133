import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_attention.layers import MultiHeadAttention, ReformerAttention

B, N, WIDTH, H, DK, DV = 2, 23, 6, 3, 4, 5


def array(tensor):
    return ops.convert_to_numpy(ops.cast(tensor, "float32"))


def inputs(length=N):
    return np.random.default_rng(0).normal(size=(B, length, WIDTH)).astype("float32")


def with_random_weights(layer, x):
    layer(x)
    rng = np.random.default_rng(1)
    layer.set_weights([rng.normal(size=weight.shape, scale=0.5) for weight in layer.get_weights()])
    return layer


def queries_of(layer, x):
    kernel, bias = map(np.float64, layer.get_weights()[:2])
    return np.einsum("bnd,dhk->bhnk", x, kernel) + bias[:, None]


def full_attention(layer, x, pattern):
    """Output and weights of attention with shared queries and keys under a pattern (B, H, n, n)."""
    wv, bv, wo, bo = map(np.float64, layer.get_weights()[4:])
    query = queries_of(layer, x)
    scores = query @ np.swapaxes(query / np.linalg.norm(query, axis=-1, keepdims=True), -1, -2)
    scores = np.where(pattern, scores - 1e5 * np.eye(x.shape[1]), -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights = powers / powers.sum(-1, keepdims=True)
    value = np.einsum("bnd,dhk->bhnk", x, wv) + bv[:, None]
    return np.einsum("bhnk,hkd->bnd", weights @ value, wo) + bo, weights


def buckets_by_hand(layer, query, round_, causal):
    """argmax [q R; −q R] for the tokens of one head, with one bucket a chunk, or the number that is given."""
    count = layer.num_buckets or (16 if causal else 2 * -(-len(query) // (2 * layer.chunk_size)))
    half = -(-count // 2)
    rotated = query @ layer.rotations.reshape(DK, layer.num_hashes, -1)[:, round_, :half]
    best = np.concatenate([rotated, -rotated[:, : count - half]], axis=1).argmax(1)
    return layer.orders[round_][np.where(best < half, best, best - half + 64)]


def pattern_by_hand(layer, x, causal):
    """Which token finds which, in any round: (B, H, n, n)."""
    query, n = queries_of(layer, x), x.shape[1]
    found = np.zeros((len(x), H, n, n), bool)
    for b in range(len(x)):
        for h in range(H):
            for r in range(layer.num_hashes):
                bucket = buckets_by_hand(layer, query[b, h], r, causal)
                order = sorted(range(n), key=lambda i, bucket=bucket: (bucket[i], i))
                for rank, i in enumerate(order):
                    for other, j in enumerate(order):
                        if causal:
                            near = bucket[i] == bucket[j] and 0 <= rank - other <= layer.chunk_size
                        else:
                            near = 0 <= rank // layer.chunk_size - other // layer.chunk_size <= 1
                        found[b, h, i, j] |= near
    return found


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("chunk_size", "num_hashes", "num_buckets"),
    [(4, 1, None), (3, 4, None), (5, 2, 6), (5, 2, 5), (1, 3, None), (N, 1, None), (40, 2, 2), (7, 1, 1)],
)
def test_is_full_attention_under_the_pattern_of_the_sorted_chunks(
    causal, chunk_size, num_hashes, num_buckets
):
    layer = ReformerAttention(H, DK, chunk_size, num_hashes, num_buckets=num_buckets, value_dim=DV, seed=2)
    x = inputs()
    with_random_weights(layer, x)
    expected, weights = full_attention(layer, x, pattern_by_hand(layer, x, causal))
    results = layer(x, use_causal_mask=causal, return_attention_scores=True)
    np.testing.assert_allclose(array(results[0]), expected, atol=2e-5)
    np.testing.assert_allclose(array(results[1]), weights, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("chunk_size", "num_hashes"), [(N, 1), (40, 2)])
def test_one_chunk_is_full_attention(causal, chunk_size, num_hashes):
    """When causal, if there is one bucket as well."""
    options = {"num_buckets": 1} if causal else {}
    layer, x = ReformerAttention(H, DK, chunk_size, num_hashes, value_dim=DV, seed=2, **options), inputs()
    with_random_weights(layer, x)
    everything = np.tri(N, dtype=bool) if causal else np.ones((N, N), bool)
    expected, weights = full_attention(layer, x, everything)
    results = layer(x, use_causal_mask=causal, return_attention_scores=True)
    np.testing.assert_allclose(array(results[0]), expected, atol=2e-5)
    np.testing.assert_allclose(array(results[1]), weights, atol=1e-5)


def errors_by_rounds(causal, *numbers):
    """Against full attention, with the shared queries and keys, for so many rounds."""
    query, value = np.random.default_rng(0).normal(size=(2, 1, 2, N, 16)).astype("float32")
    masks = {"query_mask": None, "key_mask": None, "attention_mask": None, "bias": None}
    full, *outputs = (
        array(layer.attend_heads(query, query, value, causal=causal, dropout=None, **masks)[0])
        for layer in [
            ReformerAttention(2, 16, N, num_buckets=1),
            *(ReformerAttention(2, 16, 4, r, num_buckets=6, seed=1) for r in numbers),
        ]
    )
    return [np.linalg.norm(output - full) / np.linalg.norm(full) for output in outputs]


def test_enough_rounds_are_full_attention():
    few, more, enough = errors_by_rounds(False, 1, 4, 60)
    assert few > 2 * more
    assert enough < 1e-5


def test_more_rounds_find_more_of_the_past():
    few, more, many = errors_by_rounds(True, 1, 4, 60)
    assert few > 1.5 * more > 3 * many
    assert many < 0.1


@pytest.mark.tensorflow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("num_hashes", [1, 3])
def test_the_gradients_are_those_of_the_dense_layer(causal, num_hashes):
    layer, x = ReformerAttention(H, DK, 4, num_hashes, seed=2), inputs()
    with_random_weights(layer, x)
    pattern = pattern_by_hand(layer, x, causal)
    wq, bq, _, _, wv, bv, wo, bo = layer.weights
    x = tf.constant(x)

    def dense(x):
        query = tf.einsum("bnd,dhk->bhnk", x, wq) + bq[:, None]
        scores = tf.einsum("bhik,bhjk->bhij", query, tf.math.l2_normalize(query, axis=-1))
        weights = tf.nn.softmax(tf.where(pattern, scores - 1e5 * np.eye(N, dtype="float32"), -1e30))
        value = tf.einsum("bnd,dhk->bhnk", x, wv) + bv[:, None]
        return tf.einsum("bhij,bhjk,hkd->bid", weights, value, wo) + bo

    gradients = []
    for call in (dense, lambda x: layer(x, use_causal_mask=causal)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.sin(call(x)))
        gradients.append(tape.gradient(loss, [x, wq, bq, wv, bv, wo, bo]))
    for reference, result in zip(*gradients, strict=True):
        np.testing.assert_allclose(array(result), array(reference), atol=1e-5 * abs(array(reference)).max())


def test_similar_tokens_find_each_other():
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(16, WIDTH))
    group = rng.permutation(np.arange(256) % 16)
    x = np.float32(5 * directions[group] + 0.1 * rng.normal(size=(256, WIDTH)))[None]
    layer = ReformerAttention(1, WIDTH, chunk_size=16, num_hashes=4, use_bias=False, seed=1)
    layer(x)
    layer.set_weights([np.eye(WIDTH)[:, None], *layer.get_weights()[1:]])
    _, weights = layer(x, return_attention_scores=True)
    pairs = (group[:, None] == group) & ~np.eye(256, dtype=bool)
    found = array(weights)[0, 0] > 0
    assert found[pairs].mean() > 0.8
    assert found.mean() < 0.4


def test_a_token_looks_at_itself_only_where_there_is_nothing_else():
    layer, x = ReformerAttention(H, DK, 4, 2, seed=2), inputs()
    _, weights = layer(x, use_causal_mask=True, return_attention_scores=True)
    itself = np.diagonal(array(weights), axis1=2, axis2=3)
    np.testing.assert_allclose(itself[:, :, 0], 1, atol=1e-6)
    others = array(weights) * (1 - np.eye(N))
    alone = others.sum(-1) == 0
    np.testing.assert_allclose(itself, np.where(alone, 1, 0), atol=1e-6)


def test_a_sentence_does_not_depend_on_how_far_its_batch_is_padded():
    layer, x = ReformerAttention(H, DK, 3, 2, seed=2), inputs(60)
    with_random_weights(layer, x)
    mask = np.arange(60) < np.array([[14], [60]])
    expected = array(layer(x[:1, :14]))
    np.testing.assert_allclose(array(layer(x, mask=mask))[:1, :14], expected, atol=1e-5)


def test_the_key_projection_rests_among_the_weights():
    layer, dense, x = ReformerAttention(H, DK, 4), MultiHeadAttention(H, DK), inputs()
    layer(x)
    dense(x, x)
    layer.set_weights(dense.get_weights())
    output = array(layer(x))
    assert len(layer.trainable_weights) == len(layer.weights) - 2
    layer.key_dense.kernel.assign(layer.key_dense.kernel + 1)
    np.testing.assert_array_equal(array(layer(x)), output)


def test_a_seed_is_drawn_and_kept():
    layer, other = ReformerAttention(H, DK, 4), ReformerAttention(H, DK, 4)
    assert (layer.rotations != other.rotations).any()
    again = ReformerAttention.from_config(layer.get_config())
    np.testing.assert_array_equal(again.rotations, layer.rotations)
    keras.utils.set_random_seed(3)
    first = ReformerAttention(H, DK, 4).rotations
    keras.utils.set_random_seed(3)
    np.testing.assert_array_equal(ReformerAttention(H, DK, 4).rotations, first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunk_size": 0}, "chunk_size is 0"),
        ({"num_hashes": 1.5}, "num_hashes is 1.5"),
        ({"num_buckets": 129}, "num_buckets is 129"),
        ({"num_buckets": 0}, "num_buckets is 0"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ReformerAttention(H, DK, **options)


def test_one_bucket_is_a_window_of_the_past():
    layer, x = ReformerAttention(H, DK, 4, num_buckets=1), inputs()
    _, weights = layer(x, use_causal_mask=True, return_attention_scores=True)
    past = np.tri(N, dtype=bool) & ~np.tri(N, k=-5, dtype=bool) & ~np.eye(N, dtype=bool)
    past[0, 0] = True  # there is nothing else
    np.testing.assert_array_equal(array(weights) > 0, np.broadcast_to(past, weights.shape))
