import pytest

from keras_attention.data import DataError, Pairs, read_links

PAIRS = Pairs(
    ["A man in a Hat.", "The dog saw the other dog.", "It is John's &co hat, a hatbox"],
    ["Ein Mann mit Hut.", "Le chien a vu l'autre chien.", "C'est l'herbe de «Straße»"],
)


def read(tmp_path, text):
    path = tmp_path / "links.tsv"
    path.write_text(text, encoding="utf-8")
    return read_links(path, PAIRS)


def words(pairs):
    return [
        [(pairs.source[i][slice(*link.source)], pairs.target[i][slice(*link.target)]) for link in links]
        for i, links in enumerate(pairs.links)
    ]


def test_links_are_mapped_by_word(tmp_path):
    pairs = read(
        tmp_path,
        "# line0\tsrc_idx0\ttgt_idx0\tsrc\ttgt\n0\t4\t3\that\thut\n0\t1\t1\tman\tmann\n"
        "1\t1\t1\tdog\tchien\n1\t2\t3\tsaw\tvu\n"
        "2\t5\t3\that\therbe\n2\t1\t1\t&amp;co\tstraße\n",
    )
    # "dog" occurs twice; "hat" is once a word and once a part of another
    assert words(pairs) == [
        [("Hat", "Hut"), ("man", "Mann")],
        [("saw", "vu")],
        [("hat", "herbe"), ("&co", "Straße")],
    ]
    assert (pairs.source, pairs.target) == (PAIRS.source, PAIRS.target)


def test_bad_links(tmp_path):
    with pytest.raises(DataError, match=r"links\.tsv, line 2: '0\\thut' is not a link; write `line0 TAB"):
        read(tmp_path, "0\t4\t3\that\thut\n0\thut\n")
    with pytest.raises(
        DataError, match=r"links\.tsv, line 1: sentence 3 is beyond the last, 2; choose the split"
    ):
        read(tmp_path, "3\t4\t3\that\thut\n")
