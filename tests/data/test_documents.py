import pytest

from keras_attention.data import Vocabulary, load_texts
from keras_attention.data.toy.documents import CITIES, NAMES, SIZES, load_documents


def test_sizes_and_no_double():
    corpus = load_texts("toy:documents-en")
    texts = [text for split in SIZES for text in corpus.split(split).texts]
    assert len(texts) == len(set(texts)) == sum(SIZES.values())


@pytest.mark.parametrize("length", [64, 256])
def test_the_question_stands_first_and_an_answer_for_each_name_behind_it(length):
    texts = load_documents(1, length).test
    for text, label, spans in zip(texts.texts, texts.labels, texts.rationales, strict=True):
        name, *words = text.split()
        assert length <= len(words) + 1 < length + 12
        facts = dict(word.split("_") for word in words if "_" in word)
        assert sorted(facts) == sorted(NAMES)
        assert facts[name] == label
        assert [text[start:end] for start, end in spans] == [f"{name}_{label}"]
        assert text.count("_") == len(NAMES)


def test_a_fact_is_one_token_and_training_knows_them_all():
    corpus = load_documents()
    vocabulary = Vocabulary.build(corpus.train.texts)
    seen = {token for text in corpus.train.texts[:200] for token in vocabulary.tokens(text)}
    assert {f"{name}_{city}" for name in NAMES for city in CITIES} <= seen


def test_the_answers_are_spread_over_the_document_and_over_the_classes():
    texts = load_documents(0, 256).train
    places = [text[: span[0]].count(" ") for text, (span,) in zip(texts.texts, texts.rationales, strict=True)]
    far = sum(place > 16 for place in places) / len(places)
    assert 0.85 < far < 0.97
    counts = [texts.labels.count(city) for city in CITIES]
    assert 400 < min(counts) <= max(counts) < 600  # 500 ± five standard deviations
