"""Every chapter is in both languages, names its functions and its exercise, and runs without a network."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import keras_attention
from keras_attention import functional, layers, masks, metrics, models
from keras_attention.course import catalog
from keras_attention.course.chapters import Chapter, chapters, find

CHAPTERS = chapters()
PACKAGE = Path(keras_attention.__file__).parents[1]
HAN = re.compile("[\u4e00-\u9fff]")
LATIN = re.compile("[A-Za-z]{2,}")
KNOWN = {
    name for module in (functional, layers, masks, metrics, models) for name in dir(module) if name[0] != "_"
}
FIGURE = re.compile(r'"(ch\w+\.(?:png|gif|html))"')
NO_NETWORK = """
import runpy, socket, sys

def refuse(*args, **kwargs):
    raise OSError("a chapter asked for the network")

socket.socket.connect = socket.getaddrinfo = refuse
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

each_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=[chapter.name for chapter in CHAPTERS])


def text_blocks(source: str) -> list[str]:
    """The docstring, and the comment after each `# %%`, as the pages show them."""
    docstring = source.split('"""')[1]
    comments = re.findall(r"^# %%\n((?:#.*\n)+)", source, re.MULTILINE)
    return [docstring, *(re.sub(r"^# ?", "", comment, flags=re.MULTILINE) for comment in comments)]


def paragraphs(block: str) -> list[str]:
    """What is to be read: no title, no formula, no code in the running text."""
    block = re.sub(r"^.+\n[=-]{3,}$", "", block, flags=re.MULTILINE)
    block = re.sub(r"^\.\. math::\n(?:[ \t].*\n|\n(?=[ \t]))*", "", block, flags=re.MULTILINE)
    block = re.sub(r":math:`[^`]*`|``[^`]*``", "", block)
    return [text for text in re.split(r"\n\s*\n", block) if text.strip()]


def test_the_chapters_are_those_of_the_course():
    assert [chapter.section for chapter in CHAPTERS] == sorted(
        {chapter.section for chapter in CHAPTERS}, key=lambda section: [int(n) for n in section.split(".")]
    )
    assert {"11.1", "11.2.1", "11.2.2", "11.2.3", "11.3", "11.4.1"} <= {c.section for c in CHAPTERS}


@each_chapter
def test_every_text_is_in_english_and_in_chinese(chapter):
    assert chapter.title.en
    assert HAN.search(chapter.title.zh)
    for block in text_blocks(chapter.source):
        texts = paragraphs(block)
        chinese = [text for text in texts if len(HAN.findall(text)) > len(LATIN.findall(text))]
        assert chinese, f"only in English: {block[:80]}"
        title = re.search(r"^(.+)\n-{3,}$", block, re.MULTILINE)
        english = [text for text in texts if text not in chinese]
        assert english or (title and LATIN.search(title[1])), f"only in Chinese: {block[:80]}"


@each_chapter
def test_every_formula_names_its_function(chapter):
    for block in text_blocks(chapter.source):
        if ".. math::" in block:
            named = set(re.findall(r"``(\w+)(?:\([^`]*\))?``", block))
            assert named & KNOWN, f"this formula is computed by nothing that is named: {block[:300]}"


@each_chapter
def test_the_chapter_names_its_exercises_at_its_end(chapter):
    last = text_blocks(chapter.source)[-1]
    assert set(re.findall(r"\bex\d\d\b", last)) == set(chapter.exercises) != set()


@pytest.mark.parametrize("exercise", catalog.exercises(), ids=lambda exercise: exercise.name)
def test_the_chapter_that_an_exercise_belongs_to_names_it(exercise):
    (chapter,) = (chapter for chapter in CHAPTERS if chapter.path.name == exercise.fact("Chapter"))
    assert exercise.name[:4] in chapter.exercises


@each_chapter
def test_figures_bear_the_chapter_s_number_and_the_folder_can_be_chosen(chapter):
    names = FIGURE.findall(chapter.source)
    prefix = "ch" + chapter.section.replace(".", "_") + "_"
    assert [name for name in names if not name.startswith(prefix)] == []
    assert '"--figures"' in chapter.source
    assert "matplotlib.use(" not in chapter.source, "a notebook would show no figure"


@each_chapter
def test_its_options_are_those_of_all_chapters_and_no_other_is_taken(chapter, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [chapter.path.name, "--help"])
    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_path(str(chapter.path), run_name="__main__")
    options = set(re.findall(r"--\w+", capsys.readouterr().out))
    takes_data = chapter.section in ("11.4.1", "11.4.2", "11.5")
    assert options == {"--help", "--figures"} | ({"--data", "--epochs"} if takes_data else set())
    monkeypatch.setattr(sys, "argv", [chapter.path.name, "--epoch_s", "3"])
    with pytest.raises(SystemExit, match=r"^2$"):
        runpy.run_path(str(chapter.path), run_name="__main__")


@pytest.mark.parametrize("name", ["11.3", "11_3", "ch11_3", "visual", "chapters/ch11_3_visualization.py"])
def test_a_chapter_is_found_by_its_section_its_name_or_a_part_of_it(name):
    assert find(name, CHAPTERS).name == "ch11_3_visualization"


UNCLEAR = [("12.1", "No chapter"), ("attention", "More than one chapter")]


@pytest.mark.parametrize(("name", "message"), UNCLEAR)
def test_another_name_is_an_error_that_lists_the_chapters(name, message):
    with pytest.raises(ValueError, match=f"{message} is called {name}; choose one of 11."):
        find(name, CHAPTERS)


def test_a_chapter_s_title_is_read_from_its_first_line(tmp_path):
    path = tmp_path / "ch7_2_small_talk.py"
    path.write_text('"""\n7.2 Small talk · 闲聊\n=====\n\nex01, ex03 and ex01\n"""\n', encoding="utf-8")
    chapter = Chapter(path)
    assert chapter.section == "7.2"
    assert chapter.title == ("Small talk", "闲聊")
    assert chapter.exercises == ("ex01", "ex03")


@pytest.mark.slow
@each_chapter
def test_the_chapter_runs_from_any_folder_without_network_or_display(chapter, tmp_path):
    """What it prints at its end is where its figures are."""
    figures = tmp_path / "pictures"
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "MPLBACKEND")}
    environment["PYTHONPATH"] = os.pathsep.join([str(PACKAGE), environment.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-c", NO_NETWORK, chapter.path, "--figures", figures],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert str(figures) in result.stdout.splitlines()[-1]
    assert "Traceback" not in result.stderr
    missing = [name for name in FIGURE.findall(chapter.source) if not (figures / name).is_file()]
    assert missing == []
    pictures = [path for path in figures.iterdir() if path.suffix in (".png", ".gif")]
    assert pictures
    for path in pictures:
        with Image.open(path) as picture:
            picture.load()
            low, high = picture.convert("L").getextrema()
            assert high > low, f"{path.name} is blank"
