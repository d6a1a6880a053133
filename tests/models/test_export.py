"""The SavedModel, and the vocabularies in the graph against those in Python."""

import json
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.data import Vocabulary, load
from keras_attention.models.export import Exported
from keras_attention.models.graph_text import text_in_graph

TEXTS = [
    "He said: \"It's 3.5 metres, isn't it?\" (No!)",
    "l'animal  n'a pas   traversé la rue, peut-être…",
    "  spaces\tand\nlines \u00a0 and\u2028more\u3000",
    "中文abc和12.5元，不是？ ひらがな カタカナ",
    "e\u0301 ü ñ Größe ΑΣ ß x_y __ - -- 'a' a- don’t",
    "👍🏽 👩\u200d👩\u200d👧 🇫🇷🇩🇪 ❤️ ±½",
    "",
    " ",
    "<unk> <s> ▁ ▁▁a",
]
ENGLISH = load("toy:en-fr", seed=0)
CHINESE = load("toy:en-zh", seed=0)


def vocabularies():
    words = [*ENGLISH.train.source, *TEXTS[:2]]
    yield "words", Vocabulary.build(words, min_count=2)
    yield "folded words", Vocabulary.build(words, lowercase=True)
    yield "Chinese", Vocabulary.build(CHINESE.train.target, lexicon=CHINESE.lexicon)
    yield "spaced Chinese", Vocabulary.build(["我 爱 你们 ， 大家 。", "他们 不 爱 我 。"] * 2)
    yield "characters", Vocabulary.build(ENGLISH.train.target, "char")
    yield "subwords", Vocabulary.build(ENGLISH.train.source + ENGLISH.train.target, "subword", 300)
    yield "folded subwords", Vocabulary.build(CHINESE.train.source, "subword", 120, lowercase=True)


VOCABULARIES = dict(vocabularies())
GRAPHS = {name: text_in_graph(vocabulary) for name, vocabulary in VOCABULARIES.items()}
every_vocabulary = pytest.mark.parametrize("name", VOCABULARIES)


def check(name, texts):
    vocabulary, graph = VOCABULARIES[name], GRAPHS[name]
    tokens = graph.split(tf.constant(texts, tf.string))
    ids = graph.ids(tokens).numpy()
    for text, row in zip(texts, ids, strict=True):
        assert row[row != Vocabulary.PAD].tolist() == vocabulary.encode(text), repr(text)
    lengths = [len(vocabulary.encode(text)) for text in texts]
    assert [(row != b"").sum() for row in tokens.numpy()] == lengths


@every_vocabulary
def test_texts_are_cut_as_in_python(name):
    check(name, [*TEXTS, *ENGLISH.test.source[:50], *ENGLISH.test.target[:50], *CHINESE.test.target[:50]])


@pytest.mark.parametrize("name", ["words", "Chinese", "characters", "subwords"])
@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(st.text("ab'’- .,3\"é中们我ü!?()▁\u0301\u00a0xyz", max_size=15), min_size=1, max_size=8)
)
def test_any_text_is_cut_as_in_python(name, texts):
    check(name, texts)


@every_vocabulary
def test_ids_are_joined_as_in_python(name):
    vocabulary, rng = VOCABULARIES[name], np.random.default_rng(0)
    sequences = [rng.integers(4, len(vocabulary), rng.integers(0, 12)).tolist() for _ in range(60)]
    marks = [i for i in range(4, len(vocabulary)) if vocabulary.id_to_token(i) in "\"«»(),.!?'，。"]
    sequences += [rng.choice([*marks, 4, 5, 1], 9).tolist() for _ in range(30) if marks]
    sequences += vocabulary.encode_batch([*ENGLISH.test.source[:30], *CHINESE.test.target[:30]])
    ids = tf.keras.utils.pad_sequences(sequences, padding="post", dtype="int32")
    found = GRAPHS[name].join(tf.constant(ids)).numpy()
    assert [text.decode() for text in found] == vocabulary.decode_batch(sequences)


@every_vocabulary
def test_no_ids_are_an_empty_text(name):
    assert GRAPHS[name].join(tf.zeros((2, 0), tf.int32)).numpy().tolist() == [b"", b""]


