import pytest

from keras_attention.data import DataError, TextCorpus, Texts
from keras_attention.data.texts import make_text_corpus


def texts(*rows):
    return Texts([text for text, _ in rows], [label for _, label in rows])


def many(count=40):
    """`count` texts of "good" and half as many of "bad"."""
    return texts(
        *((f"good {i}", "good") for i in range(count)), *((f"bad {i}", "bad") for i in range(count // 2))
    )


def test_columns_of_different_lengths():
    with pytest.raises(DataError, match="2 texts and 1 labels do not belong together"):
        Texts(["a", "b"], ["x"])
    with pytest.raises(DataError, match="1 texts and 1 labels and 2 rationales"):
        Texts(["a"], ["x"], [[], []])
    with pytest.raises(DataError, match="2 texts and 2 labels and 0 rationales"):
        Texts(["a", "b"], ["x", "y"], [])


def test_rows_keep_their_rationales():
    some = Texts(["a b", "c", "d"], ["x", "y", "x"], [[(0, 1)], [], [(0, 1), (2, 3)]])
    assert some[1:] == Texts(["c", "d"], ["y", "x"], [[], [(0, 1), (2, 3)]])
    assert some.select([2, 0]) == Texts(["d", "a b"], ["x", "x"], [[(0, 1), (2, 3)], [(0, 1)]])
    assert len(some) == 3


def test_missing_splits_are_drawn_label_by_label():
    corpus = make_text_corpus("x.tsv", {"train": many()}, seed=3)
    counts = {split: [part.labels.count(x) for x in ("good", "bad")] for split, part in corpus.splits.items()}
    assert counts == {"train": [32, 16], "validation": [4, 2], "test": [4, 2]}
    parts = [set(part.texts) for part in corpus.splits.values()]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 60
    assert make_text_corpus("x.tsv", {"train": many()}, seed=3) == corpus
    assert make_text_corpus("x.tsv", {"train": many()}, seed=4).test != corpus.test


def test_a_text_that_occurs_twice_is_on_one_side():
    doubled = [(text, label) for i in range(30) for text, label in ((f"a {i}", "x"), (f"b {i}", "y"))]
    part = texts(*doubled, *((text.upper(), label) for text, label in doubled))
    corpus = make_text_corpus("x.tsv", {"train": part}, seed=0)
    sides = [{text.casefold() for text in part.texts} for part in corpus.splits.values()]
    assert sum(map(len, sides)) == 60
    assert [len(part) for part in corpus.splits.values()] == [96, 12, 12]


def test_given_splits_are_kept():
    corpus = make_text_corpus("x", {"train": many(), "dev": many(4), "test": many(2)}, seed=0)
    assert (corpus.train, corpus.validation, corpus.test) == (many(), many(4), many(2))
    assert corpus.split("dev") is corpus.split("val") is corpus.validation
    assert len(corpus.split("all")) == len(many()) + len(many(4)) + len(many(2))


def test_a_test_split_alone():
    corpus = make_text_corpus("x.test.tsv", {"test": texts(("a", "x"))}, seed=0)
    assert corpus.test.texts == corpus.split("all").texts == ["a"]
    with pytest.raises(DataError, match=r"x.test.tsv has no split 'train'; choose one of test\."):
        corpus.train  # noqa: B018


def test_all_keeps_the_rationales_if_every_split_has_them():
    gold, more = Texts(["a"], ["x"], [[(0, 1)]]), Texts(["bc"], ["x"], [[(0, 2)]])
    assert TextCorpus("t", {"train": gold, "test": more}).split("all").rationales == [[(0, 1)], [(0, 2)]]
    assert TextCorpus("t", {"train": gold, "test": texts(("b", "y"))}).split("all").rationales is None


def test_one_class_only():
    with pytest.raises(DataError, match=r"x.tsv: all 2 training texts have the label 'x'; .* two classes"):
        make_text_corpus("x.tsv", {"train": texts(("a", "x"), ("b", "x"))}, seed=0)


def test_too_few_texts():
    few = texts(("a", "x"), ("b", "y"), ("c", "y"))
    with pytest.raises(
        DataError, match=r"too few different texts of each label \(1 of the rarest\) to split"
    ):
        make_text_corpus("x.tsv", {"train": few}, seed=0)
