import json
import os
import zipfile
from pathlib import Path

import nbformat
import pytest

from keras_attention.course import catalog, rules, submission
from keras_attention.course.entries import Entry, entries
from keras_attention.course.submission import parse, tree

EXERCISES = catalog.exercises()
EX01, EX02 = EXERCISES[:2]
ANSWER = "def softmax(x): return x\ndef attention(q, k, v): return q\n"


def notebook(*cells):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.cells.insert(0, nbformat.v4.new_markdown_cell("# Title"))
    return nbformat.writes(book)


# texts


def test_a_mark_and_windows_lines_are_text_as_any_other():
    assert parse("a.py", "\ufeffx = 1\r\n".encode()).source == "x = 1\n"
    assert parse("a.py", "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1")).source.endswith("'é'\n")


def test_a_syntax_error_shows_line_and_caret():
    fault = parse("a.py", b"def f():\n    return (1 +\n").fault
    assert (fault.cause, fault.line) == ("unreadable", 2)
    text, caret = fault.said.splitlines()
    assert text == "    return (1 +"
    assert caret.index("^") == text.index("(")


def test_a_caret_stands_right_after_tabs():
    source = "if 1:\n\tx = = 2\n"
    text, caret = parse("a.py", source.encode()).fault.said.splitlines()
    assert text[caret.index("^")] == "="


def test_submissions_travel_as_json():
    for data in (ANSWER, "def f(:", "a\0b"):
        before = parse("a.py", data.encode())
        after = submission.Submission.from_json(json.loads(json.dumps(before.to_json())))
        assert (after.source, after.filename, after.places) == (before.source, before.filename, before.places)
        assert str(after.fault) == str(before.fault)


# notebooks


def test_a_notebook_gives_definitions_and_no_trials():
    book = notebook(
        "%matplotlib inline\nimport numpy as np\n!pip install x",
        "def softmax(x):\n    return x",
        "softmax(3)\nplt.show()\nN = 4",
        "%%time\nbroken (",
    )
    read = parse("a.ipynb", book.encode())
    assert read.fault is None
    assert read.source == "import numpy as np\ndef softmax(x):\n    return x\nN = 4\n"
    assert read.places == ("cell 1, line 2", "cell 2, line 1", "cell 2, line 2", "cell 3, line 3")


def test_an_error_in_a_notebook_says_the_cell():
    fault = parse("a.ipynb", notebook("x = 1", "y = (").encode()).fault
    assert fault.text.en.startswith("Cell 2, line 1 is not valid Python")


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"cells": 3, "nbformat": 4}', b"\xff"])
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_notebook_is_unreadable(data):
    assert parse("a.ipynb", data).fault.cause == "unreadable"


# entries


