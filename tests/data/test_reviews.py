import re

import pytest

from keras_attention.data import DataError, Vocabulary, load_texts
from keras_attention.data.toy.reviews import LABELS, SIZES, Draw, grammar, load_reviews

both = pytest.mark.parametrize("name", ["reviews-en", "reviews-zh"])


@both
def test_sizes_balance_and_no_double(name):
    corpus = load_texts(f"toy:{name}")
    texts = [text for split in SIZES for text in corpus.split(split).texts]
    assert len(texts) == len(set(texts)) == sum(SIZES.values())
    for split, size in SIZES.items():
        part = corpus.split(split)
        assert len(part) == size
        assert [part.labels.count(label) for label in LABELS] == [size // 2, size // 2]


@both
def test_every_word_of_the_tests_occurs_in_training(name):
    corpus = load_texts(f"toy:{name}")
    vocabulary = Vocabulary.build(corpus.train.texts, lexicon=corpus.lexicon)
    for split in ("validation", "test"):
        for ids in vocabulary.encode_batch(corpus.split(split).texts):
            assert Vocabulary.UNKNOWN not in ids


@both
def test_the_tests_of_one_seed_are_not_trained_on_with_another(name):
    train, test = load_reviews(name, 1).train, load_reviews(name).test
    assert train != load_reviews(name).train
    assert not set(train.texts) & set(test.texts)


@both
def test_a_rationale_is_a_few_whole_words_that_are_written_as_in_the_grammar(name):
    corpus = load_texts(f"toy:{name}")
    for text, spans in zip(corpus.test.texts, corpus.test.rationales, strict=True):
        assert 1 <= len(spans) <= 6
        assert spans == sorted(spans)
        for start, end in spans:
            assert 0 <= start < end <= len(text)
            if name == "reviews-en":
                assert re.fullmatch(r"(?<!\w)[\w']+(?!\w)", text[start:end])


def test_chinese_words_are_cut_as_they_were_put_together():
    draw, corpus = Draw(grammar("reviews-zh"), 7), load_texts("toy:reviews-zh")
    vocabulary = Vocabulary.build(corpus.train.texts, lexicon=corpus.lexicon)
    reviews = [draw.review(good) for good in [True, False] * 300]
    same = [vocabulary.spans(review.text) == review.words for review in reviews]
    assert sum(same) > 0.95 * len(same)


def opinions(words, good, bad):
    """What each word of a rationale says, read by a person's rule: a negation turns the next one round."""
    sign = 1
    for word in words:
        if word in NEGATIONS:
            sign = -1
        else:
            assert (word in good) != (word in bad), word
            yield sign if word in good else -sign
            sign = sign if word in ("of", "waste", "浪费") else 1  # not a waste of money


NEGATIONS = {"not", "never", "didn't", "wasn't", "weren't", "cannot", "nothing"} | {
    *("不", "并不", "谈不上", "没有", "挑不出")
}


@both
def test_the_rationale_decides(name):
    table = grammar(name)
    sides = [set(), set()]
    for side, words in enumerate(sides):
        words |= {word for pair in table.plain.values() for word in pair[side]} | set(table.strong[side])
        words |= {word for slots in table.verbs[side] for word in slots.values()}
        for verdict in table.verdicts[side]:
            marked = {word[1:] for word in verdict.split() if word[0] == "*"}
            sides[1 - side if marked & NEGATIONS else side].update(marked - NEGATIONS)
    test = load_texts(f"toy:{name}").test
    for text, label, spans in zip(test.texts, test.labels, test.rationales, strict=True):
        said = set(opinions([text[start:end].lower() for start, end in spans], *sides))
        assert said == {1 if label == "positive" else -1}, text


@pytest.mark.parametrize(
    ("name", "phenomena"),
    [
        ("reviews-en", ["but", "although", "still,", "even if", "my sister", "I expected", "weather"]),
        ("reviews-zh", ["但是", "虽然", "不过", "即使", "妹妹", "我以为", "天气"]),
    ],
)
def test_contrast_hearsay_and_distractors_occur_with_both_labels(name, phenomena):
    train = load_texts(f"toy:{name}").train
    for phenomenon in phenomena:
        labels = [
            label
            for text, label in zip(train.texts, train.labels, strict=True)
            if phenomenon.lower() in text.lower()
        ]
        assert len(labels) > 50, phenomenon
        assert 0.35 < labels.count("positive") / len(labels) < 0.65, phenomenon


@both
def test_a_word_alone_does_not_tell(name):
    """Half of the words that decide in one review do not count in another, or are negated."""
    train = load_texts(f"toy:{name}").train
    for word in ("good", "terrible", "not") if name == "reviews-en" else ("好", "糟糕", "不"):
        labels = [
            label for text, label in zip(train.texts, train.labels, strict=True) if word in text.lower()
        ]
        assert 0.25 < labels.count("positive") / len(labels) < 0.75, word


def test_spelling():
    spell = Draw(grammar("reviews-en"), 0).spell
    review = spell(["I was ill", "the soup , too , was *not *good . but we *laughed"], False)
    assert review.text == "I was ill. The soup, too, was not good. But we laughed."
    assert [review.text[start:end] for start, end in review.rationale] == ["not", "good", "laughed"]
    assert [review.text[start:end] for start, end in review.words][3:8] == [".", "The", "soup", ",", "too"]


def test_unknown_reviews():
    with pytest.raises(
        DataError, match="no toy reviews 'en-fr'; choose one of toy:reviews-en, toy:reviews-zh"
    ):
        load_texts("toy:en-fr")
