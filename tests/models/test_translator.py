import random
import re
import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_attention.data import Pairs, Vocabulary
from keras_attention.models import Seq2SeqTranslator
from keras_attention.models.batches import pad
from keras_attention.models.decoder import ATTENTIONS

LONG = " ".join(["the red cat sees a small dog and"] * 4)
SENTENCES = ["the cat sees", "a big red dog likes the bird and", "eats", LONG]


def ids_of(vocabulary, tokens):
    """The ids of tokens, <unk> included."""
    return [next(i for i in range(len(vocabulary)) if vocabulary.id_to_token(i) == t) for t in tokens]


@pytest.fixture(
    scope="module",
    params=[
        "bahdanau gru 1",
        "luong-dot lstm 5",
        "none gru 2",
        "transformer sinusoidal 1",
        "transformer rotary 5",
        "transformer learned 2",
    ],
)
def any_translator(request, wild):
    """Translators of unlike parts, whose outputs are wild, and the width of a beam."""
    attention, cell, beam_width = request.param.split()
    if attention == "transformer":
        translator = wild(2, True, positions=cell, tie_embeddings=cell != "rotary", seed=2)
        translator.alignment_head.assign([1, 2])
        return translator, int(beam_width)
    scale, tied = 2 if attention == "none" else 3, attention != "luong-dot"
    seed = 4 if attention == "luong-dot" else 2
    return wild(scale, attention=attention, cell=cell, tie_embeddings=tied, seed=seed), int(beam_width)


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("size", [15, 314])
def test_at_the_start_every_token_is_as_likely(toy, build, attention, size):
    if size == 15:
        translator = build(attention=attention, embedding_dim=64, units=48)
        pairs = toy.train
    else:
        source = Vocabulary.build([" ".join(f"x{i}" for i in range(170))])
        target = Vocabulary.build([" ".join(f"y{i}" for i in range(310))])
        translator = build(source, target, attention=attention, embedding_dim=32, units=24)
        rng = np.random.default_rng(0)
        texts = [[" ".join(f"{c}{i}" for i in rng.integers(0, 170, 8)) for _ in range(12)] for c in "xy"]
        pairs = Pairs(*texts)
    assert len(translator.target_vocabulary) == size
    ((x, before), y) = next(iter(translator.dataset(pairs, 30)))
    losses = translator.token_losses(x, before, y).numpy()
    assert losses.shape == (np.count_nonzero(y),)
    assert losses.mean() == pytest.approx(np.log(size), rel=0.02)


def test_a_translation_does_not_depend_on_the_batch(any_translator):
    translator, beam_width = any_translator
    together = translator.translate(SENTENCES, beam_width)
    assert len({translation.text for translation in together}) > 2
    backwards = translator.translate(SENTENCES[::-1], beam_width, batch_size=3)[::-1]
    alone = [translator.translate([sentence], beam_width)[0] for sentence in SENTENCES]
    for others in (backwards, alone):
        for one, other in zip(together, others, strict=True):
            assert one.text == other.text
            assert one.tokens == other.tokens
            assert one.score == pytest.approx(other.score, abs=1e-4 * len(one.tokens))
            np.testing.assert_allclose(one.attention, other.attention, atol=1e-5)


def test_the_score_is_the_log_probability_of_the_text(any_translator):
    """Read as known text, by the code that trains, the translation has the score and the attention."""
    translator, beam_width = any_translator
    source, target = translator.source_vocabulary, translator.target_vocabulary
    translations = translator.translate(SENTENCES, beam_width)
    outputs = [ids_of(target, translation.tokens) for translation in translations]
    scores, attention = translator._force(
        pad(source.encode_batch(SENTENCES)),
        pad([[Vocabulary.START, *ids] for ids in outputs]),
        pad([[*ids, Vocabulary.END] for ids in outputs]),
    )
    for translation, ids, score, weights in zip(
        translations, outputs, scores.numpy(), attention.numpy(), strict=True
    ):
        assert translation.text == target.decode(ids)
        assert not {Vocabulary.PAD, Vocabulary.START, Vocabulary.END} & set(ids)
        assert translation.score == pytest.approx(float(score), abs=1e-4 * len(ids))
        rows, columns = translation.attention.shape
        np.testing.assert_allclose(translation.attention, weights[:rows, :columns], atol=1e-5)


