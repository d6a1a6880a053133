import numpy as np
import pytest

from keras_attention.data import DataError, StreamedPairs, load, stream, streaming
from keras_attention.data import corpus as corpus_module

SPLITS = ("train", "validation", "test")


def write(path, rows):
    path.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def rows():
    """300 pairs of 100 source sentences, whose case differs."""
    return [(f"{'Say' if j else 'say'} {i}", f"dis {i} {j}") for j in range(3) for i in range(100)]


def columns(pairs):
    return list(zip(pairs.source, pairs.target, strict=True))


@pytest.mark.parametrize("many", [20_000, 20])  # more than there are; so few that most are forgotten
def test_every_pair_is_in_one_split_and_a_source_in_one_alone(tmp_path, monkeypatch, rows, many):
    monkeypatch.setattr(streaming, "MANY", many)
    monkeypatch.setattr(corpus_module, "LARGEST_SPLIT", many // 20)
    source = write(tmp_path / "en-fr.tsv", rows)
    corpus, whole = stream(source, seed=3), load(source, seed=3)
    parts = [list(corpus.train), columns(corpus.validation), columns(corpus.test)]
    assert [len(corpus.train), *map(len, parts)] == [len(parts[0]), *(len(whole.split(s)) for s in SPLITS)]
    assert sorted([*parts[0], *parts[1], *parts[2]]) == sorted(rows)
    sources = [text for part in parts for text in {source.casefold() for source, _ in part}]
    assert len(sources) == len(set(sources)) == 100
    assert (corpus.source_language, corpus.target_language) == ("en", "fr")
    again, other = stream(source, seed=3), stream(source, seed=4)
    assert (list(again.train), again.test) == (parts[0], corpus.test)
    assert other.test != corpus.test


def test_a_folder_keeps_the_splits_it_has(tmp_path, rows):
    for side, language in enumerate(("en", "fr")):
        for split, part in (("train", rows[:260]), ("dev", rows[260:270])):
            text = "".join(row[side] + "\n" for row in part)
            (tmp_path / f"{language}.{split}.txt").write_text(text, encoding="utf-8")
    corpus = stream(str(tmp_path))
    assert columns(corpus.validation) == rows[260:270]
    assert corpus.split("dev") == corpus.validation
    assert sorted([*corpus.train, *columns(corpus.test)]) == sorted(rows[:260])
    assert len({text.casefold() for text in corpus.test.source}) == 5


def pairs_of(count):
    rows = [(f"s{i}", f"t{i}") for i in range(count)]
    return StreamedPairs("pairs", lambda: iter(rows))


def test_the_order_is_another_for_each_generator_and_loses_nothing(monkeypatch):
    monkeypatch.setattr(streaming, "BUFFER", 30)
    pairs = pairs_of(100)
    orders = [list(pairs.shuffled(np.random.default_rng([5, epoch]))) for epoch in (0, 1, 0)]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(pairs)
    assert orders[0] == orders[2] != orders[1]
    places = [int(source[1:]) for source, _ in orders[0]]
    assert all(number < place + 30 for place, number in enumerate(places))  # no more is held
    assert np.abs(np.array(places) - np.arange(100)).mean() > 10
    assert sorted(pairs_of(20).shuffled(np.random.default_rng(0))) == sorted(pairs_of(20))


def test_the_sample_is_uniform(monkeypatch):
    assert columns(pairs_of(40).sample) == list(pairs_of(40))
    monkeypatch.setattr(streaming, "SAMPLE", 10)
    counts = dict.fromkeys((f"s{i}" for i in range(40)), 0)
    rows = [(name, "t") for name in counts]
    for seed in range(400):
        sample = StreamedPairs("pairs", lambda: iter(rows), seed).sample
        assert len(sample) == len(set(sample.source)) == 10
        for source in sample.source:
            counts[source] += 1
    assert all(60 < count < 140 for count in counts.values())  # 100 ± 4.6 standard deviations


def test_progress_is_shown_of_every_pass(tmp_path, rows):
    seen = []

    def track(rows, what, total):
        seen.append(what)
        return rows

    stream(write(tmp_path / "a.tsv", rows), track=track)
    assert seen == ["Drawing validation and test", "Counting the training pairs"]


def test_a_file_that_changes_is_noticed(tmp_path, rows):
    pairs = stream(write(tmp_path / "a.tsv", rows)).train
    write(tmp_path / "a.tsv", rows[:200])
    with pytest.raises(DataError, match=rf"a\.tsv had {len(pairs)} pairs and now has \d+; train again"):
        list(pairs)


def test_what_cannot_be_streamed(tmp_path):
    with pytest.raises(DataError, match="toy:en-fr cannot be streamed, only a file or a folder can"):
        stream("toy:en-fr")
    with pytest.raises(FileNotFoundError, match="no file or folder nowhere"):
        stream("nowhere")
    source = write(tmp_path / "a.tsv", [("a", "b"), ("A", "c"), ("d", "e")])
    with pytest.raises(DataError, match=r"too few different source sentences \(2\) to split off"):
        stream(source)
