import inspect
import json
import os
import zipfile
from pathlib import Path

import nbformat
import pytest

from keras_attention.course import catalog, rules, submission
from keras_attention.course import entries as entries_module
from keras_attention.course.entries import Entry, entries, ignored
from keras_attention.course.sealed.servant import Servant
from keras_attention.course.submission import parse, tree
from keras_attention.course.verdict import Text

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
    for name, data in (
        ("a.py", ANSWER),
        ("a.py", "def f(:"),
        ("a.py", "a\0b"),
        ("a.ipynb", notebook(ANSWER)),
    ):
        before = parse(name, data.encode())
        after = submission.Submission.from_json(json.loads(json.dumps(before.to_json())))
        assert (after.source, after.filename, after.places) == (before.source, before.filename, before.places)
        assert str(after.fault) == str(before.fault)


# notebooks


def test_a_notebook_gives_definitions_and_no_trials():
    book = notebook(
        "%matplotlib inline\nimport numpy as np\n!pip install x",
        "def softmax(x):\n    return np.exp(x) / N",
        "softmax(3)\nplt.show()\nN = 4",
        "%%bash\nbroken (",
    )
    read = parse("a.ipynb", book.encode())
    assert read.fault is None
    assert read.source == (
        "import numpy as np\ndef softmax(x):\n    return np.exp(x) / N\n"
        "try:\n N = 4\nexcept (Exception, SystemExit): pass\n"
    )
    assert [place.en for place in read.places] == [
        *("cell 1, line 2", "cell 2, line 1", "cell 2, line 2"),
        *["cell 3, line 3"] * 3,
    ]
    assert read.places[-1] == Text("cell 3, line 3", "第 3 个代码单元第 3 行")


def test_an_error_in_a_notebook_says_the_cell():
    fault = parse("a.ipynb", notebook("x = 1", "y = (").encode()).fault
    assert fault.text.en.startswith("Cell 2, line 1 is not valid Python")
    assert fault.text.zh.startswith("第 2 个代码单元第 1 行有语法错误：")


def run(*cells):
    """What the definitions of a notebook are, once it has run."""
    read = parse("a.ipynb", notebook(*cells).encode())
    assert read.fault is None, read.fault
    names = {}
    exec(compile(read.source, "a.ipynb", "exec", dont_inherit=True), names)
    return names


@pytest.mark.parametrize(
    "demo",
    [
        "scores = []\nscores.append(1)\nbest = scores[0]",
        "if True:\n    raise SystemExit",
        "assert attention(1, 2, 3) == 4, '''\ntext'''",
        "for step in range(3):\n\tif step:\n\t\tprint(1 / 0)",
        "import no_such_module\nhistory = no_such_module.fit()",
        "x = 1; y = x.nothing; import no_such_module as z",
    ],
)
def test_what_a_notebook_tries_out_ends_nothing(demo):
    assert run(demo, ANSWER, demo)["attention"](1, 2, 3) == 1


def test_what_nobody_needs_is_not_run():
    assert "slow" not in run(ANSWER, "slow = [0] * 3\nslow[1:], best = [5], 4")


def test_what_definitions_need_is_run():
    names = run(
        "half = 1 / 2; N = 4 * half",
        'TEXT = """a\n  b"""',
        "if N:\n    TEXTS = f'''a\n b{N}''', \\\n    2",
        "def f(x): return x, N, TEXT, TEXTS",
        "class Layer: pass",
        "Layer.call = f",
        "softmax = lambda x: x",
        "from math import *\ndef g(): return pi",
    )
    assert names["Layer"]().call()[1:] == (2, "a\n  b", ("a\n b2.0", 2))
    assert names["softmax"](3) == 3
    assert names["g"]() > 3


def test_a_figure_in_a_notebook_is_no_source(monkeypatch):
    book = nbformat.from_dict(json.loads(notebook(ANSWER)))
    figure = nbformat.v4.new_output("display_data", data={"image/png": "A" * 2 * submission.LARGEST})
    book.cells[1].outputs = [figure]
    data = nbformat.writes(book).encode()
    assert parse("a.ipynb", data).fault is None
    assert "more than 1 MiB of code" in parse("a.ipynb", notebook("#" * 2**20 + "\n").encode()).fault.text.en
    monkeypatch.setattr(submission, "LARGEST_NOTEBOOK", 2**21)
    assert "clear its outputs" in parse("a.ipynb", data).fault.text.en


def test_a_notebook_of_very_many_lists_takes_no_memory(monkeypatch):
    monkeypatch.setattr(nbformat.reader, "reads", None)
    assert "clear its outputs" in parse("a.ipynb", b"[" + b"[]," * 2**20 + b"[]]").fault.text.en


