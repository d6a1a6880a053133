import pytest

from keras_attention.data import Corpus, DataError, Link, Pairs
from keras_attention.data.corpus import make_corpus


def numbered(count: int, targets: int = 1) -> Pairs:
    rows = [(f"s{i}", f"t{i}.{j}") for i in range(count) for j in range(targets)]
    return Pairs([source for source, _ in rows], [target for _, target in rows])


def test_pairs_slice_keeps_columns_together():
    links = [[Link((0, 1), (0, i + 1))] for i in range(5)]
    part = Pairs(list("abcde"), list("ABCDE"), links)[1:4:2]
    assert (part.source, part.target, part.links) == (["b", "d"], ["B", "D"], [links[1], links[3]])
    assert len(part) == 2


def test_pairs_of_unequal_length():
    with pytest.raises(DataError, match="2 source sentences, 1 target sentences do not make pairs"):
        Pairs(["a", "b"], ["A"])
    with pytest.raises(DataError, match="1 source sentences, 1 target sentences and 2 lists of links"):
        Pairs(["a"], ["A"], [[], []])


def test_missing_splits_are_drawn_by_source():
    corpus = make_corpus("x", {"train": numbered(100, targets=3)}, (None, None), seed=4)
    assert [len(p) for p in (corpus.train, corpus.validation, corpus.test)] == [270, 15, 15]
    parts = [set(p.source) for p in (corpus.train, corpus.validation, corpus.test)]
    assert parts[0] | parts[1] | parts[2] == {f"s{i}" for i in range(100)}
    assert sum(map(len, parts)) == 100
    for pairs in (corpus.train, corpus.validation, corpus.test):
        assert all(
            target.startswith("t" + source[1:] + ".")
            for source, target in zip(pairs.source, pairs.target, strict=True)
        )


def test_split_ignores_case_of_sources():
    pairs = Pairs(["Go.", "GO.", "Stay.", "Run.", "Sit."] * 2, [str(i) for i in range(10)])
    corpus = make_corpus("x", {"train": pairs}, (None, None), seed=0)
    parts = [{source.lower() for source in p.source} for p in (corpus.train, corpus.validation, corpus.test)]
    assert len(parts[0] | parts[1] | parts[2]) == sum(map(len, parts)) == 4
    assert sum(len(p) for p in (corpus.train, corpus.validation, corpus.test)) == 10


def test_split_is_drawn_by_seed():
    def test_sources(seed):
        return make_corpus("x", {"train": numbered(200)}, (None, None), seed).test.source

    assert test_sources(1) == test_sources(1) != test_sources(2)


def test_given_splits_stay():
    train, validation, test = numbered(50), numbered(7), numbered(3)
    corpus = make_corpus(
        "x", {"train": train, "dev": validation, "test2016": test, "test2017": validation}, ("en", "de"), 0
    )
    assert (corpus.train, corpus.validation, corpus.test) == (train, validation, test)
    assert corpus.split("test2017") is validation
    assert corpus.split("val") is corpus.split("valid") is corpus.split("dev") is validation
    assert corpus.split("test") is corpus.split("test2016") is test


def test_unknown_split_names_those_that_exist():
    corpus = Corpus("corpus.tsv", numbered(1), numbered(1), numbered(1), splits={"test2016": numbered(1)})
    with pytest.raises(
        DataError, match=r"corpus\.tsv has no split 'tset'; choose one of test, test2016, train, validation"
    ):
        corpus.split("tset")


def test_too_few_sentences():
    with pytest.raises(
        DataError, match=r"x has too few different source sentences \(2\) to split off validation and test"
    ):
        make_corpus("x", {"train": numbered(2, targets=9)}, (None, None), 0)
    with pytest.raises(DataError, match="x has no split train, only test"):
        make_corpus("x", {"test": numbered(2)}, (None, None), 0)
