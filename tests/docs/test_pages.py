"""What the pages add to the chapters: languages told apart, links checked."""

import importlib.util
from pathlib import Path

import pytest

import keras_attention
from keras_attention.course.chapters import chapters

DOCS = Path(keras_attention.__file__).parents[1] / "docs"


def load(name):
    spec = importlib.util.spec_from_file_location(f"pages_{Path(name).stem}", DOCS / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def site(tmp_path):
    """site(**pages): a folder with these pages."""

    def site(**pages):
        for name, text in pages.items():
            (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        return tmp_path

    return site


def test_a_page_that_is_whole_has_no_fault(site):
    folder = site(
        index='<a href="other.html#there">x</a> <a href="https://example.org/">a paper</a> ',
        other='<h1 id="there">x</h1>',
    )
    assert list(load("check.py").faults(folder)) == []


def test_what_a_page_loads_from_elsewhere_and_where_it_leads_nowhere_is_told(site):
    folder = site(
        index='<script src="https://example.org/a.js"></script><img src="//example.org/b.png">'
        '<link rel="stylesheet" href="https://example.org/c.css"><link rel="canonical" href="https://example.org/">'
        '<a href="gone.html">x</a><a href="other.html#gone">x</a><img src="gone.png">',
        other="",
    )
    (folder / "style.css").write_text("body { background: url('https://example.org/d.png') }")
    found = list(load("check.py").faults(folder))
    for name in ("a.js", "b.png", "c.css", "d.png", "gone.html", "other.html#gone", "gone.png"):
        assert len([line for line in found if name in line]) == 1, name
    assert len(found) == 7


def test_a_site_without_pages_is_a_fault(tmp_path):
    assert len(list(load("check.py").faults(tmp_path))) == 1


def test_the_glossary_has_both_languages_and_every_name_in_it_exists():
    import csv
    import re

    from keras_attention import data, functional, layers, masks, metrics, models, plotting

    rows = list(csv.reader((DOCS / "glossary.csv").read_text(encoding="utf-8").splitlines()))
    known = {name for m in (data, functional, layers, masks, metrics, models, plotting) for name in dir(m)}
    known |= {"keras_attention", "return_attention_scores", "rotary", "translate"}
    sections = {chapter.section for chapter in chapters()} | {"11.4.2", "11.5", "11.6"}
    for english, chinese, _, where in rows:
        assert re.search("[A-Za-z]", english)
        assert re.search("[\u4e00-\u9fff]", chinese) or english == chinese == "Transformer"
        assert set(re.findall(r"`(\w+)", where)) <= known, where
        assert set(re.findall(r"\b11\.[\d.]*\d", where)) <= sections, where
    assert len({english for english, *_ in rows}) == len(rows)


def test_chinese_paragraphs_are_told_from_english_ones():
    pytest.importorskip("docutils")
    languages = load("_ext/languages.py")
    assert (
        languages.language('"他把书给了她。" Who gave, and to whom? In self-attention every word asks.')
        == "en"
    )
    assert languages.language("两个头的 ``MultiHeadAttention`` 就是上面的公式。") == "zh"
    source = ["压进**一个向量**，用``padding_mask``和``causal_mask``遮住。 English **bold** stays."]
    languages.separate(None, "", source)
    assert source[0].replace("\\ ", "_") == (
        "压进_**一个向量**_，用_``padding_mask``_和_``causal_mask``_遮住。 English **bold** stays."
    )
