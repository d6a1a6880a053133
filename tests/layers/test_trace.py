"""Each step of the formula gives the next one."""

import numpy as np
import pytest
from keras import ops

from keras_attention.layers import (
    BahdanauAttention,
    CrossAttention,
    LuongAttention,
    MultiHeadAttention,
    ScaledDotProductAttention,
    SelfAttention,
)

B, TQ, TK, WIDTH = 2, 5, 7, 6
DOT = {
    "scaled dot product": (ScaledDotProductAttention, WIDTH**-0.5),
    "own scale": (lambda: ScaledDotProductAttention(scale=0.3), 0.3),
    "multi-head": (lambda: MultiHeadAttention(3, 4, value_dim=8), 4**-0.5),
    "grouped, rotary": (lambda: MultiHeadAttention(4, 6, num_key_value_heads=2, rotary=True), 6**-0.5),
    "cross": (lambda: CrossAttention(3, 4), 4**-0.5),
    "luong dot": (lambda: LuongAttention("dot"), 1),
}


def inputs():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(B, length, WIDTH)).astype("float32") for length in (TQ, TK)]


def traced(layer, *args, **kwargs):
    return {name: ops.convert_to_numpy(step) for name, step in layer.trace(*args, **kwargs).items()}


@pytest.mark.parametrize("name", DOT)
def test_each_step_gives_the_next(name, softmax):
    make, scale = DOT[name]
    layer = make()
    bias = np.random.default_rng(1).normal(size=(B, TQ, TK)).astype("float32")
    steps = traced(layer, *inputs(), attention_bias=bias, use_causal_mask=True)
    expected = ["query", "key", "value", "scores", "scaled", "masked", "weights", "attended", "output"]
    assert list(steps) == expected

    close = {"rtol": 1e-4, "atol": 1e-5}
    scores = steps["query"] @ np.swapaxes(steps["key"], -1, -2)
    np.testing.assert_allclose(steps["scores"], scores, **close)
    np.testing.assert_allclose(steps["scaled"], steps["scores"] * scale, **close)
    visible = np.tri(TQ, TK, TK - TQ, dtype=bool)
    biased = steps["scaled"] + (bias[:, None] if scores.ndim == 4 else bias)
    np.testing.assert_allclose(steps["masked"], np.where(visible, biased, -np.inf), **close)
    np.testing.assert_allclose(steps["weights"], softmax(steps["masked"], visible), **close)
    np.testing.assert_allclose(steps["attended"], steps["weights"] @ steps["value"], **close)
    output = ops.convert_to_numpy(layer(*inputs(), attention_bias=bias, use_causal_mask=True))
    np.testing.assert_allclose(steps["output"], output, **close)
    if hasattr(layer, "output_dense"):
        kernel, bias = (ops.convert_to_numpy(x) for x in layer.output_dense.weights)
        merged = np.einsum("bhtd,hde->bte", steps["attended"], kernel) + bias
        np.testing.assert_allclose(steps["output"], merged, **close)
    else:
        np.testing.assert_array_equal(steps["output"], steps["attended"])


def test_an_additive_score_is_one_step(softmax):
    steps = traced(BahdanauAttention(8), *inputs())
    assert list(steps) == ["query", "key", "value", "scores", "masked", "weights", "attended", "output"]
    np.testing.assert_allclose(steps["weights"], softmax(steps["scores"]), atol=1e-6)


def test_self_attention_takes_its_own_arguments():
    x = inputs()[1]
    steps = traced(SelfAttention(2, 3), x, mask=np.arange(TK) < [[4], [7]])
    assert steps["scores"].shape == (B, 2, TK, TK)
    assert np.isinf(steps["masked"][0, :, :, 4:]).all()


def test_nothing_is_recorded_outside():
    layer, arrays = ScaledDotProductAttention(), inputs()
    steps = layer.trace(*arrays)
    before = list(steps)
    layer(*[2 * x for x in arrays])
    assert list(steps) == before
    np.testing.assert_allclose(
        ops.convert_to_numpy(steps["output"]), ops.convert_to_numpy(layer(*arrays)), atol=1e-6
    )


def test_an_error_ends_the_recording():
    from keras_attention import functional

    with pytest.raises(ValueError, match="rank 2"):
        ScaledDotProductAttention().trace(*inputs(), attention_mask=np.ones((TQ, TK), bool))
    assert not functional.tracing()
