import functools
import math

import hypothesis.strategies as st
import keras
import numpy as np
import pytest
from hypothesis import given, settings
from keras import ops

from keras_attention import functional
from keras_attention.functional import additive_attention, masked_softmax, scaled_dot_product_attention

B, H, TQ, TK, D, DV = 2, 3, 5, 7, 4, 6
GARBAGE = [math.nan, math.inf, -math.inf, 3e38]
quick = settings(max_examples=15, deadline=None)


def inputs(seed=0, queries=TQ, keys=TK, leading=(B, H)):
    rng = np.random.default_rng(seed)
    shapes = (*leading, queries, D), (*leading, keys, D), (*leading, keys, DV)
    return [rng.normal(size=shape).astype("float32") for shape in shapes]


def random_mask(seed=1, shape=(B, 1, TQ, TK)):
    mask = np.random.default_rng(seed).random(shape) < 0.6
    mask[..., 0] = True
    return mask


def arrays(results):
    return [ops.convert_to_numpy(result) for result in results]


def softmax(scores, mask=True):
    """softmax(scores, mask) in float64, whose fully hidden rows are zero."""
    scores = np.asarray(scores, "float64")
    mask = np.broadcast_to(mask, scores.shape)
    powers = np.where(mask, np.exp(np.where(mask, scores, 0)), 0)
    total = powers.sum(-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


class TestScaledDotProduct:
    @pytest.mark.parametrize("leading", [(), (B,), (B, H)])
    @pytest.mark.parametrize("scale", [None, 0.3])
    def test_is_the_formula(self, leading, scale):
        query, key, value = inputs(leading=leading)
        mask = random_mask(shape=(TQ, TK))
        bias = np.random.default_rng(2).normal(size=(TQ, TK)).astype("float32")
        output, weights = arrays(
            scaled_dot_product_attention(query, key, value, mask=mask, bias=bias, scale=scale)
        )
        scores = np.einsum("...qd,...kd->...qk", query, key) * (D**-0.5 if scale is None else scale) + bias
        expected = softmax(scores, mask)
        np.testing.assert_allclose(weights, expected, atol=1e-6)
        np.testing.assert_allclose(output, expected @ value, atol=1e-6)

    @pytest.mark.parametrize("causal", [False, True])
    def test_equals_keras(self, causal):
        query, key, value = inputs(queries=TK)
        value = value[..., :D] if keras.backend.backend() == "jax" else value  # theirs takes one width there
        output, _ = arrays(scaled_dot_product_attention(query, key, value, causal=causal))
        heads_last = [np.swapaxes(x, 1, 2) for x in (query, key, value)]
        expected = np.swapaxes(ops.dot_product_attention(*heads_last, is_causal=causal), 1, 2)
        np.testing.assert_allclose(output, expected, atol=1e-6)

    def test_causal_last_queries_equal_the_whole_pass(self):
        query, key, value = inputs(queries=TK)
        whole, _ = arrays(scaled_dot_product_attention(query, key, value, causal=True))
        last, _ = arrays(scaled_dot_product_attention(query[:, :, -2:], key, value, causal=True))
        np.testing.assert_allclose(last, whole[:, :, -2:], atol=1e-6)

    def test_a_mask_of_rank_3_counts_for_every_head(self):
        query, key, value = inputs(leading=(2, 2))
        mask = random_mask(shape=(2, TQ, TK))
        output, _ = arrays(scaled_dot_product_attention(query, key, value, mask=mask))
        expected, _ = arrays(scaled_dot_product_attention(query, key, value, mask=mask[:, None]))
        np.testing.assert_array_equal(output, expected)

    def test_a_bias_of_minus_infinity_hides_like_a_mask(self):
        query, key, value = inputs()
        mask = random_mask()
        mask[0, :, 1] = False
        bias = np.where(mask, 0, -np.inf).astype("float32")
        masked = arrays(scaled_dot_product_attention(query, key, value, mask=mask))
        biased = arrays(scaled_dot_product_attention(query, key, value, bias=bias))
        for ours, expected in zip(biased, masked, strict=True):
            np.testing.assert_array_equal(ours, expected)

    def test_float16_scales_the_query_before_the_product(self):
        x = np.full((1, 3, 64), 40, "float16")  # 40 · 40 · 64 = 102 400 is more than float16 holds
        output, weights = arrays(scaled_dot_product_attention(x, x, x))
        assert output.dtype == weights.dtype == np.float16
        np.testing.assert_allclose(weights, 1 / 3, atol=1e-3)
        np.testing.assert_allclose(output, 40, atol=0.1)

    @pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 5e-3), ("bfloat16", 5e-2)])
    def test_half_precision_stays_close(self, dtype, tolerance):
        query, key, value = inputs()
        mask = random_mask()
        mask[1, :, 2] = False
        expected = arrays(scaled_dot_product_attention(query, key, value, mask=mask))
        half = [ops.cast(x, dtype) for x in (query, key, value)]
        results = scaled_dot_product_attention(*half, mask=mask)
        for result, reference in zip(results, expected, strict=True):
            assert keras.backend.standardize_dtype(result.dtype) == dtype
            np.testing.assert_allclose(
                ops.convert_to_numpy(ops.cast(result, "float32")), reference, atol=tolerance
            )

    @pytest.mark.parametrize(("batch", "queries", "keys"), [(0, 5, 7), (2, 0, 7), (2, 5, 0)])
    @pytest.mark.parametrize("causal", [False, True])
    def test_empty_axes(self, batch, queries, keys, causal):
        query, key, value = inputs(queries=queries, keys=keys, leading=(batch, H))
        output, weights = arrays(scaled_dot_product_attention(query, key, value, causal=causal))
        assert output.shape == (batch, H, queries, DV)
        assert weights.shape == (batch, H, queries, keys)
        assert np.isfinite(output).all()

    def test_dropout_acts_on_the_weights_that_meet_the_values_alone(self):
        query, key, value = inputs()
        expected, weights = arrays(scaled_dot_product_attention(query, key, value))
        dropped = scaled_dot_product_attention(query, key, value, dropout=lambda weights: 0 * weights)
        np.testing.assert_array_equal(ops.convert_to_numpy(dropped[1]), weights)
        assert not ops.any(dropped[0])
        assert expected.any()

    @pytest.mark.parametrize("causal", [False, True])
    def test_jit_changes_nothing(self, causal, jit):
        query, key, value = inputs()
        attend = functools.partial(scaled_dot_product_attention, mask=random_mask(), causal=causal)
        expected = arrays(attend(query, key, value))
        for result, reference in zip(arrays(jit(attend)(query, key, value)), expected, strict=True):
            np.testing.assert_allclose(result, reference, atol=1e-6)

    @pytest.mark.tensorflow
    def test_unknown_lengths(self):
        import tensorflow as tf

        shapes = [(None, None, D), (None, None, D), (None, None, DV)]
        attend = tf.function(
            functools.partial(scaled_dot_product_attention, causal=True),
            input_signature=[tf.TensorSpec(shape) for shape in shapes],
        )
        for lengths in [(3, 4), (4, 4), (6, 2)]:
            query, key, value = inputs(queries=lengths[0], keys=lengths[1], leading=(B,))
            expected, _ = arrays(scaled_dot_product_attention(query, key, value, causal=True))
            np.testing.assert_allclose(attend(query, key, value)[0], expected, atol=1e-6)

    def test_widths_must_agree(self):
        query, key, value = inputs()
        with pytest.raises(ValueError, match="width is 3 and the key's 4"):
            scaled_dot_product_attention(query[..., :3], key, value)

    def test_every_value_needs_its_key(self):
        query, key, value = inputs()
        with pytest.raises(ValueError, match="6 keys for 7 values"):
            scaled_dot_product_attention(query, key[..., 1:, :], value)

    def test_a_float_mask_is_an_error_that_names_the_bias(self):
        with pytest.raises(ValueError, match="`attention_bias`"):
            scaled_dot_product_attention(*inputs(), mask=np.triu(np.full((TQ, TK), -1e9), 1))