@pytest.mark.parametrize("beam_width", [1, 5])
def test_a_trained_translator_scores_what_it_would_read(trained, toy, beam_width):
    translations = trained.translate(toy.train.source, beam_width)
    forced = trained.force(toy.train.source, [translation.text for translation in translations])
    for one, other in zip(translations, forced, strict=True):
        assert one.tokens == other.tokens
        assert one.score == pytest.approx(other.score, abs=1e-4)


def test_attention_has_a_row_a_token_and_a_column_a_source_token(any_translator):
    translator, beam_width = any_translator
    for translation, sentence in zip(translator.translate(SENTENCES, beam_width), SENTENCES, strict=True):
        assert translation.source_tokens == sentence.split()
        assert translation.tokens
        assert translation.attention.shape == (len(translation.tokens), len(translation.source_tokens))
        expected = 0 if translator.options.get("attention") == "none" else 1
        np.testing.assert_allclose(translation.attention.sum(1), expected, atol=1e-5)


def test_force_is_the_cross_entropy_of_the_logits(trained, toy):
    pairs = toy.train[:6]
    forced = trained.force(pairs.source, pairs.target, batch_size=4)
    for source, target, translation in zip(pairs.source, pairs.target, forced, strict=True):
        x, y = trained.source_vocabulary.encode(source), trained.target_vocabulary.encode(target)
        logits = trained((np.array([x]), np.array([[Vocabulary.START, *y]]))).numpy()[0].astype("float64")
        log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        expected = sum(log_p[t, token] for t, token in enumerate([*y, Vocabulary.END]))
        assert translation.score == pytest.approx(expected, abs=1e-4)
        assert translation.text == target
        assert translation.tokens == target.split()
        assert translation.source_tokens == source.split()
        assert translation.attention.shape == (len(y), len(x))
        np.testing.assert_allclose(translation.attention.sum(1), 1, atol=1e-5)


def test_a_beam_finds_more_likely_texts(trained, toy):
    greedy, beam = (
        sum(t.score / (len(t.tokens) + 1) for t in trained.translate(toy.train.source, width))
        for width in (1, 5)
    )
    assert beam > greedy


def test_no_sentence_and_empty_sentences(trained):
    assert trained.translate([]) == []
    assert trained.force([], []) == []
    empty, short = trained.translate(["", "the cat"])
    assert empty.source_tokens == []
    assert empty.attention.shape == (len(empty.tokens), 0)
    assert np.isfinite(empty.score)
    for one, sentence in ((empty, ""), (short, "the cat")):
        (alone,) = trained.translate([sentence])
        assert (alone.text, alone.score) == (one.text, pytest.approx(one.score, abs=1e-4))
    (forced,) = trained.force(["the cat"], [""])
    assert forced.attention.shape == (0, 2)
    assert forced.score < 0


def test_unknown_words_are_shown_as_they_are_written(trained):
    one, other = trained.translate(["the zebra sees", "the Yak sees"])
    assert one.source_tokens == ["the", "zebra", "sees"]
    assert other.source_tokens == ["the", "Yak", "sees"]
    assert one.text == other.text
    np.testing.assert_allclose(one.attention, other.attention, atol=1e-6)


def test_errors(trained):
    with pytest.raises(ValueError, match=re.escape("write [sentence]")):
        trained.translate("the cat")
    with pytest.raises(ValueError, match="beam_width is 0"):
        trained.translate(["the cat"], beam_width=0)
    for penalty in (-0.5, float("nan")):
        with pytest.raises(ValueError, match=f"length_penalty is {penalty}, but it must be 0 or more"):
            trained.translate(["the cat"], length_penalty=penalty)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"attention": "luong"},
            "attention is 'luong', but it must be one of bahdanau, bahdanau-word, luong-dot",
        ),
        ({"cell": "rnn"}, "cell is 'rnn', but it must be one of gru, lstm"),
    ],
)
def test_an_unknown_part_is_named_with_those_that_exist(build, options, message):
    with pytest.raises(ValueError, match=message):
        build(**options)


def test_force_needs_a_target_for_each_sentence(build):
    with pytest.raises(ValueError, match="2 sentences but 1 targets"):
        build().force(["the cat", "the dog"], ["le chat"])
    for texts in (("ab", "ba"), ("a", ["un"]), (["a"], "u")):
        with pytest.raises(ValueError, match=r"force takes lists .* got one string: write \[sentence\]"):
            build().force(*texts)