@pytest.mark.parametrize(
    ("cell", "rest"),
    [
        (f"%%time\n{ANSWER}", ""),
        (f"\n%%capture out\n%matplotlib inline\n{ANSWER}", ""),
        (ANSWER, "attention?\n?attention\nkeras.ops??\nfor i in range(3):\n    !ls\n    %time f(i)"),
        (ANSWER, "files = !ls\nt = %timeit -o attention(1, 2, 3)\na, b = %sx ls"),
        (ANSWER, "!pip install \\\n    keras \\\n    numpy\nx = 1"),
        (f"message = ('%s'\n    % 3)\n{ANSWER}", ""),
        (f"%matplotlib inline\nmessage = ('%s'\n    % 3)\n{ANSWER}", ""),
        (f"message = '''\n%s\n!ls'''\n{ANSWER}", ""),
    ],
)
def test_commands_of_ipython_do_not_hide_the_answer(cell, rest):
    read = parse("a.ipynb", notebook(cell, rest).encode())
    assert read.fault is None
    assert read.defined == {"softmax", "attention"}
    line = cell.split("\n").index("def attention(q, k, v): return q") + 1
    assert f"cell 1, line {line}" in [place.en for place in read.places]


def test_many_blank_lines_are_soon_read():
    assert parse("a.ipynb", notebook("%time\n" + "\n" * 500_000 + ANSWER).encode()).fault is None
    assert parse("a.ipynb", notebook("%time\n#" + " " * 500_000 + "\n" + ANSWER).encode()).fault is None


@pytest.mark.parametrize("magic", ["get_ipython().run_line_magic('matplotlib', 'inline')", "!pip install x"])
def test_a_notebook_saved_as_a_script_has_no_commands(magic):
    source = f"import math\n{magic}\nif 1:\n    x = get_ipython().getoutput('ls')\n{ANSWER}"
    read = parse("a.py", source.encode())
    assert read.fault is None
    assert read.source == f"import math\npass\nif 1:\n    pass\n{ANSWER}"


def test_a_script_is_left_as_it_is_if_it_is_python():
    source = "text = '''\n%time\n!ls\n'''\n"
    assert parse("a.py", source.encode()).source == source
    source = "if 1:\n    get_ipython().magic(\n    'time')\n"  # over several lines
    assert parse("a.py", source.encode()).source == source


def test_a_scratch_cell_is_no_fault_where_the_answer_is_elsewhere(tmp_path):
    data = notebook(ANSWER, "y = (", "def padding_mask(t: return t")
    (tmp_path / "all.ipynb").write_text(data)
    entry = Entry(tmp_path)
    assert entry.find(EX01).fault is None
    (tmp_path / "all.ipynb").rename(tmp_path / "ex02.ipynb")
    fault = Entry(tmp_path).find(EX02).fault
    assert fault.text.en.startswith("Cell 2, line 1 is not valid Python")


def test_imports_from_the_future_come_first():
    assert run("def f(): return 1", f"from __future__ import annotations\n{ANSWER}")["softmax"](3) == 3


@pytest.mark.parametrize("mark", ["\u2028", "\x0c", "\x85", "\r"])
def test_lines_are_what_python_takes_for_lines(mark):
    cell = f"# a{mark}# b\r\n{ANSWER}"
    names = run(cell)
    assert names["attention"](1, 2, 3) == 1
    shown = parse("a.py", f"x = '{mark}' # b\ny = (".replace("\r", "").encode()).fault.said
    assert shown.split("\n")[0] == "y = ("


def test_a_function_s_text_is_found_after_a_form_feed():
    servant = Servant()
    servant.load(f"# a\x0cb\n{ANSWER}", "a.py")
    assert inspect.getsource(servant.module.softmax) == "def softmax(x): return x\n"


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
    for name in ("notes.py", "more.py"):
        (tmp_path / name).write_text("x = 1\n")
    fault = Entry(tmp_path).find(EX01).fault
    assert fault.cause == "missing"
    assert "notes.py" in fault.text.en
    assert "more.py、notes.py" in fault.text.zh


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
    assert "larger than 1 MiB" in entries(tmp_path)[0].find(EX01).fault.text.en


def test_a_zip_is_read_only_by_methods_whose_output_has_a_bound(tmp_path, monkeypatch):
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(tmp_path / "alice.zip", "w", method) as archive:
            archive.writestr(EX01.path.name, ANSWER)
        with monkeypatch.context() as patch:
            patch.setattr(zipfile, "_get_decompressor", None)
            assert "pack the files anew" in entries(tmp_path)[0].find(EX01).fault.text.en


def test_a_broken_member_is_the_fault_of_its_exercise_alone(tmp_path):
    path = tmp_path / "alice.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(EX01.path.name, ANSWER)
        archive.writestr(EX02.path.name, ANSWER)
    data, start = bytearray(path.read_bytes()), 30 + len(EX01.path.name)
    data[start : start + 20] = b"\xff" * 20  # no deflate stream
    path.write_bytes(data)
    (entry,) = entries(tmp_path)
    assert entry.find(EX01).fault.text.en.startswith(f"{EX01.path.name} cannot be unpacked")
    assert entry.find(EX02).source == ANSWER


