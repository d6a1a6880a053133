"""The blocks against NumPy, and what the shared tests of test_conformance.py do not ask."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import TransformerDecoderBlock, TransformerEncoderBlock

B, T, TK, D, DCONTEXT, H, HIDDEN = 2, 5, 7, 6, 9, 3, 11


def array(tensor):
    return ops.convert_to_numpy(tensor)


def inputs():
    rng = np.random.default_rng(0)
    return rng.normal(size=(B, T, D)).astype("float32"), rng.normal(size=(B, TK, DCONTEXT)).astype("float32")


def randomised(block, *shapes):
    """A built block whose every weight is random, those that begin as 0 or 1 too."""
    block.build(*shapes)
    rng = np.random.default_rng(1)
    block.set_weights([rng.normal(size=weight.shape) for weight in block.get_weights()])
    return block


def weights_of(layer):
    return [weight.astype("float64") for weight in layer.get_weights()]


def norm(layer, x):
    gamma, beta = weights_of(layer)
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + 1e-5) + beta


def attention(layer, query, context, visible, softmax):
    """The output and the weights (B, H, Tq, Tk), head by head."""
    wq, bq, wk, bk, wv, bv, wo, bo = weights_of(layer)
    output, weights = bo, []
    for h in range(H):
        q, k, v = query @ wq[:, h] + bq[h], context @ wk[:, h] + bk[h], context @ wv[:, h] + bv[h]
        weights.append(softmax(q @ k.transpose(0, 2, 1) / np.sqrt(D // H), visible))
        output = output + weights[-1] @ v @ wo[h]
    return output, np.stack(weights, 1)


def feed_forward(block, x):
    (w1, b1), (w2, b2) = weights_of(block.hidden_dense), weights_of(block.output_dense)
    return x + np.maximum(norm(block.feed_forward_norm, x) @ w1 + b1, 0) @ w2 + b2


def test_an_encoder_block_is_the_formula(softmax):
    x, _ = inputs()
    mask = np.arange(T) < np.array([[5], [3]])
    block = randomised(TransformerEncoderBlock(H, HIDDEN), (B, T, D))
    output, weights = block(x, mask=mask, return_attention_scores=True)
    normed = norm(block.attention_norm, x.astype("float64"))
    attended, expected_weights = attention(block.self_attention, normed, normed, mask[:, None], softmax)
    expected = feed_forward(block, x + attended)
    np.testing.assert_allclose(array(output)[mask], expected[mask], rtol=1e-4, atol=1e-4)
    rows = np.broadcast_to(mask[:, None], (B, H, T))
    np.testing.assert_allclose(array(weights)[rows], expected_weights[rows], atol=1e-5)


def test_a_decoder_block_is_the_formula(softmax):
    x, context = inputs()
    mask = np.arange(TK) < np.array([[4], [7]])
    block = randomised(TransformerDecoderBlock(H, HIDDEN), (B, T, D), (B, TK, DCONTEXT))
    output, found = block(x, context, context_mask=mask, return_attention_scores=True)
    x = x.astype("float64")
    normed = norm(block.self_norm, x)
    attended, own = attention(block.self_attention, normed, normed, np.tri(T, dtype=bool), softmax)
    x = x + attended
    attended, cross = attention(
        block.cross_attention, norm(block.cross_norm, x), context, mask[:, None], softmax
    )
    np.testing.assert_allclose(array(output), feed_forward(block, x + attended), rtol=1e-4, atol=1e-4)
    for weights, expected in zip(found, (own, cross), strict=True):
        np.testing.assert_allclose(array(weights), expected, atol=1e-5)


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("steps", [[1] * T, [3, 1, 1]])
def test_a_decoder_block_step_by_step_is_the_whole(rotary, steps):
    x, context = inputs()
    mask = np.arange(TK) < np.array([[4], [7]])
    block = TransformerDecoderBlock(H, HIDDEN, rotary=rotary)
    block = randomised(block, (B, T, D), (B, TK, DCONTEXT))
    expected, (own, cross) = block(x, context, context_mask=mask, return_attention_scores=True)
    cache, context_cache, start = block.init_cache(B, T + 2), block.cache_context(context, mask), 0
    for step in steps:
        now = slice(start, start + step)
        output, found, cache = block(
            x[:, now], cache=cache, context_cache=context_cache, return_attention_scores=True
        )
        np.testing.assert_allclose(array(output), array(expected)[:, now], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(array(found[0])[..., :T], array(own)[:, :, now], atol=1e-5)
        np.testing.assert_allclose(array(found[1]), array(cross)[:, :, now], atol=1e-5)
        start += step


def test_a_cache_comes_back_without_the_scores_too():
    x, context = inputs()
    block = randomised(TransformerDecoderBlock(H, HIDDEN), (B, T, D), (B, TK, DCONTEXT))
    output, cache = block(x, context, cache=block.init_cache(B, T))
    np.testing.assert_allclose(array(output), array(block(x, context)), rtol=1e-5, atol=1e-4)
    assert set(cache) == {"key", "value", "mask", "length"}


def test_rotary_tells_positions_apart():
    x = np.repeat(inputs()[0][:, :1], T, axis=1)  # the same token at every position
    for rotary in (False, True):
        _, weights = TransformerEncoderBlock(H, HIDDEN, rotary=rotary)(x, return_attention_scores=True)
        assert (np.ptp(array(weights)) > 1e-4) == rotary


def test_the_parts_of_a_block_drop_different_places():
    x = np.zeros((B, T, 64), "float32")
    block = TransformerEncoderBlock(H + 1, HIDDEN, dropout=0.5, seed=3)
    block.build(x.shape)
    for dense in (block.self_attention.output_dense, block.output_dense):
        dense.kernel.assign(ops.zeros(dense.kernel.shape))
        dense.bias.assign(ops.ones(dense.bias.shape))  # each part adds 1 / (1 - 0.5) where it is kept
    kept = array(block(x, training=True))
    assert set(np.unique(kept)) == {0, 2, 4}
    assert (kept == 2).mean() == pytest.approx(0.5, abs=0.1)


def test_an_activation_by_name():
    x, _ = inputs()
    block = TransformerEncoderBlock(H, HIDDEN, activation="gelu")
    again = TransformerEncoderBlock.from_config(block.get_config())
    assert again.activation is keras.activations.gelu
    other = TransformerEncoderBlock(H, HIDDEN)
    block(x), other(x)
    other.set_weights(block.get_weights())
    assert np.abs(array(block(x)) - array(other(x))).max() > 1e-3


@pytest.mark.parametrize("block", [TransformerEncoderBlock, TransformerDecoderBlock])
@pytest.mark.parametrize(("sizes", "message"), [((0, 8), "num_heads is 0"), ((3, -1), "hidden_dim is -1")])
def test_sizes_are_positive(block, sizes, message):
    with pytest.raises(ValueError, match=message):
        block(*sizes)


@pytest.mark.parametrize("block", [TransformerEncoderBlock, TransformerDecoderBlock])
def test_heads_that_do_not_divide_the_width(block):
    with pytest.raises(ValueError, match="4 heads do not divide the width 6"):
        block(4, HIDDEN)(*inputs()[: 1 if block is TransformerEncoderBlock else 2])
