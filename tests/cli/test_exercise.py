import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import keras_attention
from keras_attention.cli import main
from keras_attention.course.catalog import exercises
from keras_attention.course.stubs import without_docstrings

ROOT = Path(keras_attention.__file__).parents[1]
EX01, EX02, *_ = exercises()
RIGHT = """
import numpy as np
def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)
def attention(query, key, value):
    weights = softmax(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
    return weights @ value, weights
"""


@pytest.fixture
def space(tmp_path, monkeypatch):
    for exercise in exercises():
        shutil.copy(exercise.path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    def run(*args):
        with pytest.raises(SystemExit) as end:
            main(["exercise", *args])
        return end.value.code, capsys.readouterr().out

    return run


def last(output):
    return json.loads(output.splitlines()[-1])


def test_list_and_status_and_next(space, run):
    assert [e["name"] for e in last(run("list", "--json")[1])["exercises"]] == [e.name for e in exercises()]
    status = last(run("status", "--json")[1])
    assert (status["passed"], status["next"]) == (0, EX01.name)
    assert f"Next · 下一个: {EX01.name}" in run("status")[1]
    code, output = run("next", "--json")
    assert code == 0
    assert "softmax(Q Kᵀ / √d_k) V" in output
    assert last(output)["path"] == str(space / EX01.path.name)


def test_check_counts_points_and_goes_on(space, run):
    code, output = run("check", "--json")
    assert code == 1
    assert "It is not written yet." in output
    (space / EX01.path.name).write_text(RIGHT)
    code, output = run("check", "--json")
    assert code == 0
    (result,) = last(output)["exercises"]
    assert (result["points"], result["max_points"], result["passed"], result["attempts"]) == (6, 6, True, 2)
    assert "Compare with our solution" in output
    assert last(run("status", "--json")[1]) == {
        "passed": 1,
        "exercises": len(exercises()),
        "points": 6,
        "next": EX02.name,
    }
    assert "Compare with" not in run("check", "ex01")[1]
    longest = max(without_docstrings(EX01.solution.read_text(encoding="utf-8")).splitlines(), key=len)
    assert longest in output.splitlines()


def test_check_names_the_file_and_takes_one(space, run, capsys):
    assert str(space / EX01.path.name) in run("check", "ex01")[1]
    other = space / "elsewhere" / EX01.path.name
    other.parent.mkdir()
    other.write_text(RIGHT)
    code, output = run("check", str(other), "--json")
    assert code == 0
    assert last(output)["exercises"][0]["path"] == str(other)
    assert run("check", "ex01")[0] == 1
    with pytest.raises(SystemExit):
        main(["exercise", "check", "nowhere/ex01_scaled_dot_product_attention.py"])
    assert "There is no file nowhere" in capsys.readouterr().err


def test_check_says_the_diagnosis_first_and_in_the_language_asked_for(space, run):
    (space / EX01.path.name).write_text(RIGHT.replace(" / np.sqrt(query.shape[-1])", ""))
    code, output = run("check", "ex01", "--lang", "en")
    assert code == 1
    lines = [line.strip() for line in output.splitlines()]
    at = lines.index("✗ The weights are softmax(Q Kᵀ / √d_k), over the keys.  0/2")
    assert lines[at + 1].startswith("This equals attention without the 1/√d_k")
    assert lines[at + 2].startswith("weights has")
    chinese = run("check", "ex01", "--lang", "zh")[1]
    assert "结果等于没有除以 √d_k 的注意力" in chinese
    assert "This equals" not in chinese


def test_a_syntax_error_is_shown_once_with_its_place(space, run):
    (space / EX01.path.name).write_text("def attention(query, key, value)\n    return 1\n")
    code, output = run("check", "ex01", "--lang", "en")
    assert code == 1
    assert output.count("Line 1 is not valid Python: expected ':'") == 1
    lines = output.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip().startswith("def attention"))
    assert lines[at + 1].index("^") == lines[at].index(")") + 1


