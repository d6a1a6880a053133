import base64
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from keras_attention.plotting import AttentionLayer, AttentionRecord, explore
from keras_attention.plotting.explorer import page

HERE = page.HERE
TEXTS = json.loads((HERE / "texts.json").read_text(encoding="utf-8"))
SCRIPT = "".join((HERE / f"{name}.js").read_text(encoding="utf-8") for name in page.SCRIPTS)
TEMPLATE = (HERE / "page.html").read_text(encoding="utf-8")


def test_weights_arrive_as_half_floats_with_their_masks(record, parsed):
    mask = np.random.default_rng(1).random((4, 5)) < 0.7
    mask[:, 0] = True
    records = [record(3, 1, mask=mask), record(2, seed=5)]
    weights, masked = parsed(explore(*records).html).weights()
    layers = [layer for each in records for layer in each.layers]
    expected = np.concatenate([layer.weights.ravel() for layer in layers])
    np.testing.assert_array_equal(weights, expected.astype(np.float16))
    np.testing.assert_allclose(weights, expected, rtol=2**-11, atol=2**-25)
    np.testing.assert_array_equal(~masked, np.concatenate([layer.mask.ravel() for layer in layers]))


def test_the_rest_arrives_as_json(record, parsed):
    gold = np.eye(4, 5, dtype=bool)
    data = parsed(explore(record(3, gold=gold, title="one"), language="zh").html).data
    assert data["language"] == "zh"
    (one,) = data["records"]
    assert (one["title"], one["moments"]) == ("one", [""])
    assert one["layers"][0] == {
        "name": "a",
        "shape": [1, 3, 4, 5],
        "queries": ["le", "chat", "noir", "dort"],
        "keys": ["the", "black", "cat", "sleeps", "."],
        "gold": [[0, 0], [1, 1], [2, 2], [3, 3]],
    }


def test_a_token_is_never_a_tag(parsed, record):
    tokens = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", "&lt;", '"']
    layer = AttentionLayer("<b>", np.full((5, 5), 0.2), tokens, tokens)
    nasty = parsed(explore(AttentionRecord([layer], "<i>"), title="</title><img>").html)
    plain = parsed(explore(record()).html)
    assert [tag for tag, _ in nasty.tags] == [tag for tag, _ in plain.tags]
    assert nasty.data["records"][0]["layers"][0]["keys"][3:] == ["&lt;", '"']
    assert nasty.data["records"][0]["layers"][0]["name"] == "<b>"


def test_unseen_tokens_get_signs(parsed):
    tokens = ["", " a", "\n", "\u202e", "\ud800"]
    page = explore(AttentionRecord([AttentionLayer("a", np.full((1, 5), 0.2), ["x"], tokens)]))
    assert parsed(page.html).data["records"][0]["layers"][0]["keys"] == ["∅", "␣a", "⏎", "\\u202e", "\\ud800"]


def test_the_page_names_no_address(record):
    text = explore(record(2)).html
    assert "://" not in text
    assert not re.search(r"\b(?:src|href)=(?!\"data:)", text)


def test_the_policy_allows_this_script_and_style_alone(record, parsed):
    found = parsed(explore(record()).html)
    policy = next(a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    hashes = [
        base64.b64encode(hashlib.sha256(found.texts[name].encode()).digest()).decode()
        for name in ("style", "module")
    ]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:"
    )


def test_twelve_layers_of_twelve_heads_stay_below_a_megabyte_and_a_half(softmax):
    tokens = [f"token{i}" for i in range(64)]
    weights = softmax(12, 12, 64, 64)
    layers = [AttentionLayer(f"layer {i}", layer, tokens, tokens) for i, layer in enumerate(weights)]
    assert len(explore(AttentionRecord(layers)).html.encode()) < 1_500_000


def test_equal_records_make_equal_pages(record):
    assert explore(record(2)).html == explore(record(2)).html
    assert explore(record(2)).html != explore(record(2, seed=1)).html


def test_save_writes_the_page(record, tmp_path):
    view = explore(record())
    path = view.save(str(tmp_path / "page.html"))
    assert path.read_text(encoding="utf-8") == view.html
    with pytest.raises(ValueError, match=r"must end in \.html"):
        view.save(tmp_path / "page.png")


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(record, parsed):
    view = explore(record())
    ((tag, attributes),) = parsed(view._repr_html_()).tags
    assert tag == "iframe"
    assert attributes["srcdoc"] == view.html
    assert attributes["sandbox"] == "allow-scripts"
    assert attributes["title"]


def test_the_title_and_language_are_in_the_page(record, parsed):
    found = parsed(explore(record(), title="我 & du", language="zh").html)
    assert found.texts["title"] == "我 & du"
    assert dict(found.tags)["html"]["lang"] == "zh"
    with pytest.raises(ValueError, match="language is 'fr'"):
        explore(record(), language="fr")


def test_what_cannot_be_weights_is_noticed(softmax):
    weights = softmax(2, 4, 5)
    weights[1, 2] *= 2
    layer = AttentionLayer("a", weights, list("abcd"), list("vwxyz"))
    with pytest.warns(UserWarning, match=r"row 2 do not sum to 1 \(the first to 2\.00\)") as caught:
        explore(AttentionRecord([layer]))
    assert caught[0].filename == __file__
    explore(AttentionRecord([layer]), check=False)


def test_every_text_is_said_in_both_languages_and_used():
    used = set(re.findall(r'(?:say\(|data-text=)\s*"(\w+)"', SCRIPT + TEMPLATE))
    used |= {key for key in TEXTS if f'"{key}"' in SCRIPT}
    assert set(TEXTS) == used
    for key, text in TEXTS.items():
        assert set(text) == {"en", "zh"}, key
        holes = [sorted(set(re.findall(r"\{\d\}", words))) for words in text.values()]
        assert holes[0] == holes[1], key


def test_every_script_is_in_the_page():
    assert {path.stem for path in Path(HERE).glob("*.js")} == set(page.SCRIPTS)