class TestWhatIsHidden:
    """Hidden keys and values may hold anything."""

    def patterns():
        padding = np.ones((B, 1, 1, TK), bool)
        padding[0, ..., 4:] = padding[1, ..., 2:] = False
        rows = np.ones((B, 1, TQ, TK), bool)
        rows[:, :, :3, 4:] = rows[:, :, 1, :] = False
        return {
            "padding": padding,
            "some rows": rows,
            "causal": np.tri(TQ, TK, TK - TQ, dtype=bool)[None, None],
        }

    @pytest.mark.parametrize("garbage", GARBAGE)
    @pytest.mark.parametrize("pattern", ["padding", "some rows", "causal"])
    def test_never_reaches_the_result(self, garbage, pattern):
        mask = TestWhatIsHidden.patterns()[pattern]
        query, key, value = inputs()
        hidden = ~np.broadcast_to(mask, (B, H, TQ, TK))[:, :, 0]  # (B, H, TK), hidden from the first query
        blind = hidden[:, :, None] <= ~np.broadcast_to(
            mask, (B, H, TQ, TK)
        )  # this key is hidden from query i too
        clean_rows = blind.all(-1)  # (B, H, TQ)
        assert clean_rows[:, :, 0].all()
        causal = pattern == "causal"
        attend = functools.partial(scaled_dot_product_attention, mask=None if causal else mask, causal=causal)
        expected = arrays(attend(query, key, value))
        for spoiled in ("key", "value", "both"):
            spoilt_key = key if spoiled == "value" else np.where(hidden[..., None], np.float32(garbage), key)
            spoilt_value = (
                value if spoiled == "key" else np.where(hidden[..., None], np.float32(garbage), value)
            )
            results = arrays(attend(query, spoilt_key, spoilt_value))
            for result, reference in zip(results, expected, strict=True):
                np.testing.assert_array_equal(result[clean_rows], reference[clean_rows])

    @pytest.mark.parametrize("garbage", GARBAGE)
    def test_leaves_the_gradients_finite(self, garbage, gradients):
        mask = TestWhatIsHidden.patterns()["padding"] & (np.arange(TQ) != 1)[:, None]
        query, key, value = inputs()
        clean = [x.copy() for x in (query, key, value)]
        query[:, :, 1] = garbage
        key[0, :, 4:] = value[0, :, 4:] = key[1, :, 2:] = value[1, :, 2:] = garbage

        def loss(*tensors):
            output, weights = scaled_dot_product_attention(*tensors, mask=mask)
            return ops.sum(output**2) + ops.sum(weights**2)

        found = [gradients(loss, tensors) for tensors in (clean, (query, key, value))]
        for ours, expected in zip(found[1], found[0], strict=True):
            np.testing.assert_array_equal(ours, expected)
            assert np.isfinite(ours).all()

    def test_a_query_that_may_see_nothing_gets_zeros(self):
        query, key, value = inputs()
        mask = random_mask()
        mask[1, :, 3] = False
        output, weights = arrays(scaled_dot_product_attention(query, key, value, mask=mask))
        assert not output[1, :, 3].any()
        assert not weights[1, :, 3].any()
        np.testing.assert_allclose(weights.sum(-1)[0], 1, atol=1e-6)

    def test_a_visible_nan_is_not_concealed(self):
        query, key, value = inputs()
        value[:, :, 5, 0] = np.nan
        output, _ = arrays(scaled_dot_product_attention(query, key, value, causal=True))
        sees = np.tri(TQ, TK, TK - TQ, dtype=bool)[:, 5]
        assert np.isnan(output[:, :, sees]).all()
        assert np.isfinite(output[:, :, ~sees]).all()

    @pytest.mark.parametrize("garbage", GARBAGE)
    def test_holds_for_additive_attention(self, garbage):
        query, key, value = inputs(leading=(B,))
        mask = np.arange(TK) < 4
        expected = arrays(additive_attention(query, key, value, np.ones(D, "float32"), mask=mask[None]))
        key[:, 4:] = value[:, 4:] = garbage
        results = arrays(additive_attention(query, key, value, np.ones(D, "float32"), mask=mask[None]))
        for result, reference in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result, reference)