def test_three_hints_then_the_solution(space, run):
    (space / EX01.path.name).write_text("def softmax(x): return x\n")
    counts = [len(last(run("hint", "ex01", "--json")[1])["hints"]) for _ in range(4)]
    assert counts == [1, 2, 3, 3]
    _, output = run("hint", "ex01")
    assert "  hint · 提示 3/3: " in output
    assert "  The solution · 参考解答: keras-attention exercise hint ex01 --give-up" in output
    code, output = run("hint", "ex01", "--give-up", "--json")
    assert code == 0
    assert "powers / ops.sum" in last(output)["solution"]
    assert "SOLUTION" not in output.splitlines()[0]
    assert last(run("status", "--json")[1])["next"] == EX02.name


def test_reset_keeps_a_backup(space, run):
    (space / EX01.path.name).write_text(RIGHT)
    run("check", "ex01")
    backup = last(run("reset", "ex01", "--json")[1])["backup"]
    assert Path(backup).read_text() == RIGHT
    assert (space / EX01.path.name).read_text(encoding="utf-8") == EX01.stub
    assert last(run("status", "--json")[1])["passed"] == 0


def test_a_notebook_counts(space, run):
    import nbformat

    (space / EX01.path.name).unlink()
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(RIGHT), nbformat.v4.new_code_cell("1/0")]
    )
    (space / f"{EX01.name}.ipynb").write_text(nbformat.writes(book))
    assert run("check", "ex01")[0] == 0
    book.cells += [nbformat.v4.new_code_cell("best = [][0]"), nbformat.v4.new_code_cell("y = (")]
    path = space / f"{EX01.name}.ipynb"
    path.write_text(nbformat.writes(book))
    assert run("check", "ex01")[0] == run("check", str(path))[0] == 0


def test_errors_are_sentences(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["exercise", "list"])
    assert end.value.code == 1
    assert "There are no exercises in" in capsys.readouterr().err


def command(*args):
    return [sys.executable, "-m", "keras_attention", "exercise", *args]


def environment():
    return os.environ | {"PYTHONPATH": str(ROOT)}


def test_a_breakpoint_stops_in_the_learner_s_code(space):
    (space / EX01.path.name).write_text(RIGHT.replace("    weights =", "    breakpoint()\n    weights ="))
    done = subprocess.run(
        command("check", "ex01"),
        input="p 'shape', query.shape\nc\nc\nc\nc\n",
        capture_output=True,
        text=True,
        cwd=space,
        env=environment(),
        check=False,
    )
    assert "('shape', (2, 3, 7))" in done.stdout
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks")
def test_watch_checks_what_is_saved_and_lends_its_keras(space):
    process = subprocess.Popen(
        command("watch", "--lang", "en", "--json"),
        stdout=subprocess.PIPE,
        text=True,
        cwd=space,
        env=environment() | {"PYTHONUNBUFFERED": "1"},
    )
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
    reader.start()

    def wait_for(text):
        deadline = time.monotonic() + 120
        while not any(text in line for line in lines):
            assert time.monotonic() < deadline, lines
            time.sleep(0.1)

    try:
        wait_for("Watching")
        time.sleep(1)
        (space / EX01.path.name).write_text(RIGHT.replace(".max(", ".min("))
        wait_for('"points"')
        solution = EX02.solution.read_text(encoding="utf-8")
        (space / EX02.path.name).write_text(f"{solution}\nprint('from my file')\n", encoding="utf-8")
        done = subprocess.run(
            [*command("check", "ex02", "--json")],
            capture_output=True,
            text=True,
            cwd=space,
            env=environment(),
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "absl" not in done.stderr
        assert "Your code printed · 你的代码输出:\n  from my file\n" in done.stdout
        assert json.loads(done.stdout.splitlines()[-1])["exercises"][0]["printed"] == "from my file\n"
    finally:
        process.terminate()
        process.wait(30)
        reader.join(30)
        process.stdout.close()
