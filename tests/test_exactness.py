import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.exactness import exactness_report
from keras_attention.layers import (
    BahdanauAttention,
    BigBirdAttention,
    LinearAttention,
    LongformerAttention,
    MultiHeadAttention,
    PerformerAttention,
    ReformerAttention,
    SelfAttention,
)

B, N, WIDTH, H, DK = 2, 23, 6, 3, 4


def array(tensor):
    return ops.convert_to_numpy(tensor)


def inputs(scale=1.0):
    return (scale * np.random.default_rng(0).normal(size=(B, N, WIDTH))).astype("float32")


def dense_of(layer, x, **call):
    dense = MultiHeadAttention(H, DK)
    dense(x, x)
    dense.set_weights(layer.get_weights()[:8])
    mask = call.pop("mask", None)
    return map(array, dense(x, x, query_mask=mask, value_mask=mask, return_attention_scores=True, **call))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [None, (N, 9)])
@pytest.mark.parametrize(
    "make",
    [
        lambda: LongformerAttention(H, DK, 2, global_tokens=[4]),
        lambda: LongformerAttention(H, DK, 2, global_tokens=[4], global_projections=True),
        lambda: BigBirdAttention(H, DK, 2, 1, seed=1),
    ],
)
def test_what_a_sparse_layer_misses_is_what_lies_outside_its_pattern(make, causal, lengths):
    layer, x = make(), inputs()
    layer(x)
    mask = None if lengths is None else np.arange(N) < np.array(lengths)[:, None]
    real = np.ones((B, N), bool) if mask is None else mask
    expected, weights = dense_of(layer, x, mask=mask, use_causal_mask=causal)
    error = abs(array(layer(x, mask=mask, use_causal_mask=causal)) - expected)[real]
    seen = np.broadcast_to(array(layer.pattern_mask(N, causal=causal)), weights.shape)
    report = exactness_report(layer, x, mask=mask, causal=causal)
    assert report.largest_error == pytest.approx(error.max(), rel=1e-4)
    assert report.mean_error == pytest.approx(error.mean(), rel=1e-4)
    assert report.relative_error == pytest.approx(
        np.sqrt(np.square(error).sum() / np.square(expected[real]).sum()), rel=1e-4
    )
    mass = np.where(seen, weights, 0).sum(-1)  # (B, H, n)
    assert report.covered_mass == pytest.approx(np.swapaxes(mass, 1, 2)[real].mean(), rel=1e-4)
    assert 0.1 < report.covered_mass < 0.99
    assert report.kernel_error is None


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda **kw: LongformerAttention(H, DK, N, **kw),
        lambda **kw: BigBirdAttention(H, DK, N, **kw),
        lambda **kw: ReformerAttention(H, DK, N, num_buckets=1, **kw),
        lambda **kw: SelfAttention(H, DK, **kw),
    ],
)
@pytest.mark.parametrize("options", [{}, {"rotary": True, "num_key_value_heads": 1, "output_shape": 7}])
def test_what_sees_everything_is_exact(make, causal, options):
    report = exactness_report(make(**options), inputs(), causal=causal)
    assert report.largest_error < 1e-5
    assert report.covered_mass == pytest.approx(1, abs=1e-5)


def test_linear_attention_covers_all_and_is_not_exact():
    report = exactness_report(LinearAttention(H, DK), inputs())
    assert report.covered_mass == pytest.approx(1, abs=1e-5)
    assert report.relative_error > 0.01


def test_more_hashes_cover_more():
    few, many = (exactness_report(ReformerAttention(H, DK, 3, n, seed=1), inputs()) for n in (1, 8))
    assert many.covered_mass > 1.2 * few.covered_mass
    assert many.relative_error < few.relative_error


def test_the_keras_mask_counts():
    ids = np.array([[3, 1, 4, 1, 5], [9, 2, 0, 0, 0]])
    x = keras.layers.Embedding(10, WIDTH, mask_zero=True)(ops.convert_to_tensor(ids))
    layer = LongformerAttention(H, DK, 1)
    assert exactness_report(layer, x) == exactness_report(layer, array(x), mask=ids != 0)
    assert exactness_report(layer, x) != exactness_report(layer, array(x))


def test_the_predicted_error_is_the_closed_form_weighted_by_the_attention():
    x = inputs(0.5)
    layer = PerformerAttention(H, DK, num_features=9, seed=1)
    layer(x)
    _, weights = dense_of(layer, x)
    query, key = (np.einsum("bnd,dhk->bhnk", x, w) / DK**0.25 for w in layer.get_weights()[:4:2])
    total = 0
    for h in range(H):
        for b in range(B):
            for i in range(N):
                for j in range(N):
                    of_sum = np.square(query[b, h, i] + key[b, h, j]).sum()
                    total += weights[b, h, i, j] * (np.exp(of_sum) - 1) / 9
    report = exactness_report(layer, x)
    assert report.predicted_kernel_error == pytest.approx(np.sqrt(total / (B * H * N)), rel=1e-4)


def test_the_measured_error_of_independent_features_is_the_predicted_one():
    x = inputs(0.4)
    layers = [PerformerAttention(H, DK, 32, orthogonal=False, seed=seed) for seed in range(60)]
    layers[0](x)
    reports = []
    for layer in layers:
        layer(x)
        layer.set_weights(layers[0].get_weights())
        reports.append(exactness_report(layer, x))
    measured = np.sqrt(np.mean([report.kernel_error**2 for report in reports]))
    assert measured == pytest.approx(reports[0].predicted_kernel_error, rel=0.15)
    assert all(report.covered_mass == pytest.approx(1, abs=1e-5) for report in reports[:3])


@pytest.mark.parametrize("causal", [False, True])
def test_the_error_of_the_output_is_the_predicted_one(causal):
    x, mask = inputs(0.4), np.arange(N) < np.array([[N], [9]])
    options = {"num_features": 256, "orthogonal": False, "output_shape": (2, 5), "num_key_value_heads": 1}
    layers = [PerformerAttention(H, DK, seed=seed, **options) for seed in range(60)]
    layers[0](x)
    reports = []
    for layer in layers:
        layer(x)
        layer.set_weights(layers[0].get_weights())
        reports.append(exactness_report(layer, x, mask=mask, causal=causal))
    measured = np.sqrt(np.mean([report.relative_error**2 for report in reports]))
    # of 60 draws the root mean square has a standard error of about 5 %
    assert measured == pytest.approx(reports[0].predicted_error, rel=0.2)
    assert reports[0].predicted_error < 0.1


def test_it_tells_when_performer_is_useless():
    x = np.random.default_rng(0).normal(size=(1, 256, 64)).astype("float32")
    layer = PerformerAttention(1, 64, num_features=256, use_bias=False, seed=0)
    layer(x)
    identity = np.eye(64)
    layer.set_weights([*3 * [identity[:, None]], identity[None]])
    report = exactness_report(layer, x)
    assert report.predicted_kernel_error > 100
    assert report.predicted_error > 1
    assert report.relative_error > 0.5


def test_other_layers_are_errors():
    with pytest.raises(ValueError, match="BahdanauAttention is no self-attention"):
        exactness_report(BahdanauAttention(4), inputs())
