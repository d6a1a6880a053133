import pytest

from keras_attention.data import load_texts
from keras_attention.data.toy.documents import ANSWERS, SIZES, load_documents


def test_sizes_and_no_double():
    corpus = load_texts("toy:documents-en")
    texts = [text for split in SIZES for text in corpus.split(split).texts]
    assert len(texts) == len(set(texts)) == sum(SIZES.values())


@pytest.mark.parametrize("length", [64, 256])
def test_the_question_stands_first_and_all_four_answers_behind_it(length):
    texts = load_documents(1, length).test
    topic_of = {word: topic for topic, words in ANSWERS.items() for word in words}
    for text, label, spans in zip(texts.texts, texts.labels, texts.rationales, strict=True):
        words = text.split()
        assert length <= len(words) < length + 12
        assert words[0] == topic_of[label]
        found = [word for word in words[1:] if word in topic_of]
        assert sorted(map(topic_of.get, found)) == sorted(ANSWERS)
        assert label in found
        assert [text[start:end] for start, end in spans] == [label]


def test_the_answers_are_spread_over_the_document_and_over_the_classes():
    texts = load_documents(0, 256).train
    places = [text[: span[0]].count(" ") for text, (span,) in zip(texts.texts, texts.rationales, strict=True)]
    far = sum(place > 16 for place in places) / len(places)
    assert 0.85 < far < 0.97
    counts = [texts.labels.count(word) for words in ANSWERS.values() for word in words]
    assert 80 < min(counts) <= max(counts) < 175  # 125 ± five standard deviations
