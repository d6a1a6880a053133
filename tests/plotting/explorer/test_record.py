import doctest
from typing import NamedTuple

import numpy as np
import pytest

from keras_attention.plotting import AttentionLayer, AttentionRecord
from keras_attention.plotting.explorer import page
from keras_attention.plotting.explorer import record as module

SOURCE = ["the", "black", "cat", "sleeps", "."]
TARGET = ["le", "chat", "noir", "dort"]


class Translation(NamedTuple):
    text: str
    tokens: list
    attention: np.ndarray
    source_tokens: list
    heads: dict | None = None


class Prediction(NamedTuple):
    text: str
    label: str
    probability: float
    tokens: list
    head_weights: np.ndarray


@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5), (2, 3, 4, 5)])
def test_weights_get_axes_for_moments_and_heads(softmax, shape):
    weights = softmax(*shape)
    layer = AttentionLayer("a", weights, TARGET, SOURCE)
    assert layer.weights.shape == (1,) * (4 - len(shape)) + shape
    np.testing.assert_array_equal(layer.weights.reshape(shape), weights)


def test_a_mask_spreads_over_moments_and_heads(softmax):
    mask = np.random.default_rng(1).random((4, 5)) < 0.7
    layer = AttentionLayer("a", softmax(2, 3, 4, 5), TARGET, SOURCE, mask)
    assert layer.mask.shape == (2, 3, 4, 5)
    assert (layer.mask == mask).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.ones(5)}, r"weights of a have shape \(5,\)"),
        ({"weights": np.ones((0, 4, 5))}, "empty"),
        ({"weights": np.full((5, 5), 0.2)}, "weights have 5 rows but there are 4 target tokens"),
        ({"weights": np.full((4, 6), 0.2)}, "weights have 6 columns but there are 5 source tokens"),
        ({"weights": -np.eye(4, 5)}, "negative .*softmax"),
        ({"mask": np.ones((4, 5))}, "mask must be boolean"),
        ({"gold": np.ones((5, 4), bool)}, r"gold has shape \(5, 4\)"),
        ({"keys": "words"}, "is the string 'words'"),
    ],
)
def test_what_does_not_fit_is_an_error(change, message):
    good = {"name": "a", "weights": np.full((4, 5), 0.2), "queries": TARGET, "keys": SOURCE}
    with pytest.raises(ValueError, match=message):
        AttentionLayer(**{**good, **change})


def test_every_layer_needs_all_moments(softmax):
    layer = AttentionLayer("a", softmax(2, 3, 4, 5), TARGET, SOURCE)
    with pytest.raises(ValueError, match="3 moments, but weights of a at 2"):
        AttentionRecord([layer], moments=["0", "1", "2"])
    with pytest.raises(ValueError, match="at least one layer"):
        AttentionRecord([])


def test_a_translation_is_one_layer(softmax):
    weights, gold = softmax(4, 5), np.eye(4, 5, dtype=bool)
    record = AttentionRecord.of(Translation("le chat noir dort", TARGET, weights, SOURCE), gold)
    (layer,) = record.layers
    assert record.title == "le chat noir dort"
    assert (layer.queries, layer.keys) == (TARGET, SOURCE)
    np.testing.assert_array_equal(layer.weights[0, 0], weights)
    np.testing.assert_array_equal(layer.gold, gold)


def test_a_translation_of_a_transformer_has_all_its_layers(softmax):
    causal = np.tri(4, dtype=bool)
    heads = {
        "encoder": softmax(2, 3, 5, 5),
        "decoder": softmax(2, 3, 4, 4, mask=causal),
        "cross": softmax(2, 3, 4, 5),
    }
    gold = np.eye(4, 5, dtype=bool)
    record = AttentionRecord.of(Translation("", TARGET, heads["cross"][1, 2], SOURCE, heads), gold)
    names = ["alignment", "encoder 1", "encoder 2", "decoder 1", "decoder 2", "cross 1", "cross 2"]
    assert [layer.name for layer in record.layers] == names
    _, _, encoder, _, decoder, _, cross = record.layers
    assert (encoder.queries, encoder.keys) == (SOURCE, SOURCE)
    assert (decoder.queries, decoder.keys) == (TARGET, ["START", "le", "chat", "noir"])
    assert (cross.queries, cross.keys) == (TARGET, SOURCE)
    np.testing.assert_array_equal(decoder.mask[0], np.broadcast_to(causal, (3, 4, 4)))
    np.testing.assert_array_equal(cross.weights[0], heads["cross"][1])
    assert [layer.gold is not None for layer in record.layers] == [True] + 4 * [False] + 2 * [True]