class TestProperties:
    @quick
    @given(seed=st.integers(0, 999), keys=st.integers(1, 9), causal=st.booleans())
    def test_weights_are_a_distribution(self, seed, keys, causal):
        _, weights = arrays(scaled_dot_product_attention(*inputs(seed, queries=1, keys=keys), causal=causal))
        assert (weights >= 0).all()
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)

    @quick
    @given(seed=st.integers(0, 999), order=st.permutations(range(TK)))
    def test_permuting_keys_and_values_together_changes_nothing(self, seed, order):
        query, key, value = inputs(seed)
        mask = random_mask(seed)
        expected, weights = arrays(scaled_dot_product_attention(query, key, value, mask=mask))
        output, permuted = arrays(
            scaled_dot_product_attention(query, key[:, :, order], value[:, :, order], mask=mask[..., order])
        )
        np.testing.assert_allclose(output, expected, atol=1e-6)
        np.testing.assert_allclose(permuted, weights[..., order], atol=1e-6)

    @quick
    @given(seed=st.integers(0, 999), padding=st.integers(1, 6))
    def test_appended_padding_changes_nothing(self, seed, padding):
        query, key, value = inputs(seed)
        expected, _ = arrays(scaled_dot_product_attention(query, key, value))
        _, more_keys, more_values = inputs(seed + 1, keys=padding)
        output, weights = arrays(
            scaled_dot_product_attention(
                query,
                np.concatenate([key, more_keys], 2),
                np.concatenate([value, more_values], 2),
                mask=(np.arange(TK + padding) < TK)[None],
            )
        )
        np.testing.assert_allclose(output, expected, atol=1e-6)
        assert not weights[..., TK:].any()

    @quick
    @given(seed=st.integers(0, 999), now=st.integers(0, TK - 2))
    def test_the_future_changes_nothing_under_causal(self, seed, now):
        query, key, value = inputs(seed, queries=TK)
        expected, _ = arrays(scaled_dot_product_attention(query, key, value, causal=True))
        others = inputs(seed + 1, queries=TK)
        for tensor, other in zip((query, key, value), others, strict=True):
            tensor[:, :, now + 1 :] = other[:, :, now + 1 :]
        output, _ = arrays(scaled_dot_product_attention(query, key, value, causal=True))
        np.testing.assert_array_equal(output[:, :, : now + 1], expected[:, :, : now + 1])
        assert (output[:, :, now + 1 :] != expected[:, :, now + 1 :]).any()


