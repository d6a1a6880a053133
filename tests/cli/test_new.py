import json
import subprocess
import sys

import pytest

from keras_attention.cli import main
from keras_attention.course import catalog
from keras_attention.course.chapters import chapters
from keras_attention.course.workspace import find_folder, make


def run(*args):
    with pytest.raises(SystemExit) as end:
        main(args)
    return end.value.code


@pytest.fixture
def course(tmp_path):
    folder = tmp_path / "my course"
    make(folder)
    return folder


def test_a_course_has_every_chapter_and_exercise_and_no_solution(course):
    assert {path.name for path in (course / "chapters").glob("*.py")} == {c.path.name for c in chapters()}
    mine = catalog.exercises(course / "exercises")
    assert [exercise.name for exercise in mine] == [exercise.name for exercise in catalog.exercises()]
    assert all(exercise.path.read_text(encoding="utf-8") == exercise.stub for exercise in mine)
    assert "SOLUTION" not in "".join(path.read_text() for path in (course / "exercises").glob("*.py"))
    assert not list(course.rglob(".*"))
    assert not list(course.rglob("__pycache__"))


def test_the_readme_names_commands_that_exist(course, capfd):
    lines = (course / "README.md").read_text(encoding="utf-8").splitlines()
    commands = [line.split("#")[0].split()[1:] for line in lines if line.startswith("keras-attention")]
    assert len(commands) == 6
    for command in commands:
        assert run(*command[:2], "--help") == 0


def test_the_commands_find_the_exercises_of_a_course(course, monkeypatch, capfd):
    monkeypatch.chdir(course)
    assert find_folder() == (course / "exercises").resolve()
    assert run("exercise", "status", "--json") == 0
    status = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert status["exercises"] == len(catalog.exercises())


def test_pytest_checks_the_exercises_of_a_course(course):
    command = [sys.executable, "-m", "pytest", "exercises", "-q", "-k", "ex01"]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "It is not written yet" in done.stdout
    assert "0 of " in done.stdout


@pytest.mark.parametrize("what", ["file", "full"])
def test_what_stands_there_already_is_kept(tmp_path, capfd, what):
    path = tmp_path / "course"
    if what == "full":
        path.mkdir()
        (path / "notes.txt").write_text("mine")
    else:
        path.write_text("mine")
    assert run("new", str(path)) == 1
    assert f"{path} is not empty; name a folder that does not exist yet." in capfd.readouterr().err
    assert len(list(tmp_path.rglob("*"))) == (2 if what == "full" else 1)


def test_an_empty_folder_will_do(tmp_path, capfd):
    assert run("new", str(tmp_path), "--json") == 0
    out = capfd.readouterr().out.splitlines()
    assert "keras-attention exercise next" in out[0]
    assert json.loads(out[-1]) == {"folder": str(tmp_path.resolve())}
