"""What holds for every layer, and is not repeated in the layers' own tests."""

import math
import os
from pathlib import Path

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.layers import (
    AttentionPooling,
    BahdanauAttention,
    BigBirdAttention,
    CrossAttention,
    LinearAttention,
    LongformerAttention,
    LuongAttention,
    MultiHeadAttention,
    PerformerAttention,
    ReformerAttention,
    ScaledDotProductAttention,
    SelfAttention,
    TransformerDecoderBlock,
    TransformerEncoderBlock,
)

B, TQ, TK, WIDTH = 2, 5, 7, 6


@keras.saving.register_keras_serializable(package="test")
class DecoderBlock(TransformerDecoderBlock):
    """A decoder's block as a layer of two sides: its weights are those of the cross-attention."""

    def call(
        self, query, context, query_mask=None, context_mask=None, return_attention_scores=False, training=None
    ):
        output, (_, weights) = super().call(query, context, query_mask, context_mask, True, training)
        return (output, weights) if return_attention_scores else output

    def compute_output_spec(self, query, context, *masks, return_attention_scores=False, **options):
        output, (_, weights) = super().compute_output_spec(query, context, return_attention_scores=True)
        return (output, weights) if return_attention_scores else output


TWO_SIDED = {  # layer(query, value)
    "scaled dot product": lambda **kw: ScaledDotProductAttention(**kw),
    "multi-head": lambda **kw: MultiHeadAttention(3, 4, value_dim=8, bias_initializer="normal", **kw),
    "grouped queries": lambda **kw: MultiHeadAttention(4, 5, num_key_value_heads=2, rotary=False, **kw),
    "rotary": lambda **kw: MultiHeadAttention(3, 4, rotary=True, output_shape=9, **kw),
    "cross": lambda **kw: CrossAttention(3, 4, **kw),
    "bahdanau": lambda **kw: BahdanauAttention(8, **kw),
    "luong dot": lambda **kw: LuongAttention("dot", **kw),
    "luong general": lambda **kw: LuongAttention("general", **kw),
    "luong concat": lambda **kw: LuongAttention("concat", units=8, **kw),
    "decoder block": lambda **kw: DecoderBlock(3, 8, **kw),
}
ONE_SIDED = {  # layer(inputs)
    "self": lambda **kw: SelfAttention(3, 4, bias_initializer="normal", **kw),
    "encoder block": lambda **kw: TransformerEncoderBlock(3, 8, **kw),
    "pooling": lambda **kw: AttentionPooling(**kw),
    "pooling with units and heads": lambda **kw: AttentionPooling(units=8, num_heads=3, **kw),
}
EFFICIENT = {  # layer(inputs), without attention_mask and attention_bias
    "longformer": lambda **kw: LongformerAttention(3, 4, window=2, global_tokens=[1], **kw),
    "longformer, own projections": lambda **kw: LongformerAttention(
        4, 6, window=1, global_tokens=2, global_projections=True, num_key_value_heads=2, **kw
    ),
    "big bird": lambda seed=1, **kw: BigBirdAttention(3, 4, 2, 1, seed=seed, **kw),
    "linear": lambda **kw: LinearAttention(3, 4, bias_initializer="normal", **kw),
    "linear, softplus": lambda **kw: LinearAttention(
        4, 5, num_key_value_heads=2, feature_map=keras.activations.softplus, **kw
    ),
    "reformer": lambda seed=1, **kw: ReformerAttention(3, 4, chunk_size=8, seed=seed, **kw),
    "performer": lambda seed=1, **kw: PerformerAttention(3, 4, num_features=7, seed=seed, **kw),
}
ONE_SIDED |= EFFICIENT
LAYERS = TWO_SIDED | ONE_SIDED
SEQUENCES = {name: make for name, make in LAYERS.items() if "pooling" not in name}
every_layer = pytest.mark.parametrize("name", LAYERS)
every_sequence_layer = pytest.mark.parametrize("name", SEQUENCES)
every_layer_with_scores = pytest.mark.parametrize(
    "name", [name for name in SEQUENCES if name not in EFFICIENT and name != "decoder block"]
)


def inputs_of(name, seed=0, batch=B, queries=TQ, keys=TK):
    """(query, value) or (inputs,)."""
    rng = np.random.default_rng(seed)
    lengths = (keys,) if name in ONE_SIDED else (queries, keys)
    return [rng.normal(size=(batch, length, WIDTH)).astype("float32") for length in lengths]


def mask_argument(name):
    """The argument that hides padding among the keys."""
    return dict.fromkeys(("cross", "decoder block"), "context_mask").get(
        name, "mask" if name in ONE_SIDED else "value_mask"
    )


