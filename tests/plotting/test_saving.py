import io
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from keras_attention.plotting import describe_attention, plot_attention, plot_heads, save_figure

SOURCE, TARGET = ["the", "<b>&amp;</b>", "猫", "😀"], ["le", "\x00chat"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def ax(softmax):
    return plot_attention(softmax(2, 4), SOURCE, TARGET, "A <title> & more")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_png_holds_title_and_alt_text(ax, tmp_path, softmax, language):
    path = tmp_path / "attention.png"
    told = save_figure(ax, path, language=language)
    text = describe_attention(softmax(2, 4), SOURCE, TARGET, title="A <title> & more", language=language)
    assert told == text
    with Image.open(path) as image:
        assert image.text["Title"] == "A <title> & more"
        assert image.text["Description"] == text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_svg_holds_title_and_alt_text_for_screen_readers(ax, tmp_path, language):
    path = tmp_path / "attention.svg"
    told = save_figure(ax.figure, str(path), language=language)
    root = ET.parse(path).getroot()
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "A <title> & more"
    assert root.find(f"{SVG}desc").text == told
    elements = {child.tag.rsplit("}")[-1]: child.text for child in root.iter()}
    assert elements["description"] == told
    assert elements["language"] == language
    assert not root.findall(f".//{SVG}text")  # letters are outlines


def test_svg_is_the_same_each_time(softmax, tmp_path):
    for name in ("first.svg", "second.svg"):
        save_figure(plot_attention(softmax(2, 4), SOURCE, TARGET), tmp_path / name)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_pdf_holds_title_and_alt_text(softmax, tmp_path):
    ax = plot_attention(softmax(2, 3), ["a", "b", "c"], ["x", "y"], "A title")
    save_figure(ax, tmp_path / "attention.pdf", description="What it shows")
    content = (tmp_path / "attention.pdf").read_bytes()
    assert b"/Title (A title)" in content
    assert b"/Subject (What it shows)" in content


def test_other_formats_are_saved_without(ax, tmp_path):
    save_figure(ax, tmp_path / "attention.jpg")
    assert (tmp_path / "attention.jpg").stat().st_size > 1000


def test_words_and_options_may_be_given(ax, tmp_path):
    path = tmp_path / "attention.png"
    assert save_figure(ax, path, title="T", description="D", dpi=50) == "D"
    with Image.open(path) as image:
        assert image.text["Title"] == "T"
        assert image.text["Description"] == "D"
        np.testing.assert_allclose(image.size, ax.figure.get_size_inches() * 50, atol=1)


def test_figures_of_others_have_no_description(tmp_path):
    figure, _ = plt.subplots()
    assert save_figure(figure, tmp_path / "empty.svg") == ""
    assert ET.parse(tmp_path / "empty.svg").getroot().find(f"{SVG}title") is None


def test_all_heads_are_described(softmax, tmp_path):
    axes = plot_heads(softmax(2, 2, 4), SOURCE, TARGET, "two heads")
    told = save_figure(axes[0], tmp_path / "heads.png", dpi=30)
    assert "“head 1”" in told
    assert "“head 2”" in told
    with Image.open(tmp_path / "heads.png") as image:
        assert image.text["Title"] == "two heads · head 1 · head 2"


def test_an_unknown_format_is_refused(ax, tmp_path):
    with pytest.raises(ValueError, match="Format 'docx' is not supported"):
        save_figure(ax, tmp_path / "attention.docx")


def test_a_binary_file_is_a_png_unless_it_is_told_otherwise(ax):
    for options, beginning in (({}, b"\x89PNG"), ({"format": "svg"}, b"<?xml"), ({"format": "pdf"}, b"%PDF")):
        file = io.BytesIO()
        save_figure(ax, file, **options)
        assert file.getvalue().startswith(beginning)
