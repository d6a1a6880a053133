import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.data import Vocabulary, load
from keras_attention.data.vocabulary import fold

TEXTS = [
    "L'animal n'a pas traversé la rue, parce qu'il était fatigué.",
    "The animal didn't cross the street: it was too tired!",
    "他把书给了她。",
    "She paid 3.50 for 1,000 peut-être (or 20)?",
    "Naïve café 🙂 Straße İstanbul",
] * 3
BUILT = {
    "word": Vocabulary.build(TEXTS),
    "word, few": Vocabulary.build(TEXTS, size=9, lowercase=True, lexicon=["给了", "她"]),
    "char": Vocabulary.build(TEXTS, "char"),
    "char, folded": Vocabulary.build(TEXTS, "char", lowercase=True, min_count=4),
    "bpe": Vocabulary.build(TEXTS, "subword", size=150),
    "bpe, folded": Vocabulary.build(TEXTS, "subword", size=150, lowercase=True),
    "unigram": Vocabulary.build(TEXTS, "subword", size=120, model_type="unigram"),
}
each = pytest.mark.parametrize("vocabulary", BUILT.values(), ids=BUILT.keys())
TEXT = st.text() | st.text(
    st.sampled_from("aÉ'’-.,?!\"() \u00a0\u202f\u2028\x85\t\n\0他书。🙂👩‍🚀e\u0301İß▁<s>23")
)


@each
@given(text=TEXT)
@settings(max_examples=150, deadline=None)
def test_tokens_spans_and_ids_go_together(vocabulary, text):
    ids, spans, tokens = vocabulary.encode(text), vocabulary.spans(text), vocabulary.tokens(text)
    assert len(ids) == len(spans) == len(tokens)
    assert all(
        vocabulary.UNKNOWN <= i < len(vocabulary) and i not in (vocabulary.START, vocabulary.END) for i in ids
    )
    end = 0
    for start, stop in spans:
        assert end <= start <= stop <= len(text)
        end = stop
    covered = {i for span in spans for i in range(*span)}
    assert all(char.isspace() or i in covered for i, char in enumerate(text) if char not in "▁\0")
    assert all(token and not token.isspace() for token in tokens)
    assert vocabulary.encode_batch([text, text]) == [ids, ids]
    assert vocabulary.decode_batch([ids, ids]) == [vocabulary.decode(ids)] * 2


@each
@given(text=TEXT)
@settings(max_examples=60, deadline=None)
def test_what_is_known_is_restored_and_what_is_not_is_seen(vocabulary, text):
    ids = vocabulary.encode(text)
    decoded = vocabulary.decode(ids)
    if vocabulary.UNKNOWN in ids:
        assert "<unk>" in decoded
    elif "▁" not in text:
        expected = fold(text) if vocabulary.lowercase else text
        assert "".join(decoded.split()) == "".join(expected.split())


@each
def test_known_texts_survive_exactly(vocabulary):
    for text in TEXTS:
        ids = vocabulary.encode(text)
        if vocabulary.UNKNOWN not in ids and "(" not in text:
            assert vocabulary.decode(ids) == (fold(text) if vocabulary.lowercase else text)


@each
def test_config_is_json_and_complete(vocabulary):
    again = Vocabulary.from_config(json.loads(json.dumps(vocabulary.get_config())))
    assert type(again) is type(vocabulary)
    assert again.get_config() == vocabulary.get_config()
    assert len(again) == len(vocabulary)
    for text in (*TEXTS, "words never seen before 🚀"):
        ids = vocabulary.encode(text)
        assert again.encode(text) == ids
        assert again.decode(ids) == vocabulary.decode(ids)
        assert again.tokens(text) == vocabulary.tokens(text)


@each
def test_special_ids(vocabulary):
    v = vocabulary
    assert (v.PAD, v.UNKNOWN, v.START, v.END) == (0, 1, 2, 3)
    assert [v.id_to_token(i) for i in range(4)] == ["<pad>", "<unk>", "<s>", "</s>"]
    ids = v.encode("la rue")
    assert v.decode([v.START, *ids, v.PAD, v.END, *ids, v.PAD]) == v.decode(ids)
    assert v.decode([]) == v.decode([v.END]) == ""
    assert v.encode("") == v.spans("") == v.tokens("") == []


def test_words():
    v = BUILT["word"]
    assert v.tokens("L'animal n’a pas peut-être didn't 3.50 1,000.") == [
        "L'animal", "n’a", "pas", "peut-être", "didn't", "3.50", "1,000", ".",
    ]  # fmt: skip
    assert v.tokens("他把书给了她。") == list("他把书给了她。")
    assert v.tokens("e\u0301te\u0301 👩‍🚀!") == ["e\u0301te\u0301", "👩‍🚀", "!"]
    assert v.spans("  L'animal,  3.50") == [(2, 10), (10, 11), (13, 17)]
    assert v.decode(v.encode("The zebra was tired")) == "The <unk> was tired"


def test_lexicon_takes_the_longest_match():
    v = Vocabulary.build(["图书馆里没有书"], lexicon=["图书", "图书馆", "没有", "里"])
    assert v.tokens("图书馆里没有图书") == ["图书馆", "里", "没有", "图书"]
    assert v.tokens("图画里没") == ["图", "画", "里", "没"]
    assert v.decode(v.encode("图书馆里没有书")) == "图书馆里没有书"


