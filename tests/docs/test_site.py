"""The built site, in a real browser and file by file: `SITE=build/site pytest tests/docs/test_site.py`."""

import ast
import os
import re
from pathlib import Path

import pytest
from PIL import Image

import keras_attention
from keras_attention.course.chapters import chapters

SITE = Path(os.environ.get("SITE", "no site")).resolve()
if not SITE.is_dir():
    pytest.skip("SITE names no folder with a built site", allow_module_level=True)

CHAPTERS = chapters()
HAN = re.compile("[\u4e00-\u9fff]")
LATIN = re.compile("[A-Za-z]{2,}")
QUICK = ["ch11_1_core_idea", "ch11_2_2_multi_head_attention"]
READ = """[...document.querySelectorAll("article :is(h1, h2, p)")]
  .filter((e) => e.checkVisibility() && !e.closest("[class*=sphx-glr]:not(section)"))
  .map((e) => e.innerText)"""
VISIBLE = (
    """[...document.querySelectorAll("{}")].filter((e) => e.checkVisibility()).map((e) => e.innerText)"""
)

each_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=[chapter.name for chapter in CHAPTERS])


def page_of(chapter):
    return SITE / "chapters" / f"{chapter.name}.html"


def notebook_of(name):
    nbformat = pytest.importorskip("nbformat")
    (path,) = SITE.glob(f"_downloads/*/{name}.ipynb")
    return nbformat.read(path, 4)


def languages(texts):
    """Of each text that has words: zh or en."""
    counted = [(len(HAN.findall(text)), len(LATIN.findall(text))) for text in texts]
    return ["zh" if han > latin else "en" for han, latin in counted if han or latin]


@pytest.mark.parametrize("width", [390, 1100, 1280])
def test_no_page_asks_for_anything_elsewhere_or_scrolls_sideways(open_page, width):
    pages = sorted(SITE.rglob("*.html"))
    assert pages
    for path in pages:
        page = open_page(path, within=SITE, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        page.context.close()


@each_chapter
def test_the_switch_hides_the_other_language(open_page, chapter):
    page = open_page(page_of(chapter), within=SITE)
    both = page.evaluate(READ)
    assert set(languages(both)) == {"en", "zh"}
    for language in ("en", "zh"):
        page.click(f".languages [data-language={language}]")
        texts = page.evaluate(READ)
        assert set(languages(texts)) == {language}
        page.reload()
        assert page.evaluate(READ) == texts, "the choice was forgotten"
    page.click(".languages [data-language=both]")
    assert page.evaluate(READ) == both


def test_every_hint_of_an_exercise_is_in_either_language(open_page):
    page = open_page(SITE / "exercises.html", within=SITE)
    for summary in page.locator("summary").all():
        summary.click()
    commands = page.evaluate(VISIBLE.format("article pre"))
    for language in ("en", "zh"):
        page.click(f".languages [data-language={language}]")
        assert page.evaluate(VISIBLE.format("article pre")) == commands
        assert len(page.evaluate(VISIBLE.format("details li p"))) == 3 * page.locator("details").count()


@each_chapter
def test_formulas_are_drawn(open_page, chapter):
    page = open_page(page_of(chapter), within=SITE)
    heights = page.evaluate("[...document.querySelectorAll('div.math math')].map((m) => m.clientHeight)")
    assert len(heights) == chapter.source.count(".. math::")
    assert all(height > 12 for height in heights)
    assert page.locator("merror").count() == 0
    fractions = page.evaluate("""[...document.querySelectorAll("mfrac")].filter((f) => f.checkVisibility())
      .map((f) => [...f.children].map((part) => part.getBoundingClientRect()))
      .map(([over, under]) => [over.bottom, under.top])""")
    assert all(bottom <= top + 1 for bottom, top in fractions)
    assert not re.search(r"\\(frac|mathrm|sum|top|sqrt)", page.inner_text("article"))


@each_chapter
def test_the_page_of_a_chapter_ends_with_where_its_figures_are(chapter):
    text = page_of(chapter).read_text(encoding="utf-8")
    (folder,) = re.findall(r"Figures are in (.+?); this took \d+ s\.", re.sub("<[^>]+>", "", text))
    prefix = "ch" + chapter.section.replace(".", "_") + "_"
    pictures = {
        path.name: path for path in Path(folder).glob(f"{prefix}*") if path.suffix in (".png", ".gif")
    }
    assert set(re.findall(r'"(ch\w+\.(?:png|gif))"', chapter.source)) <= set(pictures) != set()
    for name, path in pictures.items():
        with Image.open(path) as picture:
            low, high = picture.convert("L").getextrema()
            assert high > low, f"{name} is blank"
    shown = re.findall(r'<img src="\.\./(_images/[^"]+)"[^>]*sphx-glr', text.replace("\n", " "))
    assert shown
    assert all((SITE / name).is_file() for name in shown)


@each_chapter
def test_the_notebook_is_the_script_cell_by_cell(chapter):
    notebook = notebook_of(chapter.name)
    install, *cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert "%pip install" in install
    script = ast.parse(chapter.source)
    script.body = script.body[1:]  # the docstring is the first text
    assert ast.dump(ast.parse("\n".join(cells))) == ast.dump(script)
    for cell in notebook.cells:
        assert cell.cell_type == "code" or HAN.search(cell.source)


@pytest.mark.parametrize("name", QUICK)
def test_a_notebook_runs_from_top_to_bottom(name, tmp_path, monkeypatch):
    """Two quick ones. The cells of the others are those that the site's pages ran."""
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(Path(keras_attention.__file__).parents[1]))
    notebook = notebook_of(name)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert notebook.cells[0].outputs == [], "nothing is to be installed here"
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert list((tmp_path / "figures").glob("*.png"))
