import gzip

import pytest

from keras_attention.data import DataError, Texts, load_texts
from keras_attention.data.text_files import beside, read_texts


@pytest.fixture
def write(tmp_path):
    def write(content, name="x.tsv"):
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def read(*args, **options):
    return read_texts(*args, **options)[0]


@pytest.mark.parametrize("name", ["x.tsv", "x.txt", "x.tsv.gz"])
def test_label_first(write, name):
    path = write('1\tgood "film\n0\ta, b\tmore\r\n', name)
    assert read(path) == Texts(['good "film', "a, b"], ["1", "0"])


def test_quoted_csv_with_commas_quotes_and_newlines(write):
    path = write('label,review\n1,"clean, and ""new""\nwith a view"\n0,dirty\n', "x.csv")
    assert read(path) == Texts(['clean, and "new"\nwith a view', "dirty"], ["1", "0"])


@pytest.mark.parametrize(
    ("heading", "options"),
    [
        ("sentence\tlabel\tid", {}),
        ("SENTENCE\tLabel\tid", {}),
        ("what\tclass\ttext", {"text_column": "what"}),
        ("what\twhich\tid", {"text_column": "what", "label_column": "which"}),
        ("what\twhich\tid", {"label_column": "which", "text_column": "1"}),
    ],
)
def test_columns_of_a_heading(write, heading, options):
    path = write(f"{heading}\na b\tx\t7\nc\ty\t8\n")
    assert read(path, **options) == Texts(["a b", "c"], ["x", "y"])


def test_columns_by_number(write):
    path = write("7\tsome text\tx\n8\tother\ty\n")
    assert read(path, label_column="3", text_column="2") == Texts(["some text", "other"], ["x", "y"])
    assert read(path, label_column="2") == Texts(["7", "8"], ["some text", "other"])
    assert read(path, text_column="1") == Texts(["7", "8"], ["some text", "other"])


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("1\ta\n2\n", {}, r"x.tsv, line 2: 1 column where 2 are needed; separate label and text by a TAB"),
        ("1\ta\n\n2\tb\n", {}, "x.tsv, line 2: the line is empty"),
        ("1\ta\n2\t \n", {}, "x.tsv, line 2: the text is empty; fill it in, or .*--skip-empty"),
        ("1\ta\n\tb\n", {}, "x.tsv, line 2: the label is missing"),
        ("label\ttext\n", {}, "x.tsv holds no text"),
        ("label\ta\tb\n1\tx\ty\n", {}, r"which column is the text is not clear; choose one of a, b"),
        ("1\ta\n", {"label_column": "stars"}, r"x.tsv has no column 'stars'; its first line is 1, a\."),
        ("1\ta\n", {"label_column": "3"}, "x.tsv has no column '3'"),
        ("1\ta\n", {"label_column": "1", "text_column": "1"}, "label and text cannot both be column 1"),
        ("", {}, "x.tsv is empty"),
        ("1\t好\n0\t不好的房间\n".encode("gbk"), {}, "x.tsv, line 1: not UTF-8 but probably GBK"),
    ],
)
def test_errors(write, content, options, message):
    path = write(content)
    with pytest.raises(DataError, match=message) as error:
        read(path, **options)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_errors_of_csv_name_the_line_where_the_row_begins(write):
    path = write('1,"a\nb"\n0,"c"\n1,\n', "x.csv")
    with pytest.raises(DataError, match=r"x.csv, line 4: the text is empty"):
        read(path)
    path = write('1,"a\nb"\n0\n', "x.csv")
    with pytest.raises(DataError, match=r"x.csv, line 3: .* by a comma"):
        read(path)


def test_rows_without_a_text_are_left_out_on_request_and_counted(write):
    assert read_texts(write("1\ta\n2\t \n1\tb\n"), skip_empty=True) == (Texts(["a", "b"], ["1", "1"]), 1)


def test_files_of_one_corpus_lie_beside_each_other(write):
    train, test = write("1\ta\n0\tb\n", "m.train.tsv"), write("1\tc\n", "m.test.tsv")
    dev = write("0\td\n", "m.dev.tsv")
    write("0\te\n", "m.extra.tsv")
    write("0\te\n", "n.test.tsv")
    assert beside(train) == {"train": train, "test": test, "validation": dev}
    assert beside(test) == {"test": test}
    assert beside(dev) == {"validation": dev}
    other = write("1\ta\n", "training.tsv")
    assert beside(other) == {"train": other}


def test_load(write):
    train = write("1\ta\n0\tb\n0\t \n", "m.train.tsv")
    write("1\tc\n", "m.test.tsv")
    write("0\td\n", "m.dev.tsv")
    corpus = load_texts(str(train), skip_empty=True)
    assert [corpus.train.texts, corpus.validation.texts, corpus.test.texts] == [["a", "b"], ["d"], ["c"]]
    assert corpus.notes == (f"{train}: 1 row without a text left out.",)
    assert corpus.name == str(train)


def test_nothing_there(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"no file .*no.tsv; give the path of a TSV or CSV file, toy:r"
    ):
        load_texts(str(tmp_path / "no.tsv"))
    with pytest.raises(FileNotFoundError, match="no file"):
        load_texts(str(tmp_path))
