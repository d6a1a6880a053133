import subprocess
import sys

import pytest

from keras_attention.data import DataError, load


def test_file_of_pairs(tmp_path):
    path = tmp_path / "cmn.tsv"
    path.write_text(
        "".join(f"Say {i}.\t说{i}{j}。\tfrom here\n" for i in range(40) for j in range(2)), encoding="utf-8"
    )
    corpus = load(str(path), seed=5)
    assert [len(p) for p in (corpus.train, corpus.validation, corpus.test)] == [72, 4, 4]
    assert (corpus.name, corpus.source_language, corpus.target_language) == (str(path), None, "zh")
    assert load(str(path), seed=5) == corpus
    assert load(str(path), seed=6).test != corpus.test
    assert load(str(path), source_language="en").source_language == "en"


def test_languages_in_a_file_name(tmp_path):
    path = tmp_path / "en-fr.tsv"
    path.write_text("a\tb\nc\td\ne\tf\n")
    corpus = load(str(path))
    assert (corpus.source_language, corpus.target_language) == ("en", "fr")


def test_nothing_there():
    with pytest.raises(
        FileNotFoundError,
        match=r"no file or folder nowhere/en-fr; give a path, toy:en-fr, toy:en-zh or tfds:NAME",
    ):
        load("nowhere/en-fr")


def test_unknown_toy():
    with pytest.raises(DataError, match="no toy corpus 'en-xx'; choose one of toy:en-fr, toy:en-zh"):
        load("toy:en-xx")


def test_import_is_cheap():
    code = (
        "import sys, keras_attention.data as d; d.load('toy:en-fr');"
        "heavy = {'tensorflow_datasets', 'sentencepiece', 'sacrebleu'};"
        "print(*heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