def array(tensor):
    return ops.convert_to_numpy(ops.cast(tensor, "float32"))


def padded(name, lengths):
    return {mask_argument(name): np.arange(TK) < np.array(lengths)[:, None]}


@every_layer
def test_asking_for_the_scores_changes_nothing(name):
    layer, inputs = LAYERS[name](), inputs_of(name)
    for masks in ({}, padded(name, [4, 0])):
        output, _ = layer(*inputs, return_attention_scores=True, **masks)
        np.testing.assert_array_equal(array(layer(*inputs, **masks)), array(output))


@every_sequence_layer
def test_dropout_does_nothing_at_inference(name):
    plain, dropped = LAYERS[name](), LAYERS[name](dropout=0.5)
    inputs = inputs_of(name)
    for layer in (plain, dropped):
        layer(*inputs)
    dropped.set_weights(plain.get_weights())
    masks = padded(name, [4, 0])
    np.testing.assert_array_equal(array(plain(*inputs, **masks)), array(dropped(*inputs, **masks)))


@every_sequence_layer
def test_dropout_is_seeded_and_leaves_the_returned_weights_alone(name):
    inputs = inputs_of(name)
    outputs = []
    for seed in (1, 1, 2):
        keras.utils.set_random_seed(0)
        layer = SEQUENCES[name](dropout=0.5, seed=seed)
        output, weights = layer(*inputs, return_attention_scores=True, training=True)
        np.testing.assert_allclose(array(weights).sum(-1), 1, atol=1e-6)
        outputs.append(array(output))
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert (outputs[0] != outputs[2]).any()


# with rotary, padding moves the last key, and the queries with it
@pytest.mark.parametrize("name", [name for name in LAYERS if name != "rotary"])
def test_padding_may_be_left_out(name):
    layer, inputs = LAYERS[name](), inputs_of(name)
    output = array(layer(*inputs, **padded(name, [4, 4])))
    inputs[-1] = inputs[-1][:, :4]
    expected = array(layer(*inputs))
    if name in ONE_SIDED and name in SEQUENCES:
        output = output[:, :4]
    np.testing.assert_allclose(output, expected, atol=1e-6)


@every_layer
def test_what_is_hidden_never_reaches_output_or_gradients(name, gradients):
    garbage = np.resize(np.float32([math.nan, math.inf, -math.inf, 3e38]), (TK, 1))
    layer, inputs = LAYERS[name](), inputs_of(name)
    masks = padded(name, [4, 0])
    results = []
    for spoil in (False, True):
        if spoil:
            inputs[-1] = np.where(masks[mask_argument(name)][..., None], inputs[-1], garbage)
        layer(*[np.zeros_like(x) for x in inputs])
        found = gradients(lambda *x: ops.sum(layer(*x, **masks) ** 2), inputs, layer.trainable_weights)
        assert all(gradient.any() for gradient in found[-len(inputs) :])
        results.append([array(layer(*inputs, **masks)), *found])
    for spoilt, clean in zip(results[1], results[0], strict=True):
        assert np.isfinite(spoilt).all()
        np.testing.assert_array_equal(spoilt, clean)


@every_layer_with_scores
def test_what_an_explicit_mask_hides_never_reaches_output_or_gradients(name, gradients):
    layer, inputs = SEQUENCES[name](), inputs_of(name)
    mask = np.broadcast_to(np.arange(TK) < 4, (1, inputs[0].shape[1], TK))
    results = []
    for spoil in (False, True):
        if spoil:
            inputs[-1][:, 4:] = np.nan
        layer(*[np.zeros_like(x) for x in inputs])

        def attend(layer=layer, inputs=inputs):
            return layer(*inputs, attention_mask=mask)[:, :4]

        found = gradients(lambda attend=attend: ops.sum(attend() ** 2), [], layer.trainable_weights)
        results.append([array(attend()), *found])
    if name in ("self", "encoder block"):  # there the keys are queries too, and as such they are visible
        results = [result[:1] for result in results]
    for spoilt, clean in zip(results[1], results[0], strict=True):
        assert np.isfinite(spoilt).all()
        np.testing.assert_array_equal(spoilt, clean)