def test_a_sentence_longer_than_two_batches_is_found_before_training(build):
    pairs = Pairs(["a", "a", "a"], ["le chat", "un", " ".join(["le"] * 12)])
    with pytest.raises(
        ValueError, match="A sentence of 13 tokens is too long for batches of 6: raise batch_"
    ):
        build().dataset(pairs, batch_tokens=5)


def test_xla_does_not_compile_it(build):
    """It cannot, and Keras asks for it by itself where there is a GPU."""
    translator = build()
    with pytest.warns(UserWarning, match="doesn't support `jit_compile=True`"):
        translator.compile("adam", jit_compile=True)
    assert not translator.jit_compile


def test_one_vocabulary_for_both_has_one_embedding(toy, build):
    vocabulary = Vocabulary.build(toy.train.source + toy.train.target)
    shared = build(vocabulary, vocabulary)
    assert shared.source_embedding is shared.target_embedding
    again = Seq2SeqTranslator.from_config(shared.get_config())
    assert again.source_vocabulary is again.target_vocabulary
    apart = build(vocabulary, Vocabulary.build(toy.train.source + toy.train.target))
    assert apart.source_embedding is not apart.target_embedding
    assert apart.count_params() - shared.count_params() == len(vocabulary) * 10


def test_tied_and_untied_embeddings(build):
    tied, untied = build(), build(tie_embeddings=False)
    assert tied.output_embedding is tied.target_embedding.embeddings
    assert untied.output_embedding is not untied.target_embedding.embeddings
    assert untied.count_params() - tied.count_params() == 15 * 10


@pytest.mark.parametrize(("attention", "width"), [("luong-dot", 12), ("luong-general", 34), ("none", 34)])
def test_the_memory_is_as_wide_as_the_score_needs(build, attention, width):
    memory, mask = build(attention=attention).encode(np.array([[4, 5, 0], [6, 7, 8]]))
    assert memory.shape == (2, 3, width)
    np.testing.assert_array_equal(mask, [[True, True, False], [True, True, True]])
    assert not memory[0, 2].numpy().any()


def test_a_seed_gives_the_weights_again(build):
    one, same, other = build(seed=4), build(seed=4), build(seed=5)
    for a, b in zip(one.get_weights(), same.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one.get_weights()[0], other.get_weights()[0])


def test_building_leaves_the_generators_of_the_program_alone(build):
    keras.utils.set_random_seed(5)
    expected = random.random(), np.random.random()
    keras.utils.set_random_seed(5)
    build(seed=7)
    assert (random.random(), np.random.random()) == expected


def test_dropout_and_smoothing_act_in_training_alone(build, toy):
    translator = build(dropout=0.5, label_smoothing=0.2)
    ((x, before), y) = next(iter(translator.dataset(toy.train, 10)))
    still = [translator.token_losses(x, before, y).numpy() for _ in range(2)]
    np.testing.assert_array_equal(*still)
    noisy = [translator.token_losses(x, before, y, training=True).numpy() for _ in range(2)]
    assert np.abs(noisy[0] - noisy[1]).max() > 1e-4
    plain = build(dropout=0.5)
    plain.set_weights(translator.get_weights())
    np.testing.assert_array_equal(plain.token_losses(x, before, y), still[0])


def test_config_is_plain_and_builds_the_same(build):
    import json

    translator = build(cell="lstm", attention="luong-concat", label_smoothing=0.1, seed=7)
    config = json.loads(json.dumps(translator.get_config()))
    again = Seq2SeqTranslator.from_config(config)
    assert again.get_config() == translator.get_config() == config
    assert again.options == translator.options


def test_a_file_holds_the_whole_translator(trained, saved, toy):
    again = keras.saving.load_model(saved)
    for a, b in zip(again.get_weights(), trained.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert again.source_vocabulary.get_config() == trained.source_vocabulary.get_config()
    for one, other in zip(again.translate(toy.test.source), trained.translate(toy.test.source), strict=True):
        assert one.text == other.text
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-6)


@pytest.mark.parametrize("imports", ["import keras, keras_attention", "import keras_attention, keras"])
def test_a_file_translates_in_a_fresh_process(imports, trained, saved, toy):
    code = (
        f"{imports}\n"
        f"translator = keras.saving.load_model({str(saved)!r})\n"
        f"for t in translator.translate({toy.test.source!r}, beam_width=1): print(t.text)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout.splitlines() == [t.text for t in trained.translate(toy.test.source)]
