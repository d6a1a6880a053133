import csv
import dataclasses
import gzip

import pytest

from keras_attention.data import DataError, StreamedPairs, load, stream
from keras_attention.data.files import (
    collect,
    iterate_lines,
    iterate_pairs,
    likely_encoding,
    read_folder,
)

# What str.splitlines or a lenient reader would break, drop or change.
ODD = [
    "a\u00a0b",
    "a\u202f?",
    "a\u2028b",
    "a\u2029b",
    "a\x85b",
    "a\x0bb\x0cc\x1cd",
    "in\ufefftext",
    "lone\rreturn",
    " padded ",
]


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.fixture(params=["whole", "streamed"])
def read(request):
    """read(path): the pairs of a file, by either way."""

    def whole(path):
        return collect(iterate_pairs(path))

    def streamed(path):
        pairs = StreamedPairs(str(path), lambda: iterate_pairs(path))
        first, second = list(pairs), list(pairs)
        assert first == second
        assert len(pairs) == len(first)
        return collect(first)

    return whole if request.param == "whole" else streamed


@pytest.fixture(params=["whole", "streamed"])
def open_corpus(request):
    """open_corpus(source): a corpus, by either way."""

    def streamed(source, **options):
        corpus = stream(source, **options)
        return dataclasses.replace(corpus, train=collect(corpus.train))

    return load if request.param == "whole" else streamed


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_lose_nothing(tmp_path, end, encoding, last):
    text = end.join(ODD) + (end if last else "")
    assert list(iterate_lines(write(tmp_path / "odd.txt", text, encoding))) == ODD


def test_lines_of_gzip(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"eins\nzwei\n"))
    assert list(iterate_lines(path)) == ["eins", "zwei"]


def test_missing_and_empty_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.txt"):
        list(iterate_lines(tmp_path / "none.txt"))
    for text in ("", "\n", "\ufeff \n"):
        with pytest.raises(DataError, match=r"void\.txt is empty"):
            list(iterate_lines(write(tmp_path / "void.txt", text)))


@pytest.mark.parametrize(
    ("text", "encoding", "named", "line"),
    [
        ("one\n我爱北京天安门\n", "gbk", "GBK", 2),
        ("one\n\n今天天气很好，我们去公园吧。\n", "gb18030", "GBK", 3),
        ("one\nun café crème\n", "latin-1", "LATIN1", 2),
        ("one\ntwo\nde l’été\n", "cp1252", "CP1252", 3),
        ("Straße\nGröße\n", "latin-1", "LATIN1", 1),
        ("one\ntwo\n", "utf-16", "UTF-16", 1),
        ("one\ntwo\n", "utf-16-le", "UTF-16", 1),
        ("一\n二\n", "utf-16-be", "UTF-16", 1),
    ],
)
def test_other_encodings_are_named(open_corpus, tmp_path, text, encoding, named, line):
    path = write(tmp_path / "pairs.tsv", text, encoding)
    assert likely_encoding(path.read_bytes()) == named
    with pytest.raises(
        DataError,
        match=rf"pairs\.tsv, line {line}: not UTF-8 but probably {named}; "
        rf"convert it with `iconv -f {named} -t UTF-8`",
    ):
        open_corpus(str(path))


def test_tsv_ignores_columns_after_the_second(read, tmp_path):
    path = write(tmp_path / "a.tsv", 'Hi.\t嗨。\tCC-BY #1\nRun.\t跑。\r\n"Go\tVa\n')
    pairs = read(path)
    assert (pairs.source, pairs.target) == (["Hi.", "Run.", '"Go'], ["嗨。", "跑。", "Va"])


def test_tsv_keeps_odd_characters_in_place(read, tmp_path):
    rows = [(f"s{i} {odd}", f"{odd} t{i}") for i, odd in enumerate(ODD)]
    pairs = read(write(tmp_path / "a.tsv", "".join(f"{s}\t{t}\n" for s, t in rows)))
    assert list(zip(pairs.source, pairs.target, strict=True)) == rows


def test_csv_round_trip(read, tmp_path):
    rows = [
        ("Hello, you", "Bonjour, toi"),
        ('"Go!"', "« Va ! »"),
        ("two\nlines", "deux\nlignes"),
        ("a\x85b", "a\u2028b"),
        ("x", "y"),
    ]
    with (tmp_path / "a.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([("source", "target"), *rows])
    pairs = read(tmp_path / "a.csv")
    assert list(zip(pairs.source, pairs.target, strict=True)) == rows


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.tsv",
            "a\tb\nc\n",
            r"a\.tsv, line 2: one column where two are needed; separate source and target by a TAB",
        ),
        ("a.tsv", "a\tb\n\nc\td\n", r"a\.tsv, line 2: one column"),
        ("a.tsv", "a\tb\n \td\n", r"a\.tsv, line 2: the source is empty"),
        ("a.tsv", "a\tb\nc\td\ne\t\n", r"a\.tsv, line 3: the target is empty"),
        (
            "a.csv",
            "a,b\nc\n",
            r"a\.csv, line 2: one column where two are needed; separate source and target by a comma",
        ),
        ("a.csv", 'a,"b\nb"\nc,\n', r"a\.csv, line 3: the target is empty"),
        ("a.csv", 'a,b\n"c,d\n', r"a\.csv, line 2: not valid CSV"),
        ("a.csv", "source,target\n", r"a\.csv holds a heading but no pairs"),
    ],
)
def test_bad_pairs_name_the_line(read, tmp_path, name, text, message):
    with pytest.raises(DataError, match=message):
        read(write(tmp_path / name, text))