@every_layer_with_scores
@pytest.mark.parametrize("given", ["bias", "mask beside padding"])
def test_what_else_is_hidden_spoils_no_gradient(name, given, gradients):
    """By a bias of −inf; or where a mask leaves a key to the queries that are padding alone."""
    layer, inputs = SEQUENCES[name](), inputs_of(name)
    queries, hidden = inputs[0].shape[1], np.arange(TK) >= 4
    if given == "bias":
        options = {"attention_bias": np.where(hidden, -np.inf, 0).astype("float32")[None]}
    else:
        padding = np.arange(queries) >= 4
        mask = "mask" if name in ONE_SIDED else "query_mask"
        options = {mask: np.tile(~padding, (B, 1)), "attention_mask": (padding[:, None] == hidden)[None]}
    results = []
    for spoil in (False, True):
        if spoil:
            inputs[-1][:, hidden] = np.nan
        layer(*[np.zeros_like(x) for x in inputs])

        def loss(layer=layer, inputs=inputs):
            return ops.sum(layer(*inputs, **options)[:, :4] ** 2)

        results.append(gradients(loss, [], layer.trainable_weights))
    if given == "bias" and name in ("self", "encoder block"):  # there the keys are queries too
        return
    for spoilt, clean in zip(results[1], results[0], strict=True):
        assert np.isfinite(spoilt).all()
        np.testing.assert_array_equal(spoilt, clean)


@pytest.mark.parametrize("name", ["multi-head", "bahdanau"])
@pytest.mark.parametrize("given", ["causal", "all keys are padding"])
def test_a_query_that_sees_nothing_spoils_no_gradient(name, given, gradients):
    layer = TWO_SIDED[name]()
    query, value = inputs_of(name, queries=TK, keys=TQ)
    options, blind = {"use_causal_mask": True}, np.s_[:, : TK - TQ]
    if given != "causal":
        options, blind = {"value_mask": np.arange(TQ) < np.array([[3], [0]])}, np.s_[1]
    layer(query, value)
    query[blind] = np.nan
    found = gradients(lambda: ops.sum(layer(query, value, **options) ** 2), [], layer.trainable_weights)
    assert all(np.isfinite(gradient).all() for gradient in found)


@every_layer_with_scores
@pytest.mark.parametrize("kind", ["scalar", "keys alone", "heads first", "booleans"])
def test_a_bias_that_does_not_fit_is_an_error(name, kind):
    inputs = inputs_of(name)
    shape = {"scalar": (), "keys alone": (TK,), "heads first": (7, inputs[0].shape[1], TK)}.get(
        kind, (1, 1, TK)
    )
    with pytest.raises(ValueError, match="attention_bias h"):
        SEQUENCES[name]()(
            *inputs, attention_bias=np.zeros(shape, "bool" if kind == "booleans" else "float32")
        )


@every_layer
def test_all_padding_gives_zero_weights(name):
    layer, inputs = LAYERS[name](), inputs_of(name)
    _, weights = layer(*inputs, return_attention_scores=True, **padded(name, [4, 0]))
    weights = array(weights)
    assert not weights[1].any()
    assert not weights[..., 4:].any()
    assert weights[0].any()


@pytest.mark.parametrize("name", [name for name in SEQUENCES if name != "decoder block"])
def test_causal_leaks_nothing(name):
    layer = SEQUENCES[name]()
    inputs, others = inputs_of(name), inputs_of(name, seed=1)
    expected, weights = layer(*inputs, use_causal_mask=True, return_attention_scores=True)
    queries = expected.shape[1]
    last = 3 + queries - TK  # the last query that sees key 3, when the last query sees the last key
    assert not np.triu(array(weights), 1 + TK - queries).any()
    for x, other in zip(inputs, others, strict=True):
        x[:, x.shape[1] - (TK - 4) :] = other[:, x.shape[1] - (TK - 4) :]
    output = array(layer(*inputs, use_causal_mask=True))
    np.testing.assert_array_equal(output[:, : last + 1], array(expected)[:, : last + 1])
    assert (output[:, last + 1 :] != array(expected)[:, last + 1 :]).any()


@every_layer_with_scores
def test_a_bias_is_added_to_the_scores(name):
    layer, inputs = SEQUENCES[name](), inputs_of(name)
    bias = np.random.default_rng(3).normal(size=(B, inputs[0].shape[1], TK)).astype("float32")
    _, before = layer(*inputs, return_attention_scores=True)
    _, after = layer(*inputs, attention_bias=bias, return_attention_scores=True)
    powers = array(before) * np.exp(bias[:, None] if len(before.shape) == 4 else bias)
    np.testing.assert_allclose(array(after), powers / powers.sum(-1, keepdims=True), atol=1e-6)


@every_layer_with_scores
def test_a_float_mask_is_an_error_that_names_the_bias(name):
    inputs = inputs_of(name)
    mask = np.triu(np.full((1, inputs[0].shape[1], TK), -1e9), 1)
    with pytest.raises(ValueError, match="`attention_bias`"):
        SEQUENCES[name]()(*inputs, attention_mask=mask)