def test_memory_that_an_archive_asks_for_is_its_fault(tmp_path, monkeypatch):
    def too_much(*_):
        raise MemoryError

    (tmp_path / "alice.zip").write_bytes(b"PK")
    monkeypatch.setattr(zipfile, "ZipFile", too_much)
    assert entries(tmp_path)[0].find(EX01).fault.cause == "unreadable"


def test_archives_and_cases_of_any_kind_are_students(tmp_path):
    for name in ("fran.ZIP", "hugo/Homework.zip"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(f"work/{EX01.path.name}", ANSWER)
    (tmp_path / "anna.PY").write_text(ANSWER)
    (tmp_path / "gina.tar.gz").write_bytes(b"")
    (tmp_path / "ines").mkdir()
    (tmp_path / "ines" / "work.rar").write_bytes(b"")
    (tmp_path / "ines" / "ex03.docx").write_bytes(b"")
    (tmp_path / "letter.docx").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe.zip")
    found = {entry.student: entry.find(EX01) for entry in entries(tmp_path)}
    assert sorted(found) == ["anna", "fran", "gina", "hugo", "ines"]
    assert found["anna"].source == found["fran"].source == found["hugo"].source == ANSWER
    for student, name in (("gina", "gina.tar.gz"), ("ines", "work.rar")):
        assert found[student].fault.text.en.startswith(f"{name} cannot be unpacked: pack the files anew")
    assert ignored(tmp_path) == ["letter.docx", "pipe.zip"]


def test_what_is_no_answer_is_said_to_be_ignored(tmp_path):
    (tmp_path / "ex01.docx").write_bytes(b"")
    assert "Not read: ex01.docx." in Entry(tmp_path).find(EX01).fault.text.en


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "work.zip")
    (tmp_path / "work.py").write_text(ANSWER)
    assert Entry(tmp_path).find(EX01).source == ANSWER


@pytest.mark.parametrize("library", ["env", "venv", "stuff/site-packages", "node_modules", "a"])
def test_many_other_files_do_not_hide_the_answer(tmp_path, library, monkeypatch):
    monkeypatch.setattr(entries_module, "MOST_FILES", 5)
    names = [f"{library}/lib{number}.py" for number in range(9)] + [f"work/deep/{EX01.path.name}"]
    with zipfile.ZipFile(tmp_path / "alice.zip", "w") as archive:
        for name in names:
            archive.writestr(name, ANSWER)
            (tmp_path / "bob" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "bob" / name).write_text(ANSWER)
    for entry in entries(tmp_path):
        assert entry.find(EX01).filename == EX01.path.name
        assert len(entry.ignored) == (5 if library == "a" else 0)


def test_a_student_has_a_limit_in_all(tmp_path, monkeypatch):
    for name, limit in (("MOST_SOURCE", 2 * len(ANSWER)), ("MOST_BYTES", 2 * len(ANSWER))):
        monkeypatch.setattr(entries_module, name, limit)
        for number in range(1, 9):
            (tmp_path / f"ex{number}.py").write_text(ANSWER)
        entry = Entry(tmp_path)
        assert len(entry.files) == 3
        assert "Not read: ex4.py, ex5.py" in entry.find(EXERCISES[7]).fault.text.en
        monkeypatch.undo()


def test_each_file_is_parsed_once_for_all_exercises(tmp_path, monkeypatch):
    (tmp_path / "work.py").write_text("x = 1\n")
    (tmp_path / "work.ipynb").write_text(notebook("x = 1\n"))
    entry, calls = Entry(tmp_path), []
    for exercise in EXERCISES[:2]:
        entry.find(exercise)
    monkeypatch.setattr(submission, "tree", calls.append)
    for exercise in EXERCISES[2:]:
        assert entry.find(exercise).fault.cause == "missing"
    assert not calls


def test_folders_without_end_end_somewhere(tmp_path, monkeypatch):
    (tmp_path / "work.py").write_text(ANSWER)
    monkeypatch.chdir(tmp_path)
    depth = range(1200)  # more than Python may recurse
    for _ in depth:
        os.mkdir("d")
        os.chdir("d")
    try:
        assert Entry(tmp_path).find(EX01).source == ANSWER
    finally:
        for _ in depth:
            os.chdir("..")
            os.rmdir("d")


def test_a_folder_that_cannot_be_opened_is_said(tmp_path, monkeypatch):
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    (tmp_path / "secret").mkdir()
    (tmp_path / "notes.py").write_text("x = 1\n")
    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(os, "listdir", refuse)
    text = Entry(tmp_path).find(EX01).fault.text.en
    assert "Found: notes.py. Not read: secret." in text


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