@pytest.fixture
def folder(tmp_path):
    """en-de with a train of 50 lines that hold odd characters, a val and a test2016."""
    folder = tmp_path / "en-de"
    folder.mkdir()
    for language in ("en", "de"):
        for split, count in (("train", 50), ("val", 4), ("test2016", 3)):
            lines = [f"{language} {split} {i} {ODD[i % len(ODD)]}" for i in range(count)]
            write(folder / f"{language}.{split}.txt", "\n".join(lines) + "\n")
    return folder


def test_folder(open_corpus, folder):
    write(folder / "README.md", "about")
    corpus = open_corpus(str(folder))
    assert [len(corpus.split(s)) for s in ("train", "validation", "test", "test2016")] == [50, 4, 3, 3]
    assert (corpus.source_language, corpus.target_language) == ("en", "de")
    for split in ("train", "val", "test2016"):
        pairs = corpus.split(split)
        for i, (source, target) in enumerate(zip(pairs.source, pairs.target, strict=True)):
            assert source == f"en {split} {i} {ODD[i % len(ODD)]}"
            assert target == f"de {split} {i} {ODD[i % len(ODD)]}"


def test_folder_without_validation_and_test(open_corpus, folder):
    for file in [*folder.glob("*.val.txt"), *folder.glob("*.test2016.txt")]:
        file.unlink()
    corpus = open_corpus(str(folder), seed=3)
    assert [len(p) for p in (corpus.train, corpus.validation, corpus.test)] == [46, 2, 2]
    assert {*corpus.train.source, *corpus.validation.source, *corpus.test.source} == {
        f"en train {i} {ODD[i % len(ODD)]}" for i in range(50)
    }


def test_folder_direction(open_corpus, folder, tmp_path):
    def direction(path, **keywords):
        corpus = open_corpus(str(path), **keywords)
        assert corpus.train.source[0].startswith(str(corpus.source_language))
        assert corpus.train.target[0].startswith(str(corpus.target_language))
        return corpus.source_language, corpus.target_language

    assert direction(f"{folder}:de-en") == ("de", "en")
    assert direction(folder, source_language="de") == ("de", "en")
    assert direction(folder, target_language="de") == ("en", "de")
    other = folder.rename(tmp_path / "corpus")
    assert direction(other) == ("en", "de")  # English first, though d < e
    for file in list(other.glob("de.*")):
        write(other / file.name.replace("de", "cs"), file.read_bytes().decode().replace("de ", "cs "))
    assert direction(other, source_language="cs", target_language="de") == ("cs", "de")
    assert direction(f"{other}:en-cs") == ("en", "cs")
    with pytest.raises(
        DataError, match=r"corpus has the languages cs, de, en; name the direction, as in .*corpus:en-cs"
    ):
        open_corpus(str(other))
    with pytest.raises(DataError, match=r"corpus has no language 'fr'; choose from cs, de, en"):
        open_corpus(str(other), source_language="fr")
    assert direction(other.rename(tmp_path / "de-en")) == ("de", "en")


def test_folder_of_unequal_files(open_corpus, folder):
    with (folder / "de.val.txt").open("a") as file:
        file.write("noch eine\n")
    with pytest.raises(DataError, match=r"en\.val\.txt has 4 lines but .*de\.val\.txt has 5"):
        open_corpus(str(folder))


def test_folder_with_an_empty_line(open_corpus, folder):
    text = (folder / "de.train.txt").read_bytes().decode()
    write(folder / "de.train.txt", text.replace(f"de train 6 {ODD[6]}\n", " \n"))
    with pytest.raises(DataError, match=r"de\.train\.txt, line 7: the sentence is empty"):
        open_corpus(str(folder))


def test_folder_that_lacks_a_file(folder):
    (folder / "de.val.txt").unlink()
    with pytest.raises(DataError, match=r"en-de lacks de\.val\.txt"):
        read_folder(folder)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ([], "nothing"),
        (["train.en.txt", "train.de.txt"], "train.de.txt, train.en.txt"),
        (["en.train.txt"], "en.train.txt"),
    ],
)
def test_folder_of_another_shape(open_corpus, tmp_path, files, found):
    for name in files:
        write(tmp_path / name, "x\n")
    with pytest.raises(
        DataError, match=rf"holds {found}; it needs files LANG\.SPLIT\.txt in two languages, such as"
    ):
        open_corpus(str(tmp_path))