@every_layer_with_scores
def test_a_mask_of_rank_2_is_an_error_even_where_both_readings_fit(name):
    inputs = inputs_of(name, batch=3, queries=3, keys=3)
    with pytest.raises(ValueError, match=r"\(B, Tk\) or as \(Tq, Tk\)"):
        SEQUENCES[name]()(*inputs, attention_mask=np.ones((3, 3), bool))


@every_layer
@pytest.mark.parametrize(("dtype", "tolerance"), [("mixed_float16", 1e-2), ("mixed_bfloat16", 1e-1)])
def test_mixed_precision(name, dtype, tolerance):
    inputs = inputs_of(name)
    exact, half = LAYERS[name](), LAYERS[name](dtype=dtype)
    masks = padded(name, [4, 0])
    expected = exact(*inputs, return_attention_scores=True, **masks)
    half(*inputs)
    half.set_weights(exact.get_weights())
    assert {weight.dtype for weight in half.weights} <= {"float32"}
    for result, reference in zip(half(*inputs, return_attention_scores=True, **masks), expected, strict=True):
        assert keras.backend.standardize_dtype(result.dtype) == dtype.removeprefix("mixed_")
        np.testing.assert_allclose(array(result), array(reference), atol=tolerance)


@every_sequence_layer
@pytest.mark.parametrize("dtype", ["mixed_float16", "bfloat16"])
def test_dropout_in_half_precision(name, dtype):
    layer, inputs = SEQUENCES[name](dtype=dtype, dropout=0.5), inputs_of(name)
    output = layer(*inputs, training=True)
    assert keras.backend.standardize_dtype(output.dtype) == dtype.removeprefix("mixed_")
    assert np.isfinite(array(output)).all()


@every_layer
@pytest.mark.parametrize(("batch", "queries", "keys"), [(0, TQ, TK), (B, 0, TK), (B, TQ, 0)])
def test_empty_axes(name, batch, queries, keys):
    layer = LAYERS[name]()
    layer(*inputs_of(name))
    results = layer(*inputs_of(name, 0, batch, queries, keys), return_attention_scores=True)
    specs = layer.compute_output_spec(
        *[keras.KerasTensor(x.shape) for x in inputs_of(name, 0, batch, queries, keys)],
        return_attention_scores=True,
    )
    for result, spec in zip(results, specs, strict=True):
        assert result.shape == spec.shape
        assert np.isfinite(array(result)).all()


@every_layer
def test_symbolic_shapes_are_the_real_ones(name):
    layer, inputs = LAYERS[name](), inputs_of(name)
    real = layer(*inputs, return_attention_scores=True)
    fixed = layer(*[keras.Input(x.shape[1:], batch_size=B) for x in inputs], return_attention_scores=True)
    free = layer(*[keras.Input((None, WIDTH)) for x in inputs], return_attention_scores=True)
    for i in range(2):
        assert fixed[i].shape == real[i].shape
        assert len(free[i].shape) == len(real[i].shape)
        assert all(a in (None, b) for a, b in zip(free[i].shape, real[i].shape, strict=True))
        assert free[i].shape[0] is None
    assert layer.compute_output_shape(*[x.shape for x in inputs]) == real[0].shape
    assert layer(*[keras.Input((None, WIDTH)) for x in inputs]).shape == free[0].shape


def model_of(name, **call):
    """A model of dynamic lengths whose masks come from an embedding."""
    count = 1 if name in ONE_SIDED else 2
    ids = [keras.Input((None,), dtype="int32") for _ in range(count)]
    embedding = keras.layers.Embedding(11, WIDTH, mask_zero=True)
    return keras.Model(ids, LAYERS[name]()(*map(embedding, ids), return_attention_scores=True, **call))


@every_layer
def test_keras_file_round_trip(name, tmp_path):
    rng = np.random.default_rng(0)
    ids = [rng.integers(0, 11, (B, length)) for length in ((TK,) if name in ONE_SIDED else (TQ, TK))]
    model = model_of(name)
    expected = model(ids)
    model.save(tmp_path / "model.keras")
    results = keras.saving.load_model(tmp_path / "model.keras")(ids)
    for result, reference in zip(results, expected, strict=True):
        np.testing.assert_array_equal(array(result), array(reference))


@every_layer
def test_the_config_makes_the_same_layer(name):
    layer = LAYERS[name](name="attention", trainable=False)
    config = layer.get_config()
    assert type(layer).from_config(config).get_config() == config
    assert (
        keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer)).get_config()
        == config
    )