class TestParts:
    @pytest.mark.parametrize("as_given", [int, float, np.int64])
    def test_whole_numbers_become_floats(self, as_given):
        query, key, value = (
            [[as_given(x) for x in row] for row in rows] for rows in ([[1, 0]], [[4, 0], [0, 4]], [[1], [2]])
        )
        output, weights = arrays(scaled_dot_product_attention(query, key, value))
        np.testing.assert_allclose(weights, [[0.944, 0.056]], atol=1e-3)
        np.testing.assert_allclose(output, [[1.056]], atol=1e-3)
        scores = functional.dot_scores(ops.convert_to_tensor(query), ops.convert_to_tensor(key))
        np.testing.assert_allclose(ops.convert_to_numpy(scores), [[4 / 2**0.5, 0]], rtol=1e-6)
        _, weights = arrays(additive_attention([[0]], [[9], [-9]], [[1], [2]], [1]))
        np.testing.assert_allclose(weights, [[0.881, 0.119]], atol=1e-3)

    def test_a_bias_of_whole_numbers_is_added_and_one_of_booleans_refused(self):
        query, key, value = inputs()
        distance = -abs(np.arange(TK) - np.arange(TQ)[:, None])
        _, weights = arrays(scaled_dot_product_attention(query, key, value, bias=distance))
        _, expected = arrays(scaled_dot_product_attention(query, key, value, bias=distance.astype("float32")))
        np.testing.assert_array_equal(weights, expected)
        with pytest.raises(ValueError, match="bias holds booleans"):
            scaled_dot_product_attention(query, key, value, bias=distance > -2)

    def test_a_trace_of_two_calls_is_that_of_the_last(self):
        query, key, value = inputs(leading=(B,))
        vector = np.ones(D, "float32")
        with functional.trace() as alone:
            additive_attention(query, key, value, vector)
        with functional.trace() as steps:
            scaled_dot_product_attention(query, key, value)
            additive_attention(query, key, value, vector)
        assert list(steps) == list(alone)
        np.testing.assert_array_equal(*arrays((steps["scores"], alone["scores"])))

    def test_additive_attention_is_the_formula(self):
        query, key, value = inputs(leading=(B,))
        vector = np.random.default_rng(3).normal(size=D).astype("float32")
        mask = random_mask(shape=(B, TQ, TK))
        output, weights = arrays(additive_attention(query, key, value, vector, mask=mask))
        scores = np.zeros((B, TQ, TK))
        for b, i, j in np.ndindex(B, TQ, TK):
            scores[b, i, j] = vector @ np.tanh(query[b, i] + key[b, j])
        np.testing.assert_allclose(weights, softmax(scores, mask), atol=1e-6)
        np.testing.assert_allclose(output, softmax(scores, mask) @ value, atol=1e-6)

    def test_masked_softmax_runs_in_float32(self):
        scores = np.array([[60000, 60000, -60000]], "float16")
        weights = masked_softmax(scores)
        assert keras.backend.standardize_dtype(weights.dtype) == "float32"
        np.testing.assert_array_equal(weights, [[0.5, 0.5, 0]])

    @pytest.mark.tensorflow
    def test_masked_softmax_keeps_float64(self):
        doubles = masked_softmax(ops.cast([[1.0, 2.0]], "float64"))
        assert keras.backend.standardize_dtype(doubles.dtype) == "float64"

    def test_masked_softmax_of_a_hidden_row_is_zero_with_a_zero_gradient(self, gradients):
        scores = np.float32([[1.0, 2.0, 4.0], [3.0, np.nan, np.inf]])
        mask = np.array([[True, False, True], [False, False, False]])
        weights = ops.convert_to_numpy(masked_softmax(scores, mask))
        np.testing.assert_allclose(weights, softmax([[1, 2, 4], [0, 0, 0]], mask), atol=1e-6)
        (gradient,) = gradients(lambda x: ops.sum(masked_softmax(x, mask) ** 2), [scores])
        assert gradient[0, [0, 2]].all()
        assert not gradient[~mask].any()

    def test_rotary_is_the_product_of_complex_numbers(self):
        x = np.random.default_rng(0).normal(size=(B, TQ, 6)).astype("float32")
        positions = np.array([3, 0, 7, 1, 2])
        turns = np.exp(1j * positions[:, None] * 10000.0 ** (-np.arange(3) / 3))
        expected = (x[..., :3] + 1j * x[..., 3:]) * turns
        output = ops.convert_to_numpy(functional.rotary(ops.convert_to_tensor(x), positions))
        np.testing.assert_allclose(output, np.concatenate([expected.real, expected.imag], -1), atol=1e-5)

    def test_rotary_scores_depend_on_the_distance_alone(self):
        query, key, _ = (ops.convert_to_tensor(x) for x in inputs())
        scores = [
            ops.matmul(
                functional.rotary(query, np.arange(TQ) + shift),
                ops.swapaxes(functional.rotary(key, np.arange(TK) + shift), -1, -2),
            )
            for shift in (0, 100)
        ]
        np.testing.assert_allclose(scores[0], scores[1], atol=1e-4)

    def test_rotary_needs_pairs(self):
        with pytest.raises(ValueError, match="make it even"):
            functional.rotary(ops.ones((2, 3)), [0, 1])