def test_a_prediction_is_one_query(softmax):
    weights = softmax(3, 5)
    record = AttentionRecord.of(Prediction("the black cat sleeps.", "calm", 0.912, SOURCE, weights))
    (layer,) = record.layers
    assert record.title == "the black cat sleeps. → calm (0.91)"
    assert (layer.queries, layer.keys) == (["calm"], SOURCE)
    np.testing.assert_array_equal(layer.weights[0, :, 0], weights)


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="A dict holds no attention"):
        AttentionRecord.of({})


def test_scores_tell_their_tokens_by_their_size(softmax):
    scores = {
        "first": softmax(2, 3, 5, 5),
        "second": softmax(2, 3, 4, 4),
        "third": softmax(2, 4, 5),
        "last": softmax(2, 5),
    }
    record = AttentionRecord.from_scores(scores, SOURCE, TARGET, sample=1, gold=np.eye(4, 5, dtype=bool))
    sides = [(layer.name, layer.queries, layer.keys) for layer in record.layers]
    assert sides == [
        ("first", SOURCE, SOURCE),
        ("second", TARGET, TARGET),
        ("third", TARGET, SOURCE),
        ("last", ["pooled"], SOURCE),
    ]
    np.testing.assert_array_equal(record.layers[0].weights[0], scores["first"][1])
    np.testing.assert_array_equal(record.layers[2].weights[0, 0], scores["third"][1])
    assert [layer.gold is not None for layer in record.layers] == [False, False, True, False]


def test_equally_long_sides_are_told_by_names(softmax):
    names = ["Encoder_1/self", "decoder_1/self", "decoder_1/cross"]
    target = [*TARGET, "."]
    scores = {name: softmax(1, 2, 5, 5, seed=i) for i, name in enumerate(names)}
    record = AttentionRecord.from_scores(scores, SOURCE, target)
    sides = [(layer.queries, layer.keys) for layer in record.layers]
    assert sides == [(SOURCE, SOURCE), (target, target), (target, SOURCE)]
    with pytest.raises(
        ValueError, match=r"Which tokens attention joins .*\(5, 5\) and 5 source and 5 target"
    ):
        AttentionRecord.from_scores({"attention": softmax(1, 5, 5)}, SOURCE, target)


def test_padding_of_scores_is_left_out(softmax):
    weights = softmax(2, 3, 6, 9, mask=np.arange(9) < 5)
    (layer,) = AttentionRecord.from_scores({"cross": weights}, SOURCE, TARGET, sample=1).layers
    np.testing.assert_array_equal(layer.weights[0], weights[1, :, :4, :5])


def test_sizes_that_fit_nothing_are_an_error(softmax):
    with pytest.raises(ValueError, match=r"\(3, 5\) and 5 source tokens"):
        AttentionRecord.from_scores({"self": softmax(1, 3, 5)}, SOURCE)


def test_masks_go_to_their_layers(softmax):
    causal = np.tri(5, dtype=bool)
    scores = {"one": softmax(1, 2, 5, 5, mask=causal), "two": softmax(1, 2, 5, 5)}
    one, two = AttentionRecord.from_scores(scores, SOURCE, masks={"one": causal}).layers
    assert (one.mask == causal).all()
    assert two.mask.all()


def test_several_scores_are_moments(softmax):
    frames = [{"a": softmax(1, 3, 5, 5, seed=i)} for i in range(4)]
    record = AttentionRecord.from_scores(frames, SOURCE, moments=[f"epoch {i}" for i in range(4)])
    assert record.moments == ["epoch 0", "epoch 1", "epoch 2", "epoch 3"]
    np.testing.assert_array_equal(record.layers[0].weights[2], frames[2]["a"][0])
    assert AttentionRecord.from_scores(frames, SOURCE).moments == ["1", "2", "3", "4"]


@pytest.mark.parametrize("tested", [module, page])
def test_the_examples_of_the_docstrings_run(tested):
    result = doctest.testmod(tested)
    assert result.attempted > 0
    assert result.failed == 0
