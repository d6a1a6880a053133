import json
import re

import numpy as np
import pytest

from keras_attention.cli import main

MEASURES = {"accuracy", "macro_f1", "baseline_accuracy", "rationale_precision", "loss", "faithfulness"}
TRAINING = {"texts_per_second", "train_seconds", "epochs", "parameters"}
SMALL = ["--epochs", "2", "--units", "4", "--embedding", "8", "--batch", "20", "--json"]


def run(*args):
    """The exit status of the command line."""
    with pytest.raises(SystemExit) as end:
        main(["classify", *map(str, args)])
    return end.value.code


def results(capsys):
    """The JSON of the last line."""
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def error(capsys, *args):
    """The one sentence of a run that fails."""
    assert run(*args) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("Error: ")
    return lines[0]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "colours.csv"
    rng = np.random.default_rng(0)
    words = ["the", "cat", "汤", "sees", "a", "bird"]
    rows = {" ".join([*rng.choice(words, 4), *rng.permutation(["red", "x"])]): "warm" for _ in range(60)}
    rows |= {text.replace("red", "blue"): "cold" for text in rows}
    lines = [f'{label},"{text}, {i}"' for i, (text, label) in enumerate(rows.items())]
    path.write_text("label,text\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """A model's file, and what was printed when it was trained."""
    from contextlib import redirect_stdout
    from io import StringIO

    out = tmp_path_factory.mktemp("model") / "model.keras"
    with redirect_stdout(StringIO()) as printed:
        assert run("train", "--data", data, "--out", out, *SMALL) == 0
    return out, printed.getvalue()


@pytest.fixture(scope="module")
def model(trained):
    return trained[0]


def test_train_saves_a_model_and_reports(trained):
    out, printed = trained
    assert [path.name for path in out.parent.iterdir()] == ["model.keras"]
    assert "validation and 12 test texts; 2 classes" in printed
    values = json.loads(printed.splitlines()[-1])
    assert set(values) >= MEASURES | TRAINING
    assert values["epochs"] == 2
    assert values["rationale_precision"] is None
    assert values["baseline_accuracy"]["majority"] == 0.5
    assert values["baseline_accuracy"]["bag_of_words"] == 1
    assert 0 <= values["baseline_accuracy"]["mean_pooling"] <= 1
    assert "logistic regression on a bag of words (1.000)" in printed or values["accuracy"] == 1
    assert str(out) in printed.splitlines()[-2]


def test_evaluate_repeats_the_measures_of_training(trained, data, capsys):
    out, printed = trained
    assert run("evaluate", out, "--data", data, "--json") == 0
    values, expected = results(capsys), json.loads(printed.splitlines()[-1])
    assert set(values) == set(expected)
    for name in ("accuracy", "macro_f1", "loss", "parameters"):
        assert values[name] == pytest.approx(expected[name], rel=1e-5), name
    assert values["baseline_accuracy"] == expected["baseline_accuracy"]


def test_evaluate_on_other_texts(model, tmp_path, capsys):
    other = tmp_path / "new.test.tsv"
    other.write_text("warm\tred bird\ncold\ta blue cat\nwarm\ta red cat\n")
    assert run("evaluate", model, "--data", other, "--json") == 0
    values = results(capsys)
    assert values["accuracy"] in (0, pytest.approx(1 / 3), pytest.approx(2 / 3), 1)
    assert values["baseline_accuracy"] == {"mean_pooling": None}
    assert values["faithfulness"]["texts"] == 3


def test_run_prints_a_line_a_text(model, capsys, tmp_path):
    page, plot = tmp_path / "page.html", tmp_path / "plot.png"
    texts = ["a Red bird", "汤 blue <b>[red]"]
    assert run("run", model, *texts, "--plot", plot, "--html", page, "--json") == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    lines = capsys.readouterr().out.splitlines()
    values = json.loads(lines[-1])["predictions"]
    for line, row, text in zip(lines, values, texts, strict=False):
        label, probability, shaded = line.split("\t")
        assert (label, float(probability)) == (row["label"], pytest.approx(row["probability"], abs=1e-3))
        assert re.sub(r"\(\d\.\d\d\)", "", shaded) == text
        assert row["text"] == text
        assert len(row["tokens"]) == len(row["weights"]) == len(row["spans"])
        assert sum(row["weights"]) == pytest.approx(1, abs=1e-5)
        assert set(row["probabilities"]) == {"warm", "cold"}
    assert values[0]["tokens"] == ["a", "red", "bird"]
    source = page.read_text(encoding="utf-8")
    assert "&lt;" in source
    assert ">Red<" in source


def test_run_reads_standard_input(model, capsys, monkeypatch):
    from io import StringIO

    monkeypatch.setattr("sys.stdin", StringIO("a red bird\nblue\n"))
    assert run("run", model) == 0
    piped = capsys.readouterr().out
    assert run("run", model, "a red bird", "blue") == 0
    assert capsys.readouterr().out == piped
    monkeypatch.setattr("sys.stdin", StringIO(""))
    assert "no text to classify" in error(capsys, "run", model)


def test_errors_of_train(data, capsys, tmp_path):
    out = tmp_path / "model.keras"
    assert "must end in .keras" in error(capsys, "train", "--data", data, "--out", tmp_path / "model.h5")
    assert "There is no file" in error(capsys, "train", "--data", tmp_path / "no.tsv", "--out", out)
    message = error(capsys, "train", "--data", data, "--out", out, "--label-column", "stars")
    assert "no column 'stars'; its first line is label, text" in message
    message = error(capsys, "train", "--data", data, "--out", out, "--resume", *SMALL)
    assert "no interrupted training to resume" in message
    one = tmp_path / "one.tsv"
    one.write_text("x\ta\nx\tb\n")
    assert "a classifier needs at least two classes" in error(capsys, "train", "--data", one, "--out", out)
    alone = tmp_path / "x.test.tsv"
    alone.write_text("x\ta\ny\tb\n")
    assert "has no split 'train'" in error(capsys, "train", "--data", alone, "--out", out)
    assert not out.exists()


def test_errors_of_evaluate_and_run(model, data, capsys, tmp_path):
    missing = tmp_path / "no.keras"
    assert f"There is no model {missing}" in error(capsys, "run", missing, "the cat")
    assert "is not a .keras file" in error(capsys, "run", data, "the cat")
    assert "Text 1 is empty" in error(capsys, "run", model, "the cat", " ")
    assert "must end in .html" in error(capsys, "run", model, "the cat", "--html", tmp_path / "page.txt")
    assert "There is no folder" in error(capsys, "run", model, "a", "--html", tmp_path / "no" / "page.html")
    other = tmp_path / "new.test.tsv"
    other.write_text("hot\tred bird\n")
    assert "no class 'hot' among" in error(capsys, "evaluate", model, "--data", other)
    assert "no split 'extra'" in error(capsys, "evaluate", model, "--data", data, "--split", "extra")


def test_a_classifier_does_not_translate(model, capsys):
    with pytest.raises(SystemExit) as end:
        main(["translate", "run", str(model), "the cat"])
    assert end.value.code == 1
    assert "holds a classifier; use it with: keras-attention classify" in capsys.readouterr().err


def test_wrong_usage(model):
    assert run("train", "--out", "x.keras") == 2
    assert run("train", "--data", "toy:reviews-en", "--out", "x.keras", "--pooling", "sum") == 2
