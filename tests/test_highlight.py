import doctest
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from types import SimpleNamespace

import pytest

from keras_attention import highlight
from keras_attention.highlight import highlight_html, highlight_text, ink, luminance, pieces, shade

TEXT = "The soup wasn't good, <b> & 汤很好喝。"
SPANS = [(0, 3), (4, 8), (9, 15), (16, 20), (20, 21), (22, 25), (26, 27), (28, 29), (29, 32)]
WEIGHTS = [0.004, 0.05, 0.3, 0.45, 0.0, 0.046, 0.05, 0.05, 0.05]


def prediction(**change):
    return SimpleNamespace(
        **{"text": TEXT, "label": "a<b", "probability": 0.875, "spans": SPANS, "weights": WEIGHTS, **change}
    )


def body(*predictions):
    return ET.fromstring(
        highlight_html(predictions)
        .removeprefix("<!DOCTYPE html>\n")
        .replace("\n<meta", "\n<!--x--><meta")
        .replace('charset="utf-8">', 'charset="utf-8"/>')
        .replace('scale=1">', 'scale=1"/>')
        .replace("inline'\">", "inline'\"/>")
    )


def test_pieces_are_the_whole_text():
    found = list(pieces(TEXT, SPANS, WEIGHTS))
    assert "".join(piece for piece, _ in found) == TEXT
    assert [weight for _, weight in found if weight is not None] == WEIGHTS
    assert found[:4] == [("The", 0.004), (" ", None), ("soup", 0.05), (" ", None)]
    with pytest.raises(ValueError, match="2 tokens but 1 weights"):
        list(pieces("a b", [(0, 1), (2, 3)], [1.0]))


def test_shades_get_darker_with_the_weight_and_the_ink_can_be_read():
    shades = [shade(weight, 0.5) for weight in (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.9)]
    brightness = [luminance(colour) for colour in shades]
    assert brightness == sorted(brightness, reverse=True)
    assert brightness[0] == pytest.approx(1)
    assert shades[-1] == shades[-2]
    for step in range(101):
        colour = shade(step / 100, 1)
        light, dark = sorted([luminance(colour), 0.0 if ink(colour) == "#000000" else 1.0], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5  # WCAG AA
    assert shade(0.0, 0.0) == (255, 255, 255)


def test_shades_differ_without_colour_vision():
    """Red–green blindness leaves brightness and blue; the steps must differ in brightness alone."""
    brightness = [luminance(shade(step / 5, 1)) for step in range(6)]
    assert all((a + 0.05) / (b + 0.05) > 1.25 for a, b in pairwise(brightness))


def test_terminal():
    text = highlight_text(TEXT, SPANS, WEIGHTS)
    assert re.sub(r"\(0\.\d\d\)", "", text.plain) == TEXT
    assert "wasn't(0.30) good(0.45), <b> &(0.05)" in text.plain
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert styles["good"].endswith(f"on #{bytes(shade(1, 1)).hex()}")
    assert "The" not in styles


def test_html():
    page = body(prediction())
    article = page.find("body/article")
    assert article.find("h2").text == "a<b · 87.5 %"
    words = article.findall("p/ruby")
    assert [word.find("span").text for word in words] == [TEXT[a:b] for a, b in SPANS]
    assert [word.find("rt").text for word in words] == [None, "5", "30", "45", None, "5", "5", "5", "5"]
    colours = [re.search("background:(#.{6})", word.find("span").get("style"))[1] for word in words]
    assert colours[3] == f"#{bytes(shade(1, 1)).hex()}"
    assert colours[4] == "#ffffff"
    for number in article.iter("rt"):
        number.text = None
    assert "".join(article.find("p").itertext()) == TEXT
    assert article.find("p").get("lang") == "zh"


def test_html_of_texts_that_try_to_leave_their_place():
    evil = '</p><script>alert("x")</script>'
    source = highlight_html([prediction(text=evil, label=evil, spans=[(0, len(evil))], weights=[1.0])], evil)
    assert "<script" not in source
    assert "http" not in source.replace("http-equiv", "")
    page = body(prediction(text=evil, spans=[(0, len(evil))], weights=[1.0]))
    assert page.find("body/article/p/ruby/span").text == evil
    assert page.find("body/article/p").get("lang") is None


def test_several_texts():
    page = body(prediction(), prediction(text="好", spans=[(0, 1)], weights=[1.0]))
    assert len(page.findall("body/article")) == 2


def test_one_weight_for_each_token():
    with pytest.raises(ValueError, match="9 tokens but 8 weights"):
        highlight_text(TEXT, SPANS, WEIGHTS[1:])
    with pytest.raises(ValueError, match="9 tokens but 8 weights"):
        highlight_html([prediction(weights=WEIGHTS[1:])])


def test_the_examples_of_the_docstrings_run():
    result = doctest.testmod(highlight)
    assert (result.attempted, result.failed) == (1, 0)
