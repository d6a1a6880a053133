import json
import sys

import pytest

from keras_attention.cli import main
from keras_attention.course import chapters as course
from keras_attention.course.chapters import Chapter


@pytest.fixture
def run(capfd):
    def run(*args):
        with pytest.raises(SystemExit) as end:
            main(["chapter", *args])
        captured = capfd.readouterr()
        return end.value.code, captured.out, captured.err

    return run


@pytest.fixture
def one_chapter(tmp_path, monkeypatch):
    """A course of one chapter that prints what it was given and ends with status 0 or --status."""
    path = tmp_path / "ch7_2_small_talk.py"
    path.write_text(
        '"""\n7.2 Small talk · 闲聊\n=====\n\nex01\n"""\nimport sys\nprint("given", sys.argv[1:])\n'
        'sys.exit(3 if "--fail" in sys.argv else 0)\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(course, "chapters", lambda: [Chapter(path)])
    return path


def test_list_tells_sections_titles_and_exercises(run):
    code, output, _ = run("list", "--json")
    listed = json.loads(output.splitlines()[-1])["chapters"]
    assert code == 0
    assert listed[0]["section"] == "11.1"
    assert {"ex01", "ex02"} <= set(listed[0]["exercises"])
    assert set(listed[0]["title"]) == {"en", "zh"}
    assert all(chapter["name"] in output for chapter in listed)


def test_run_hands_options_on_and_reports_the_status(run, one_chapter):
    code, output, _ = run("run", "7.2", "--figures", "here", "--json")
    assert code == 0
    assert "given ['--figures', 'here']" in output
    assert json.loads(output.splitlines()[-1])["exit_status"] == 0
    assert run("run", "small_talk", "--fail")[0] == 3


def test_run_of_an_unknown_chapter_is_an_error_in_one_sentence(run, one_chapter):
    code, output, error = run("run", "8.1")
    assert (code, output) == (1, "")
    assert error == "Error: No chapter is called 8.1; choose one of 7.2.\n"


def test_list_does_not_load_keras(run):
    import subprocess

    code = (
        "import sys\nsys.orig_argv = ['python', 'keras-attention']\n"
        "from keras_attention.cli import main\n"
        "try: main(['chapter', 'list'])\n"
        "except SystemExit as end: print('status', end.code)\n"
        "print({'tensorflow', 'keras', 'matplotlib'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-2:] == ["status 0", "set()"]
