import json
import re

import numpy as np
import pytest

from keras_attention.cli import main

MEASURES = {
    "bleu",
    "bleu_signature",
    "chrf",
    "loss",
    "perplexity",
    "alignment_accuracy",
    "alignment_error_rate",
}
TRAINING = {"target_tokens_per_second", "train_seconds", "epochs", "parameters"}
SMALL = [
    "--preset",
    "toy",
    "--epochs",
    "2",
    "--units",
    "8",
    "--embedding",
    "6",
    "--batch",
    "12",
    "--beam",
    "2",
    "--json",
]


def run(*args):
    """The exit status of the command line."""
    with pytest.raises(SystemExit) as end:
        main(["translate", *map(str, args)])
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
    path = tmp_path_factory.mktemp("data") / "en-fr.tsv"
    english, french = (
        ["red", "big", "cat", "dog", "sees", "likes"],
        ["rouge", "gros", "chat", "chien", "voit", "aime"],
    )
    rng = np.random.default_rng(0)
    rows = {tuple(rng.integers(0, 6, 4)): None for _ in range(60)}
    lines = [f"{' '.join(english[i] for i in r)}\t{' '.join(french[i] for i in r)}" for r in list(rows)[:40]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
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
    lines = printed.splitlines()
    assert "36 training, 2 validation and 2 test pairs" in printed
    values = json.loads(lines[-1])
    assert set(values) >= MEASURES | TRAINING
    assert values["epochs"] == 2
    assert 0 < values["loss"] < 5
    assert values["perplexity"] == pytest.approx(np.exp(values["loss"]))
    assert values["alignment_accuracy"] is None
    assert values["target_tokens_per_second"] > 0
    assert str(out) in lines[-2]


def test_a_transformer_is_trained_measured_and_used(data, capsys, tmp_path):
    out, plot = tmp_path / "transformer.keras", tmp_path / "plot.png"
    small = ["--preset", "toy", "--epochs", 1, "--layers", 1, "--heads", 2, "--hidden", 8, "--embedding", 8]
    own = [
        "--model",
        "transformer",
        "--positions",
        "rotary",
        "--precision",
        "mixed_bfloat16",
        "--warmup",
        5,
        "--batch-tokens",
        30,
    ]
    own += ["--beam", 2, "--json"]
    assert run("train", "--data", data, "--out", out, *small, *own) == 0
    printed = capsys.readouterr().out
    assert "Which attention does what" in printed
    values = json.loads(printed.splitlines()[-1])
    assert set(values) >= MEASURES | TRAINING
    kinds = [(row["attention"], row["layer"], row["head"]) for row in values["heads"]]
    assert kinds == [(kind, 1, head) for kind in ("encoder", "decoder", "cross") for head in (1, 2)]
    assert run("evaluate", out, "--data", data, "--beam", 2, "--json") == 0
    assert results(capsys)["heads"] == values["heads"]
    assert run("run", out, "red cat sees dog", "--plot", plot) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_train_and_evaluate_with_streamed_pairs(data, capsys, tmp_path):
    out = tmp_path / "model.keras"
    assert run("train", "--data", data, "--out", out, "--stream", *SMALL, "--epochs", 1) == 0
    printed = capsys.readouterr().out
    assert "36 training, 2 validation and 2 test pairs" in printed
    values = json.loads(printed.splitlines()[-1])
    assert values["epochs"] == 1
    assert run("evaluate", out, "--data", data, "--stream", "--beam", 2, "--json") == 0
    assert results(capsys)["loss"] == pytest.approx(values["loss"], rel=1e-5)
    message = error(capsys, "evaluate", out, "--data", data, "--stream", "--split", "train")
    assert "measure another split" in message
    message = error(capsys, "train", "--data", "toy:en-fr", "--out", out, "--stream")
    assert "toy:en-fr cannot be streamed" in message


def test_options_of_the_other_translator_are_errors(data, capsys, tmp_path):
    train = ("train", "--data", data, "--out", tmp_path / "model.keras")
    assert "are options of --model transformer" in error(capsys, *train, "--layers", 2)
    message = error(capsys, *train, "--model", "transformer", "--units", 8)
    assert "--units are options of --model recurrent" in message


def test_evaluate_repeats_the_measures_of_training(trained, data, capsys):
    out, printed = trained
    assert run("evaluate", out, "--data", data, "--beam", 2, "--json") == 0
    values, expected = results(capsys), json.loads(printed.splitlines()[-1])
    assert set(values) >= MEASURES
    for name in ("bleu", "chrf", "loss", "parameters"):
        assert values[name] == pytest.approx(expected[name], rel=1e-5), name


def test_evaluate_has_the_keys_of_train(model, data, capsys):
    assert run("evaluate", model, "--data", data, "--beam", 2, "--json") == 0
    assert set(results(capsys)) >= MEASURES | TRAINING


def test_run_prints_a_line_a_sentence(model, capsys, tmp_path):
    plot = tmp_path / "plot.png"
    sentences = ["red cat sees dog", "big unicorn"]
    assert run("run", model, *sentences, "--beam", 2, "--plot", plot, "--json") == 0
    lines = capsys.readouterr().out.splitlines()
    values = json.loads(lines[-1])["translations"]
    assert [row["text"] for row in values] == lines[:2]
    assert values[1]["source_tokens"] == ["big", "unicorn"]
    for row in values:
        assert row["tokens"]
        assert np.shape(row["attention"]) == (len(row["tokens"]), len(row["source_tokens"]))
        assert row["score"] < 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert b"Heat map of attention weights" in plot.read_bytes()


def test_run_writes_a_page_to_explore(model, capsys, tmp_path):
    page = tmp_path / "page.html"
    assert run("run", model, "red cat sees dog", "big dog", "--beam", 2, "--html", page) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert str(page) in lines[2]
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"))
    records = json.loads(found[1])["records"]
    assert [record["title"] for record in records] == lines[:2]
    assert [record["layers"][0]["keys"] for record in records] == [
        ["red", "cat", "sees", "dog"],
        ["big", "dog"],
    ]
    assert "must end in .html" in error(capsys, "run", model, "red", "--html", tmp_path / "page.png")


def test_run_reads_standard_input(model, capsys, monkeypatch):
    from io import StringIO

    monkeypatch.setattr("sys.stdin", StringIO("red cat sees dog\nbig unicorn\n"))
    assert run("run", model, "--beam", 2) == 0
    piped = capsys.readouterr().out
    assert run("run", model, "--beam", 2, "red cat sees dog", "big unicorn") == 0
    assert capsys.readouterr().out == piped
    assert len(piped.splitlines()) == 2


def test_no_sentence(model, capsys, monkeypatch):
    from io import StringIO

    monkeypatch.setattr("sys.stdin", StringIO(""))
    assert "no sentence to translate" in error(capsys, "run", model)


def test_a_plot_needs_attention(capsys, tmp_path, monkeypatch):
    from types import SimpleNamespace

    import keras_attention.models

    blind = SimpleNamespace(
        options={"attention": "none"}, translate=lambda texts, beam_width: [SimpleNamespace(text="le chat")]
    )
    monkeypatch.setattr(keras_attention.models, "load_model", lambda path: blind)
    for option, name in (("--plot", "plot.png"), ("--html", "page.html")):
        message = error(capsys, "run", "blind.keras", "the cat", option, tmp_path / name)
        assert "trained without attention, so there is nothing to plot" in message
    assert not list(tmp_path.iterdir())


def test_errors_of_train(data, capsys, tmp_path):
    out = tmp_path / "model.keras"
    assert "must end in .keras" in error(capsys, "train", "--data", data, "--out", tmp_path / "model.h5")
    message = error(capsys, "train", "--data", data, "--out", tmp_path / "no" / "model.keras")
    assert "There is no folder" in message
    assert "There is no file or folder" in error(capsys, "train", "--data", tmp_path / "no.tsv", "--out", out)
    message = error(capsys, "train", "--data", data, "--out", out, "--resume", *SMALL)
    assert "no interrupted training to resume" in message
    assert not list(tmp_path.iterdir())


def test_errors_of_evaluate_and_run(model, data, capsys, tmp_path):
    missing = tmp_path / "no.keras"
    assert f"There is no model {missing}" in error(capsys, "run", missing, "the cat")
    assert f"There is no model {missing}" in error(capsys, "evaluate", missing, "--data", data)
    assert "is not a .keras file" in error(capsys, "run", data, "the cat")
    assert "has no split 'test2016'" in error(
        capsys, "evaluate", model, "--data", data, "--split", "test2016"
    )


def test_wrong_usage(model, capsys):
    assert run("run", model, "the cat", "--beam", 0) == 2
    assert run("train", "--out", "x.keras") == 2
    assert run("train", "--data", "toy:en-fr", "--out", "x.keras", "--cell", "rnn") == 2
