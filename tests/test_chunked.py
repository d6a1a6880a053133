import itertools
import subprocess
import sys

import keras
import numpy as np
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("chunked attention needs TensorFlow", allow_module_level=True)

import tensorflow as tf

from keras_attention import chunked
from keras_attention.chunked import chunked_attention
from keras_attention.functional import scaled_dot_product_attention
from keras_attention.masks import pair_mask, seen_keys

B, H, TQ, TK, D, DV = 2, 3, 21, 26, 4, 5


@pytest.fixture(autouse=True)
def eager():
    """Quick, where every test would be traced once more otherwise."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def inputs(queries=TQ, keys=TK, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    shapes = (B, H, queries, D), (B, H, keys, D), (B, H, keys, DV)
    return [tf.constant(rng.normal(size=shape), dtype) for shape in shapes]


def with_gradients(function, arrays):
    """The output and the gradients of Σ output³, which is another one for every element."""
    with tf.GradientTape() as tape:
        tape.watch(arrays)
        output = function(*arrays)
        loss = tf.reduce_sum(output**3)
    return [output, *tape.gradient(loss, arrays)]


def masks(rank, queries=TQ, keys=TK):
    rng = np.random.default_rng(1)
    key_mask = rng.random((B, keys)) < 0.7
    key_mask[1] = False
    return {
        "query_mask": rng.random((B, queries)) < 0.7,
        "key_mask": key_mask,
        "attention_mask": rng.random({3: (B, queries, keys), 4: (B, H, queries, keys)}[rank]) < 0.6,
    }


def assert_like_the_whole(arrays, masks, rows=8, tolerance=1e-5, **options):
    def whole(query, key, value, *bias):
        bias = bias[0] if bias else None
        return scaled_dot_product_attention(query, key, value, bias=bias, mask=pair_mask(**masks), **options)[
            0
        ]

    def chunked(query, key, value, *bias):
        bias = bias[0] if bias else None
        return chunked_attention(query, key, value, bias=bias, rows=rows, **masks, **options)

    results = with_gradients(chunked, arrays)
    for result, expected in zip(results, with_gradients(whole, arrays), strict=True):
        assert result.dtype == expected.dtype
        size = max(1, np.abs(expected).max(initial=0))
        np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "given",
    [
        [],
        ["key_mask"],
        ["query_mask"],
        ["query_mask", "key_mask"],
        ["attention_mask"],
        ["query_mask", "attention_mask"],
    ],
    ids=" and ".join,
)
def test_output_and_gradients_are_those_of_the_whole(causal, given):
    chosen = {name: mask for name, mask in masks(rank=3).items() if name in given}
    assert_like_the_whole(inputs(), chosen, causal=causal)


@pytest.mark.parametrize("shape", list(itertools.product([1, B], [1, H], [1, TQ], [1, TK])))
def test_a_bias_may_be_of_any_shape(shape):
    bias = tf.constant(np.random.default_rng(2).normal(size=shape), "float32")
    assert_like_the_whole([*inputs(), bias], {}, causal=shape[0] == 1, tolerance=3e-5)


@pytest.mark.parametrize("shape", [(TQ, TK), (B, TQ, TK)])
def test_a_bias_may_lack_the_axis_of_the_heads(shape):
    bias = tf.constant(np.random.default_rng(2).normal(size=shape), "float32")
    assert_like_the_whole([*inputs(), bias], masks(rank=4), causal=True)


@pytest.mark.parametrize(
    ("queries", "keys"), [(1, 1), (1, 9), (8, 8), (9, 9), (64, 64), (65, 70), (9, 3), (0, 4), (4, 0)]
)
@pytest.mark.parametrize("causal", [False, True])
def test_any_length(queries, keys, causal):
    assert_like_the_whole(inputs(queries, keys), {}, causal=causal)


def test_the_size_of_the_chunks_changes_nothing():
    arrays = inputs()
    expected = with_gradients(lambda *x: chunked_attention(*x, causal=True, rows=1), arrays)
    for rows in (2, 7, TQ, 512):
        results = with_gradients(lambda *x, rows=rows: chunked_attention(*x, causal=True, rows=rows), arrays)
        for result, reference in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, reference, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("jit", [False, True])
def test_compiled_with_unknown_lengths(causal, jit, monkeypatch):
    monkeypatch.setattr(chunked, "CAUSAL_PARTS", 2)  # fewer are compiled sooner

    def step(*arrays):
        return with_gradients(lambda *x: chunked_attention(*x, causal=causal, rows=8), list(arrays))

    tf.config.run_functions_eagerly(False)
    signature = [tf.TensorSpec((None, H, None, width)) for width in (D, D, DV)]
    compiled = tf.function(step, input_signature=signature, jit_compile=jit)
    for queries, keys in ((9, 9), (17, 20)):
        arrays = inputs(queries, keys)
        for result, expected in zip(compiled(*arrays), step(*arrays), strict=True):
            np.testing.assert_allclose(result, expected, atol=1e-5)


@pytest.mark.parametrize(
    "shape", [(), (TK,), (1, 2, TK), (H, TQ, TK), (B, 1, TQ, TK - 1), (1, B, H, TQ, TK), (3, 1, 1, 1)]
)
def test_a_bias_that_does_not_fit_is_an_error_on_both_ways(shape):
    for attention in (chunked_attention, scaled_dot_product_attention):
        with pytest.raises(ValueError, match=r"bias has shape \(.*but the scores have \(2, 3, 21, 26\)"):
            attention(*inputs(), bias=np.zeros(shape, "float32"))


def test_a_bias_that_does_not_fit_at_run_time_does_not_wrap_round():
    tf.config.run_functions_eagerly(False)
    signature = [tf.TensorSpec((None, H, None, width)) for width in (D, D, DV)] + [tf.TensorSpec([None] * 4)]
    compiled = tf.function(lambda *x: chunked_attention(*x[:3], bias=x[3], rows=8), input_signature=signature)
    assert compiled(*inputs(), np.zeros((1, H, TQ, TK), "float32")).shape == (B, H, TQ, DV)
    with pytest.raises(tf.errors.InvalidArgumentError):
        compiled(*inputs(), np.zeros((1, H, 2, TK), "float32"))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_a_mask_of_keys_makes_no_matrix(causal, padded):
    n = 5000

    def seen(padding, mask):
        return seen_keys(n, n, padding if padded else None, None, mask, causal)

    specs = tf.TensorSpec((B, n), "bool"), tf.TensorSpec((B, 1, 1, n), "bool")
    graph = tf.function(seen).get_concrete_function(*specs).graph
    sizes = [x.shape.num_elements() for operation in graph.get_operations() for x in operation.outputs]
    assert max(sizes) == B * n


def test_whole_numbers_become_floats():
    arrays = [tf.cast(10 * x, "int32") for x in inputs()]
    expected = chunked_attention(*[tf.cast(x, "float32") for x in arrays], rows=8)
    np.testing.assert_allclose(chunked_attention(*arrays, rows=8), expected, atol=1e-6)


def test_a_scale_of_ones_own():
    assert_like_the_whole(inputs(), {}, scale=0.3)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float16", 3e-2), ("bfloat16", 3e-1)])
def test_precision(dtype, tolerance):
    arrays = inputs(dtype=dtype)
    exact = [tf.cast(x, "float64") for x in arrays]
    results = with_gradients(lambda *x: chunked_attention(*x, causal=True, rows=8), arrays)
    expected = with_gradients(lambda *x: scaled_dot_product_attention(*x, causal=True)[0], exact)
    for result, reference in zip(results, expected, strict=True):
        assert result.dtype == dtype
        reference = reference.numpy()
        np.testing.assert_allclose(
            tf.cast(result, "float64"), reference, atol=tolerance * max(1, abs(reference).max())
        )


def test_float16_does_not_overflow():
    x = tf.fill((1, 1, 9, 64), tf.constant(60, "float16"))
    np.testing.assert_allclose(chunked_attention(x, x, x, rows=4), x)


@pytest.mark.parametrize("given", ["query_mask", "key_mask", "attention_mask", "causal"])
def test_what_is_hidden_never_reaches_output_or_gradients(given):
    garbage = np.resize(np.float32([np.nan, np.inf, -np.inf]), (B, H, TQ, 1))
    query, key, value = (x.numpy()[:, :, :TQ] for x in inputs())
    hidden = np.zeros((B, TQ), bool)
    hidden[:, 13:] = True
    options = {
        "query_mask": {"query_mask": ~hidden},
        "key_mask": {"key_mask": ~hidden},
        "attention_mask": {"attention_mask": np.broadcast_to(~hidden[:, None], (B, TQ, TQ))},
        # the padded queries are the only ones that see the last keys
        "causal": {"query_mask": ~hidden, "causal": True},
    }[given]
    results = []
    for spoil in (False, True):
        arrays = [query, key, value]
        if spoil:
            spoilt = {"query_mask": (0,), "causal": (0, 1, 2)}.get(given, (1, 2))
            arrays = [
                np.where(hidden[:, None, :, None], garbage, x) if i in spoilt else x
                for i, x in enumerate(arrays)
            ]
        arrays = [tf.constant(x) for x in arrays]
        results.append(with_gradients(lambda *x: chunked_attention(*x, rows=8, **options), arrays))
    for clean, spoilt in zip(*results, strict=True):
        np.testing.assert_array_equal(clean, spoilt)


def test_infinite_bias_hides():
    bias = np.where(masks(rank=4)["attention_mask"], 0, -np.inf).astype("float32")
    assert_like_the_whole([*inputs(), tf.constant(bias)], {})
    output = chunked_attention(*inputs(), bias=bias, rows=8)
    expected, _ = scaled_dot_product_attention(*inputs(), mask=bias == 0)
    np.testing.assert_allclose(output, expected, atol=1e-6)


def dropped(arrays, rate, seed, rows=8):
    return chunked_attention(*arrays, dropout=rate, seed=seed, rows=rows)


def test_dropout_drops_that_share_of_the_weights():
    query, key, _ = inputs(keys=400)
    value = tf.ones((B, H, 400, 1))
    outputs = dropped([query * 0, key, value], 0.25, (1, 2)).numpy()  # of 400 equal weights, the kept ones
    kept = outputs * 400 * 0.75
    np.testing.assert_allclose(kept, kept.round(), atol=1e-3)
    np.testing.assert_allclose(kept.mean() / 400, 0.75, atol=0.01)
    assert len(np.unique(kept.round())) > 10  # each row its own


def test_dropout_of_everything_leaves_nothing():
    output, *gradients = with_gradients(lambda *x: dropped(x, 1.0, (1, 2)), inputs())
    assert not any(np.any(x) for x in (output, *gradients))


def test_dropout_is_seeded():
    arrays = inputs()
    first, second, other = (dropped(arrays, 0.5, seed) for seed in ((1, 2), (1, 2), (1, 3)))
    np.testing.assert_array_equal(first, second)
    assert (first.numpy() != other.numpy()).any()


def test_gradients_with_dropout_are_those_of_the_same_dropping():
    arrays = inputs(dtype="float64")
    _, *gradients = with_gradients(lambda *x: dropped(x, 0.4, (1, 2)), arrays)
    rng = np.random.default_rng(3)
    directions = [rng.normal(size=x.shape) for x in arrays]
    ahead, behind = (
        tf.reduce_sum(
            dropped([x + step * d for x, d in zip(arrays, directions, strict=True)], 0.4, (1, 2)) ** 3
        )
        for step in (1e-6, -1e-6)
    )
    slope = sum(tf.reduce_sum(g * d) for g, d in zip(gradients, directions, strict=True))
    np.testing.assert_allclose((ahead - behind) / 2e-6, slope, rtol=1e-6)


MEMORY = """
import resource, sys
import tensorflow as tf
from keras_attention.chunked import chunked_attention
def step(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(chunked_attention(x, x, x, causal=bool(int(sys.argv[1]))) ** 2)
    return tape.gradient(loss, x)
step = tf.function(step, reduce_retracing=True)
peaks = []
for n in (600, 700, 6000):
    step(tf.ones((1, 4, n, 8)))
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
print(peaks[-1] - peaks[-2])
"""


@pytest.mark.parametrize("causal", [0, 1])
def test_memory_grows_with_the_length_and_not_with_its_square(causal):
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, str(causal)], capture_output=True, text=True, check=True
    )
    whole = 4 * 6000**2 * 4 / 2**20  # MB of one tensor of weights
    assert float(run.stdout) < whole / 4