def test_spaced_chinese_is_split_at_its_spaces():
    v = Vocabulary.build(["他 把 书 给了 她 。", "老师 喜欢 图书馆 。"])
    assert v.tokens("老师 把 书 给了 她 。") == ["老师", "把", "书", "给了", "她", "。"]
    assert v.decode(v.encode("老师 把 书 给了 她 。")) == "老师 把 书 给了 她 。"


@pytest.mark.parametrize(
    "texts",
    [
        ['He said "Hello" and left.', 'A "b" c "d".'],
        ["Ça va\u202f? Oui\u00a0!", "Quoi\u202f? Non\u00a0!"],
        ["a (b) c [d] e.", "f (g) h [i]."],
        ["« Bonjour », dit-elle…", "« Non », dit-il…"],
        ["It costs $5, or 50% more; yes: more!", "He paid $7, or 10% less; no: less!"],
        ["我有3本书，“真的”吗？", "他说：“好的”，走了。"],
    ],
)
def test_marks_are_put_back_as_the_texts_have_them(texts):
    v = Vocabulary.build(texts)
    assert [v.decode(v.encode(text)) for text in texts] == texts


def test_size_and_order():
    v = Vocabulary.build(["b a a", "c a b"], size=6)
    assert [v.id_to_token(i) for i in range(4, len(v))] == ["a", "b"]
    assert len(Vocabulary.build(["b a a", "c a b"], min_count=2)) == 6
    assert v.encode("a b c") == [4, 5, v.UNKNOWN]


def test_folding_keeps_every_character_in_its_place():
    assert fold("ÉTÉ Straße ΟΔΟΣ") == "été straße οδος"
    assert fold("İSTANBUL") == "İstanbul"
    v = BUILT["bpe, folded"]
    assert [("İ Rue"[a:b]) for a, b in v.spans("İ Rue")][-1] == "Rue"


def test_characters_show_spaces():
    v = BUILT["char"]
    assert v.tokens("a b") == ["a", "␣", "b"]
    assert v.id_to_token(v.encode(" ")[0]) == "␣"
    assert v.decode(v.encode("la  rue ")) == "la  rue "


def test_subwords_change_nothing():
    v = BUILT["bpe"]
    for text in ("  la  rue ", "parce qu'il", "Straße İ 他 🙂"):
        assert v.decode(v.encode(text)) == text
    compatible = "ﬁn ½ ①"  # NFKC would fold these
    w = Vocabulary.build([compatible] * 2, "subword", size=20)
    assert w.decode(w.encode(compatible)) == compatible
    assert v.decode(v.encode("rue 🚀")) == "rue <unk>"
    for text in ("the animal", "était 🙂 fatigué 他把书"):
        assert "".join(v.tokens(text)).replace("▁", " ") == f" {text}"
        for (start, end), token in zip(v.spans(text), v.tokens(text), strict=True):
            assert text[start:end] == token.removeprefix("▁")


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
@pytest.mark.parametrize("size", [5, 12, 30, 8000])
def test_any_size_of_subwords_can_be_had(model_type, size):
    v = Vocabulary.build(TEXTS, "subword", size=size, model_type=model_type)
    assert 4 < len(v) <= size
    assert v.encode("L'animal")


def test_subwords_are_quiet(capfd):
    Vocabulary.build(["the animal crossed the street", "il était là"] * 9, "subword", size=40)
    assert capfd.readouterr() == ("", "")


def test_subwords_are_deterministic():
    code = (
        "from keras_attention.data import Vocabulary as V\n"
        "v = V.build(['the animal crossed the street', 'il était là'] * 9, 'subword', size=40)\n"
        "print(v.get_config()['model'])"
    )
    done = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert done[0].stdout == done[1].stdout != ""


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"kind": "words"}, "no kind of vocabulary 'words'; choose word, char or subword"),
        ({"size": 4}, "size 4 has no room beside the four special ids"),
        (
            {"kind": "subword", "model_type": "wordpiece"},
            "no subword model 'wordpiece'; choose bpe or unigram",
        ),
    ],
)
def test_bad_arguments(keywords, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary.build(TEXTS, **keywords)


@pytest.mark.parametrize("kind", ["word", "char", "subword"])
def test_no_text(kind):
    with pytest.raises(ValueError, match="cannot be built from no text"):
        Vocabulary.build(["", " "], kind)


@pytest.mark.parametrize("kind", ["word", "char", "subword"])
@pytest.mark.parametrize("name", ["en-fr", "en-zh"])
def test_toy_sentences_survive_exactly(name, kind):
    corpus = load(f"toy:{name}")
    for side in ("source", "target"):
        lexicon = corpus.lexicon if side == "target" else ()
        v = Vocabulary.build(getattr(corpus.train, side), kind, size=600, lexicon=lexicon)
        for split in ("train", "validation", "test"):
            texts = getattr(corpus.split(split), side)
            assert v.decode_batch(v.encode_batch(texts)) == texts


def test_subwords_may_be_drawn():
    vocabulary = Vocabulary.build(TEXTS, "subword", 60)
    whole = vocabulary.encode_batch(TEXTS)
    drawn = [vocabulary.sample_batch(TEXTS, 0.3, seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert vocabulary.sample_batch(TEXTS, 0.0, 1) == whole
    assert sum(map(len, drawn[0])) > sum(map(len, whole))
    for ids, text in zip(drawn[0], TEXTS, strict=True):
        if vocabulary.UNKNOWN not in vocabulary.encode(text):
            assert vocabulary.decode(ids) == text


def test_words_are_cut_in_one_way():
    vocabulary = BUILT["word"]
    assert vocabulary.sample_batch(TEXTS, 0.5, 1) == vocabulary.encode_batch(TEXTS)
