import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import keras_attention
from keras_attention.cli import app, doctor, main, sentence

ROOT = Path(keras_attention.__file__).parents[1]


def run(*args):
    """The exit status of the command line."""
    with pytest.raises(SystemExit) as end:
        main(args)
    return end.value.code


@pytest.fixture
def fail(monkeypatch):
    """Let `doctor` raise an error."""

    def fail(error):
        def examine():
            raise error

        monkeypatch.setattr(doctor, "examine", examine)

    return fail


def test_help_lists_the_commands_without_loading_tensorflow():
    code = (
        "import sys\nsys.orig_argv = ['python', 'keras-attention']\n"
        "from keras_attention.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: print('status', end.code)\n"
        "print({'tensorflow', 'keras', 'matplotlib'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = result.stdout.splitlines()
    assert lines[-2:] == ["status 0", "set()"]
    assert any(line.startswith("│ doctor ") for line in lines)


def test_helper_files_are_no_commands(capsys):
    assert run("_json") == 2
    assert "No such command" in capsys.readouterr().err


def test_every_command_tells_of_all_its_options(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    commands = list(app_commands(get_command(app)))
    assert {("doctor",), ("translate", "train"), ("exercise", "check")} < {words for words, _ in commands}
    for words, command in commands:
        assert run(*words, "--help") == 0
        told = capsys.readouterr().out
        assert "--install-completion" not in told
        for option in command.params:
            for name in option.opts:
                assert name in told or name == option.name, f"{words} hides {name}"


def app_commands(group, words=()):
    """(words, command) of all commands, and of those within them."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield (*words, name), command
        if hasattr(command, "list_commands"):
            yield from app_commands(command, (*words, name))


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"keras-attention {keras_attention.__version__}\n"


def test_wrong_usage_is_2(capsys):
    assert run("nothing") == 2
    assert run("doctor", "--nothing") == 2
    assert run() == 2
    assert "No such option" in capsys.readouterr().err


def test_an_error_is_one_sentence_on_stderr(fail, capsys):
    fail(ValueError("units must be positive,\n got -1."))
    assert run("doctor") == 1
    assert capsys.readouterr() == ("", "Error: units must be positive, got -1.\n")


@pytest.mark.parametrize("args", [("--traceback", "doctor"), ("doctor", "--traceback")])
def test_traceback_is_shown_on_request_at_any_place(fail, capsys, args):
    fail(ValueError("too few"))
    assert run(*args) == 1
    error = capsys.readouterr().err
    assert error.startswith("Traceback")
    assert error.endswith("ValueError: too few\n")


def test_traceback_after_two_dashes_is_an_argument(fail, capsys):
    assert run("doctor", "--", "--traceback") == 2
    assert "unexpected extra argument" in capsys.readouterr().err


def test_interrupt_is_130_in_one_line(fail, capsys):
    fail(KeyboardInterrupt())
    assert run("doctor") == 130
    assert capsys.readouterr().err.strip() == "Interrupted."


def test_sentence_names_what_is_not_meant_for_people(tmp_path):
    missing = tmp_path / "model.keras"
    with pytest.raises(FileNotFoundError) as error:
        missing.read_bytes()
    assert sentence(error.value) == f"No such file or directory: {missing}"
    assert sentence(FileNotFoundError("There is no file x.")) == "There is no file x."
    assert sentence(KeyError("x")) == "KeyError: 'x' (--traceback shows where)"
    assert sentence(ValueError()) == "ValueError:  (--traceback shows where)"
