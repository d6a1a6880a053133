"""The precision that a model is given, or that the program has, reaches its layers or is refused."""

import keras
import numpy as np
import pytest

from keras_attention.data import Vocabulary
from keras_attention.models import AttentionClassifier, load_model, train

MIXED = "mixed_bfloat16"


@pytest.fixture
def mixed_program():
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(MIXED)
    yield
    keras.config.set_dtype_policy(before)


def layers_of(model):
    return [layer for layer in model._flatten_layers() if layer is not model]


def test_a_transformer_in_mixed_precision(toy, build_transformer, tmp_path):
    plain, mixed = (build_transformer(seed=1, **options) for options in ({}, {"dtype": MIXED}))
    attentions = [layer for layer in layers_of(mixed) if "attention" in layer.name]
    assert attentions
    assert all(layer.compute_dtype == "bfloat16" for layer in attentions)
    assert {weight.dtype for weight in mixed.trainable_weights} == {"float32"}

    scores = [[t.score for t in model.force(toy.test.source, toy.test.target)] for model in (plain, mixed)]
    np.testing.assert_allclose(scores[1], scores[0], rtol=0.02)
    assert np.any(np.not_equal(*scores))

    out = tmp_path / "mixed.keras"
    history = train(mixed, toy, epochs=12, batch_size=10, learning_rate=0.01, out=out, verbose=0)
    assert history["loss"][-1] < 0.7 * history["loss"][0]
    translations, loaded = mixed.translate(toy.test.source, beam_width=3), load_model(out)
    assert loaded.dtype_policy.name == MIXED
    assert [t.text for t in loaded.translate(toy.test.source, beam_width=3)] == [t.text for t in translations]
    for translation in translations:
        assert translation.attention.dtype == np.float32
        np.testing.assert_allclose(translation.attention.sum(axis=-1), 1, atol=0.02)
    heads = mixed.force(toy.test.source, toy.test.target, all_heads=True)[0].heads
    assert {weights.dtype for weights in heads.values()} == {np.dtype("float32")}


def test_logits_are_in_float32(build_transformer):
    ids = np.array([[4, 5, 6]])
    assert build_transformer(dtype=MIXED)((ids, ids)).dtype == "float32"


def test_the_program_s_precision_is_followed_where_it_can_be(mixed_program, toy, build, build_transformer):
    assert build_transformer().dtype_policy.name == MIXED
    recurrent, classifier = build(), AttentionClassifier(toy_vocabulary(toy), ["a", "b"], 8, 4)
    for model in (recurrent, classifier):
        assert {layer.compute_dtype for layer in layers_of(model)} == {"float32"}
    assert recurrent.translate(toy.test.source)
    assert classifier.predict_text(toy.test.source)
    assert keras.config.dtype_policy().name == MIXED


def test_a_precision_that_a_model_cannot_follow_is_refused(toy, build, build_transformer):
    with pytest.raises(ValueError, match="Seq2SeqTranslator computes in float32, not in mixed_bfloat16"):
        build(dtype=MIXED)
    with pytest.raises(ValueError, match="in float32 or mixed_bfloat16, not in float16"):
        build_transformer(dtype="float16")
    with pytest.raises(ValueError, match="AttentionClassifier computes in float32"):
        AttentionClassifier(toy_vocabulary(toy), ["a", "b"], dtype=MIXED)


def toy_vocabulary(toy):
    return Vocabulary.build(toy.train.source)