def test_a_file_is_found_by_name_by_number_or_by_what_it_defines(tmp_path):
    for name in (EX01.path.name, "ex1.py", "Exercise_01.py", "ex01-final (2).py", "homework.py"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text(ANSWER)
        (folder / "ex11.py").write_text("x = 1\n")
        (folder / EX02.path.name).write_text(EX02.stub)
        assert Entry(folder).find(EX01).source == ANSWER, name
        assert Entry(folder).find(EX02).source == EX02.stub


def test_what_was_changed_wins_over_the_stub_beside_it(tmp_path):
    (tmp_path / EX01.path.name).write_text(EX01.stub)
    (tmp_path / "ex01.ipynb").write_text(notebook(ANSWER))
    assert Entry(tmp_path).find(EX01).filename == "ex01.ipynb"


def test_one_notebook_may_solve_all(tmp_path):
    (tmp_path / "all.ipynb").write_text(notebook(ANSWER, "def padding_mask(t): return t"))
    entry = Entry(tmp_path)
    assert entry.find(EX01).filename == entry.find(EX02).filename == "all.ipynb"


def test_checks_solutions_and_hidden_files_are_nobody_s_submission(tmp_path):
    for folder in ("checks", "solutions", ".git", "__MACOSX", "backups"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / EX01.path.name).write_text(ANSWER)
    fault = Entry(tmp_path).find(EX01).fault
    assert fault.cause == "missing"


def test_a_missing_file_is_missing_and_what_is_there_is_named(tmp_path):
    (tmp_path / "notes.py").write_text("x = 1\n")
    fault = Entry(tmp_path).find(EX01).fault
    assert fault.cause == "missing"
    assert "notes.py" in fault.text.en


def test_links_are_not_followed(tmp_path):
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice" / EX01.path.name).symlink_to(EX01.solution)
    (tmp_path / "bob").symlink_to(EX01.solution.parent, target_is_directory=True)
    alice, bob = entries(tmp_path)
    assert alice.find(EX01).fault.cause == "unreadable"
    assert bob.find(EX01).fault.cause == "missing"


def test_what_is_no_regular_file_is_unreadable(tmp_path):
    os.mkfifo(tmp_path / EX01.path.name)
    assert Entry(tmp_path).find(EX01).fault.cause == "unreadable"


def test_a_zip_is_read_without_being_unpacked(tmp_path):
    outside = tmp_path / "outside.py"
    with zipfile.ZipFile(tmp_path / "alice.zip", "w") as archive:
        archive.writestr("../../outside.py", "stolen = 1")
        archive.writestr(f"work/{EX01.path.name}", ANSWER)
        link = zipfile.ZipInfo(EX02.path.name)
        link.external_attr = 0o120777 << 16
        archive.writestr(link, str(EX02.solution))
    (entry,) = entries(tmp_path)
    assert entry.student == "alice"
    assert entry.find(EX01).source == ANSWER
    assert entry.find(EX02).fault.cause == "missing"
    assert not outside.exists()


@pytest.mark.parametrize("data", [b"", b"PK\3\4 no zip"])
def test_a_broken_zip_is_unreadable(tmp_path, data):
    (tmp_path / "alice.zip").write_bytes(data)
    assert entries(tmp_path)[0].find(EX01).fault.cause == "unreadable"


def test_a_zip_bomb_takes_no_memory(tmp_path):
    with zipfile.ZipFile(tmp_path / "alice.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(EX01.path.name, b"#" * 2**26)
    assert entries(tmp_path)[0].find(EX01).fault.cause == "missing"


def test_two_entries_of_one_name_are_two_students(tmp_path):
    (tmp_path / "alice.py").write_text(ANSWER)
    (tmp_path / "alice").mkdir()
    assert sorted(entry.student for entry in entries(tmp_path)) == ["alice", "alice.py"]


def test_no_submissions_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="holds no submission"):
        entries(tmp_path)
    with pytest.raises(ValueError, match="There is no folder"):
        entries(tmp_path / "nowhere")


# rules


@pytest.mark.parametrize(
    "source",
    [
        "import keras_attention",
        "from keras_attention.functional import attention",
        "import solutions.ex01",
        "from keras.layers import MultiHeadAttention",
        "from keras.layers import Attention as A",
        "import keras\nkeras.layers.AdditiveAttention",
        "import tensorflow as tf\ntf.keras.layers.MultiHeadAttention",
        "from keras import ops\nops.dot_product_attention",
        "from keras.src.layers import x",
        "from keras import ops, src",
        "import keras\nkeras.src.backend.nn",
        "import tensorflow as tf\ntf.keras.src",
        "from tensorflow.python.keras.layers import Dense",
        "from tensorflow.python import keras",
        "import tensorflow as tf\ntf.python.keras",
        "from keras.layers import GroupQueryAttention",
        "import torch.nn.functional as F",
        "from jax import nn",
        "from sacrebleu import corpus_bleu",
        "import nltk",
        "import ctypes",
        "from subprocess import run",
    ],
)
def test_what_is_forbidden_is_named_with_its_line(source):
    failure = rules.refusal(tree(f"\n{source}\n"))
    assert failure.cause == "forbidden"
    assert failure.line in (2, 3)
    assert f"Line {failure.line}" in failure.text.en


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np, math, keras\nfrom keras import ops, layers\nlayers.Dense(3)",
        "class Attention: pass\nAttention()",
        "class L:\n    def f(self): return self.Attention",
        "import tensorflow as tf\ntf.nn.softmax",
        "model.compile()",
        "from tensorflow.python.ops import array_ops",
        "source = src = 1\nself.src = source",
        "name = 'dot-product attention'\ndef dot_product_attention(q): return q\ndot_product_attention(1)",
    ],
)
def test_what_is_allowed(source):
    assert rules.refusal(tree(source)) is None
    assert rules.findings(tree(source)) == ([], [])


@pytest.mark.parametrize(
    "source",
    [
        "import importlib",
        "__import__('x')",
        "getattr(a, b)",
        "eval('1')",
        "exec('1')",
        "import sys\nsys.modules",
        "getattr(a, 'MultiHeadAttention')",
        "import gc",
        "import code",
        "import keras as k\nk.layers.attention.Attention",
        "keras.models.model_from_json(text)",
        "keras.layers.deserialize(config)",
        "keras.__loader__",
    ],
)
def test_what_a_person_should_look_at(source):
    forbidden, suspect = rules.findings(tree(source))
    assert not forbidden
    assert len(suspect) == 1


def test_no_rule_hits_what_is_right():
    right = Path(__file__).parents[1] / "exercises" / "right"
    for path in [*right.glob("*/*.py"), *(exercise.solution for exercise in EXERCISES)]:
        assert rules.findings(tree(path.read_text(encoding="utf-8"))) == ([], []), path


# the catalog


def test_exercises_are_found_by_number_and_name():
    for wanted in ("2", "02", "ex02", "ex2", "masks", "ex02_masks", "exercises/ex02_masks.py"):
        assert catalog.find(wanted, EXERCISES).name == "ex02_masks"


def test_unknown_exercises_get_advice():
    with pytest.raises(ValueError, match="did you mean ex02_masks"):
        catalog.find("ex02_maks", EXERCISES)
    with pytest.raises(ValueError, match="More than one"):
        catalog.find("attention", EXERCISES)


def test_names_and_texts_that_no_encoding_has_can_be_written(tmp_path):
    home = tmp_path / "alice\udcff"
    try:
        home.mkdir()
    except (OSError, UnicodeError):
        pytest.skip("names are text on this file system")
    (home / "odd\udcfe.py").write_text("x = 1\n")
    (entry,) = entries(tmp_path)
    assert entry.student == "alice\\udcff"
    entry.find(EX01).fault.text.en.encode()
    cell = {
        "cell_type": "code",
        "source": "x = (\ud800",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    fault = submission.parse("ex01.ipynb", json.dumps(notebook).encode()).fault
    assert fault.cause == "unreadable"
    fault.said.encode()