@every_layer
def test_masks_come_in_from_the_inputs_and_stay_on_them(name):
    ids = [
        np.array([[3, 1, 4, 0, 0], [1, 5, 0, 0, 0]]),
        np.array([[2, 7, 1, 8, 0, 0, 0], [9, 0, 0, 0, 0, 0, 0]]),
    ]
    ids = ids[1:] if name in ONE_SIDED else ids
    embedding = keras.layers.Embedding(11, WIDTH, mask_zero=True)
    inputs = [embedding(ops.convert_to_tensor(x)) for x in ids]
    for _ in range(2):  # a second layer sees what the first saw
        layer = LAYERS[name]()
        output, weights = layer(*inputs, return_attention_scores=True)
        hidden = np.broadcast_to(
            (ids[-1] == 0)[(slice(None),) + (None,) * (len(weights.shape) - 2)], weights.shape
        )
        assert not array(weights)[hidden].any()
        for tensor, x in zip(inputs, ids, strict=True):
            np.testing.assert_array_equal(tensor._keras_mask, x != 0)
    if "pooling" in name:
        assert getattr(output, "_keras_mask", None) is None
    else:
        np.testing.assert_array_equal(output._keras_mask, ids[0] != 0)
        padded_queries = array(weights).sum(-1)
        padded_queries = padded_queries if padded_queries.ndim == 2 else padded_queries[:, 0]
        np.testing.assert_allclose(padded_queries, ids[0] != 0, atol=1e-6)


@every_sequence_layer
def test_an_explicit_mask_wins_over_the_inputs_and_goes_on(name):
    inputs = [ops.convert_to_tensor(x) for x in inputs_of(name)]
    for x in inputs:
        x._keras_mask = ops.ones(x.shape[:2], dtype="bool")
    queries = inputs[0].shape[1]
    mask = np.arange(queries) < np.array([[2], [3]])
    argument = "mask" if name in ONE_SIDED else "query_mask"
    output, weights = SEQUENCES[name]()(*inputs, return_attention_scores=True, **{argument: mask})
    visible = array(weights).sum(-1) > 0
    np.testing.assert_array_equal(visible if visible.ndim == 2 else visible[:, 0], mask)
    np.testing.assert_array_equal(output._keras_mask, mask)


@pytest.mark.parametrize(
    "name",
    [
        "grouped queries",
        "self",
        "bahdanau",
        "luong concat",
        "encoder block",
        "decoder block",
        "pooling with units and heads",
        *EFFICIENT,
    ],
)
def test_jit_changes_nothing(name, jit):
    layer, inputs = LAYERS[name](), inputs_of(name)
    layer(*inputs)
    masks = padded(name, [4, 0])
    if name not in ("pooling with units and heads", "decoder block"):
        masks["use_causal_mask"] = True
    compiled = jit(lambda *x: layer(*x, return_attention_scores=True, **masks))
    for result, reference in zip(
        compiled(*inputs), layer(*inputs, return_attention_scores=True, **masks), strict=True
    ):
        np.testing.assert_allclose(array(result), array(reference), atol=1e-6)


@every_layer
def test_fits_in_a_model(name):
    model = model_of(name)
    model = keras.Model(model.inputs, keras.layers.Dense(2)(model.outputs[0]))
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    ids = [rng.integers(1, 11, (B, length)) for length in ((TK,) if name in ONE_SIDED else (TQ, TK))]
    history = model.fit(ids, np.ones(model(ids).shape), epochs=2, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]


@every_layer
def test_every_backend_computes_the_same(name):
    """Each process leaves its outputs in $KERAS_ATTENTION_OUTPUTS, and compares with those that it finds."""
    if "KERAS_ATTENTION_OUTPUTS" not in os.environ:
        pytest.skip("KERAS_ATTENTION_OUTPUTS names no folder for the outputs of the backends")
    layer, inputs = LAYERS[name](), inputs_of(name)
    layer(*inputs)
    rng = np.random.default_rng(1)
    for weight in layer.trainable_weights:
        weight.assign(rng.normal(0, 0.5, tuple(weight.shape)))
    options = {"use_causal_mask": True} if name in SEQUENCES and name != "decoder block" else {}
    output = array(layer(*inputs, **padded(name, [4, 6]), **options))
    folder = Path(os.environ["KERAS_ATTENTION_OUTPUTS"]) / name
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{keras.backend.backend()}.npy", output)
    for other in folder.glob("*.npy"):
        np.testing.assert_allclose(output, np.load(other), atol=1e-5, err_msg=f"{other.stem} differs")
