"""Multi-head attention from PyTorch and back, with the same outputs."""

import inspect

import numpy as np

from keras_attention.layers.base import check_built
from keras_attention.layers.efficient import EfficientAttention


def from_torch(layer_class, module, **options):
    """The Keras layer that computes what a `torch.nn.MultiheadAttention` does.

    PyTorch keeps W_q, W_k, W_v as (E, in), of which head h has the rows h · E/H to (h + 1) · E/H, and W_o as
    (E, E); Keras keeps them as (in, H, E/H) and (H, E/H, E).

    Raises:
        ValueError: the module adds a bias or zeros as a key, which Keras layers do not.
    """
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError("The module has add_bias_kv or add_zero_attn, of which there is no equal here.")
    heads, width = module.num_heads, module.embed_dim
    use_bias = module.in_proj_bias is not None
    layer = layer_class(
        heads, width // heads, dropout=module.dropout, use_bias=use_bias, output_shape=width, **options
    )
    shapes = [(None, None, w) for w in (width, module.vdim, module.kdim)]  # of query, value, key
    taken = len(inspect.signature(layer_class.build).parameters) - 1
    if any(shape != shapes[taken - 1] for shape in shapes[taken:]):
        raise ValueError(
            f"{layer_class.__name__} has too few inputs for a query of {width}, keys of {module.kdim} and "
            f"values of {module.vdim}: use MultiHeadAttention.from_torch."
        )
    layer.build(*shapes[:taken])
    if module.in_proj_weight is not None:
        kernels = np.split(_array(module.in_proj_weight), 3)
    else:
        kernels = [_array(x) for x in (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)]
    kernels = [kernel.T.reshape(-1, heads, width // heads) for kernel in kernels]  # (in, H, E / H)
    kernels.append(_array(module.out_proj.weight).T.reshape(heads, width // heads, width))  # (H, E / H, E)
    biases = []
    if use_bias:
        biases = [*_array(module.in_proj_bias).reshape(3, heads, -1), _array(module.out_proj.bias)]
    for i, dense in enumerate(layer.projections):
        dense.set_weights([kernels[i], *biases[i : i + 1]])
    return layer


def to_torch(layer, **options):
    """The `torch.nn.MultiheadAttention` that computes what a Keras layer does, batch first.

    Raises:
        ValueError: the layer has what PyTorch's module lacks, or is not built.
    """
    check_built(layer)
    if isinstance(layer, EfficientAttention):
        raise ValueError(f"PyTorch's MultiheadAttention does not attend as {type(layer).__name__} does.")
    import torch

    heads, width = layer.num_heads, layer.num_heads * layer.key_dim
    widths = [dense.kernel.shape[0] for dense in layer.projections[:3]]
    if layer.num_key_value_heads != heads or layer.rotary:
        raise ValueError("PyTorch's MultiheadAttention has neither num_key_value_heads nor rotary.")
    if (
        layer.value_dim != layer.key_dim
        or widths[0] != width
        or layer.output_dense.kernel.shape[2:] != (width,)
    ):
        output = tuple(layer.output_dense.kernel.shape[2:])
        raise ValueError(
            "PyTorch's MultiheadAttention has one width for its query, its heads and its output, but these "
            f"are {widths[0]}, {heads} × {layer.key_dim} and {layer.value_dim}, and {output}."
        )
    module = torch.nn.MultiheadAttention(
        width,
        heads,
        layer.dropout,
        layer.use_bias,
        kdim=widths[1],
        vdim=widths[2],
        batch_first=True,
        **options,
    )
    kernels = [_array(dense.kernel) for dense in layer.projections]
    state = {"out_proj.weight": kernels[3].reshape(width, width).T}
    projections = [kernel.reshape(-1, width).T for kernel in kernels[:3]]  # (E, in)
    if module.in_proj_weight is not None:
        state["in_proj_weight"] = np.concatenate(projections)
    else:
        names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        state |= dict(zip(names, projections, strict=True))
    if layer.use_bias:
        biases = [_array(dense.bias) for dense in layer.projections]
        state["in_proj_bias"] = np.concatenate([bias.reshape(-1) for bias in biases[:3]])
        state["out_proj.bias"] = biases[3]
    module.load_state_dict({name: torch.tensor(np.ascontiguousarray(x)) for name, x in state.items()})
    return module


def _array(x):
    """A PyTorch parameter or a Keras variable as a NumPy array."""
    return np.asarray(x.detach().cpu() if hasattr(x, "detach") else x)
