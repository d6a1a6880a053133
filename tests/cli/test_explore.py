import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

import keras_attention.models
from keras_attention.cli import main
from keras_attention.models import Prediction, Translation

SOURCE = ["the", "black", "cat"]


def run(*args):
    """The exit status of the command line."""
    with pytest.raises(SystemExit) as end:
        main(["explore", *map(str, args)])
    return end.value.code


def error(capsys, *args):
    assert run(*args) == 1
    (line,) = capsys.readouterr().err.splitlines()
    return line


def records(path):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8"))
    return json.loads(found[1])["records"]


def uniform(*shape):
    return np.full(shape, 1 / shape[-1])


def translator(words, **options):
    def translate(texts, beam_width, all_heads=False):
        heads = {"encoder": uniform(2, 3, 3, 3)} if all_heads else None
        return [
            SimpleNamespace(
                text=" ".join(words),
                tokens=words,
                score=0.0,
                attention=uniform(len(words), 3),
                source_tokens=SOURCE,
                heads=heads,
            )
            for _ in texts
        ]

    return SimpleNamespace(options=options, translate=translate)


def predict_text(texts):
    spans = [(0, 3), (4, 9), (10, 13)]
    return [
        Prediction(t, "calm", 0.9, SOURCE, uniform(3), {"calm": 0.9}, spans, uniform(2, 3)) for t in texts
    ]


MODELS = {
    "recurrent.keras": translator(["le", "chat"], attention="bahdanau"),
    "other.keras": translator(["un", "chat", "noir"], attention="bahdanau"),
    "transformer.keras": translator(["le", "chat"], num_heads=3),
    "blind.keras": translator(["le", "chat"], attention="none"),
    "classifier.keras": SimpleNamespace(predict_text=predict_text),
}


@pytest.fixture(autouse=True)
def _models(monkeypatch):
    monkeypatch.setattr(keras_attention.models, "load_model", lambda path: MODELS[path.name])


def test_a_sentence_becomes_a_page(tmp_path, capsys):
    out = tmp_path / "page.html"
    assert run("recurrent.keras", "the black cat", "--out", out) == 0
    assert str(out) in capsys.readouterr().out
    assert "<title>the black cat</title>" in out.read_text("utf-8")
    (record,) = records(out)
    assert record["title"] == "le chat"
    assert [layer["keys"] for layer in record["layers"]] == [SOURCE]


def test_the_last_line_can_be_read_by_programs(tmp_path, capsys):
    out = tmp_path / "page.html"
    assert run("recurrent.keras", "the black cat", "--out", out, "--json") == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last == {"page": str(out.resolve()), "records": ["le chat"]}


def test_a_transformer_shows_all_its_heads(tmp_path):
    out = tmp_path / "page.html"
    assert run("transformer.keras", "the black cat", "--out", out) == 0
    layers = [(layer["name"], layer["shape"]) for layer in records(out)[0]["layers"]]
    assert layers == [("alignment", [1, 1, 2, 3]), ("encoder 1", [1, 3, 3, 3]), ("encoder 2", [1, 3, 3, 3])]


def test_a_classifier_shows_what_it_pools(tmp_path):
    out = tmp_path / "page.html"
    assert run("classifier.keras", "the black cat", "--out", out) == 0
    (layer,) = records(out)[0]["layers"]
    assert (layer["queries"], layer["shape"]) == (["calm"], [1, 2, 1, 3])


def test_two_models_are_set_beside_each_other(tmp_path):
    out = tmp_path / "page.html"
    assert run("recurrent.keras", "a", "b", "--out", out, "--compare", "other.keras") == 0
    titles = [record["title"] for record in records(out)]
    assert titles == ["recurrent: le chat"] * 2 + ["other: un chat noir"] * 2


def test_errors(tmp_path, capsys):
    out = tmp_path / "page.html"
    assert "must end in .html" in error(capsys, "recurrent.keras", "a", "--out", tmp_path / "page.png")
    assert "There is no folder" in error(capsys, "recurrent.keras", "a", "--out", tmp_path / "no" / "a.html")
    assert "trained without attention" in error(capsys, "blind.keras", "a", "--out", out)
    assert run("recurrent.keras", "--out", out) == 2
    assert run("recurrent.keras", "a") == 2
    assert not out.exists()


def test_the_fakes_are_like_the_real_ones():
    assert {*Translation._fields} <= vars(MODELS["recurrent.keras"].translate(["a"], 1)[0]).keys()
