"""Weights of torch.nn.MultiheadAttention, there and back."""

import numpy as np
import pytest
from keras import ops

from keras_attention.layers import CrossAttention, LongformerAttention, MultiHeadAttention, SelfAttention

torch = pytest.importorskip("torch")

B, TQ, TK, WIDTH, KDIM, VDIM, H = 2, 5, 7, 12, 9, 10, 3


def inputs(*widths):
    rng = np.random.default_rng(0)
    lengths = (TQ, TK, TK)
    return [
        rng.normal(size=(B, length, width)).astype("float32")
        for length, width in zip(lengths, widths, strict=False)
    ]


def module_of(**options):
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(WIDTH, H, batch_first=True, **options).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    return module


def outputs_of(module, query, key, value):
    with torch.no_grad():
        arrays = [torch.tensor(x) for x in (query, key, value)]
        return [x.numpy() for x in module(*arrays, average_attn_weights=False)]


def assert_equal(layer, module, query, value, key):
    results = layer(query, value, key, return_attention_scores=True)
    for result, expected in zip(results, outputs_of(module, query, key, value), strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(result), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("kdim", "vdim"), [(WIDTH, WIDTH), (KDIM, VDIM)])
def test_from_torch_and_back(bias, kdim, vdim):
    module = module_of(bias=bias, kdim=kdim, vdim=vdim, dropout=0.25)
    layer = MultiHeadAttention.from_torch(module, name="imported")
    assert (layer.name, layer.dropout) == ("imported", 0.25)
    query, value, key = inputs(WIDTH, vdim, kdim)
    assert_equal(layer, module, query, value, key)

    back = layer.to_torch()
    assert back.dropout == 0.25
    for (name, parameter), other in zip(module.named_parameters(), back.parameters(), strict=True):
        np.testing.assert_array_equal(parameter.detach().numpy(), other.detach().numpy(), err_msg=name)


def test_from_torch_for_self_and_cross_attention():
    module = module_of()
    query, other = inputs(WIDTH, WIDTH)
    expected, _ = outputs_of(module, other, other, other)
    output = SelfAttention.from_torch(module)(other)
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected, rtol=1e-4, atol=1e-4)
    module = module_of(kdim=VDIM, vdim=VDIM)
    query, context = inputs(WIDTH, VDIM)
    expected, _ = outputs_of(module, query, context, context)
    output = CrossAttention.from_torch(module)(query, context)
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layer_class", [SelfAttention, CrossAttention])
def test_a_layer_with_too_few_inputs(layer_class):
    with pytest.raises(ValueError, match=r"use MultiHeadAttention\.from_torch"):
        layer_class.from_torch(module_of(kdim=KDIM, vdim=VDIM))


@pytest.mark.parametrize("option", ["add_bias_kv", "add_zero_attn"])
def test_what_keras_layers_lack(option):
    with pytest.raises(ValueError, match=option):
        MultiHeadAttention.from_torch(module_of(**{option: True}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_key_value_heads": 1}, "num_key_value_heads"),
        ({"rotary": True}, "rotary"),
        ({"value_dim": 5}, "one width"),
        ({"output_shape": 11}, "one width"),
        ({"num_heads": 2}, "one width"),
    ],
)
def test_what_torch_lacks(options, message):
    layer = MultiHeadAttention(**{"num_heads": H, "key_dim": WIDTH // H} | options)
    query, value = inputs(WIDTH, WIDTH)
    layer(query, value)
    with pytest.raises(ValueError, match=message):
        layer.to_torch()


def test_a_layer_that_attends_otherwise_is_refused():
    layer = LongformerAttention(H, WIDTH // H, window=1)
    layer(inputs(WIDTH)[0])
    with pytest.raises(ValueError, match="does not attend as LongformerAttention does"):
        layer.to_torch()


def test_a_layer_without_weights_is_refused():
    with pytest.raises(ValueError, match="has no weights yet"):
        SelfAttention(H, WIDTH // H).to_torch()