@pytest.mark.parametrize("kind", ["recurrent words", "transformer subwords"])
def test_no_sentence_has_no_translation(kind, toy, build, build_transformer):
    words = Vocabulary.build(toy.train.source + toy.train.target, "subword", 60)
    translator = build() if kind == "recurrent words" else build_transformer(words, words, num_layers=1)
    found = Exported(translator, 2, 1.0).serve(tf.constant([], tf.string))
    assert {len(value) for value in found.values()} == {0}


def test_a_sentence_longer_than_the_learned_positions_has_no_score(build_transformer):
    translator = build_transformer(num_layers=1, positions="learned", max_length=6)
    serve = Exported(translator, 2, 1.0).serve
    alone = serve(tf.constant(["the cat " * 5]))
    both = serve(tf.constant(["the cat " * 5, "the cat"]))
    for found in (alone, both):
        assert found["translations"][0] == b""
        assert np.isnan(found["scores"][0])
    (expected,) = translator.translate(["the cat"], beam_width=2)
    assert both["translations"][1].numpy().decode() == expected.text
    assert float(both["scores"][1]) == pytest.approx(expected.score, abs=1e-3)


def test_settings_of_the_search_are_checked(build, tmp_path):
    for options in ({"beam_width": 0}, {"length_penalty": -1.0}):
        with pytest.raises(ValueError, match=f"{next(iter(options))} is "):
            build().export(tmp_path / "saved", **options)
    assert not list(tmp_path.iterdir())


def test_invalid_bytes_are_no_error():
    tokens = GRAPHS["words"].split(tf.constant([b"the \xff cat"])).numpy()[0]
    assert [token.decode() for token in tokens] == ["the", "\ufffd", "cat"]


def test_a_unigram_model_is_refused():
    vocabulary = Vocabulary.build(ENGLISH.train.source, "subword", 200, model_type="unigram")
    with pytest.raises(ValueError, match="these are of a unigram model"):
        text_in_graph(vocabulary)


READER = """
import json, sys
import tensorflow as tf
assert not any(name.startswith(("keras_attention", "sentencepiece")) for name in sys.modules)
serve = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
found = serve(sentences=tf.constant(json.loads(sys.argv[2])))
strings = {name: found[name].numpy().tolist() for name in ("translations", "tokens", "source_tokens")}
decode = lambda x: x.decode() if isinstance(x, bytes) else [decode(y) for y in x]
numbers = {name: found[name].numpy().tolist() for name in ("attention", "scores")}
print(json.dumps({name: decode(x) for name, x in strings.items()} | numbers))
"""


@pytest.mark.parametrize("kind", ["recurrent words", "transformer subwords"])
def test_a_program_without_the_package_translates(kind, toy, build, build_transformer, tmp_path):
    if kind == "recurrent words":
        translator = build(seed=3)
    else:
        vocabulary = Vocabulary.build(toy.train.source + toy.train.target, "subword", 60)
        translator = build_transformer(vocabulary, vocabulary, num_layers=1, seed=3)
        translator.alignment_head.assign([0, 1])
    weights = translator.get_weights()
    translator.set_weights([w if w.dtype == "int32" else 2 * w for w in weights])
    sentences = ["the red cat sees", "", "a zebra eats", "the small bird and a dog"]
    translator.export(tmp_path / "saved", beam_width=2)
    result = subprocess.run(
        [sys.executable, "-I", "-c", READER, str(tmp_path / "saved"), json.dumps(sentences)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    found = json.loads(result.stdout.splitlines()[-1])
    for i, expected in enumerate(translator.translate(sentences, beam_width=2)):
        T, n = len(expected.tokens), len(expected.source_tokens)
        assert found["translations"][i] == expected.text
        assert [token for token in found["tokens"][i] if token] == expected.tokens
        assert len([token for token in found["source_tokens"][i] if token]) == n
        assert found["scores"][i] == pytest.approx(expected.score, abs=1e-3)
        weights = np.array(found["attention"][i])
        np.testing.assert_allclose(weights[:T, :n], expected.attention, atol=1e-5)
        assert not weights[T:].any()
        assert not weights[:, n:].any()
