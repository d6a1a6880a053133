"""The exercises are made from the solutions, and nothing of a solution is left in them."""

import ast
import doctest
import importlib.util

import pytest

from keras_attention.course import catalog, stubs
from keras_attention.course.bank import read_mistakes
from keras_attention.course.places import content

EXERCISES = catalog.exercises()
each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)


def test_solutions_and_exercises_are_the_same_files():
    solutions = sorted(path.name for path in content("solutions").glob("*.py"))
    assert solutions == [exercise.path.name for exercise in EXERCISES]
    assert len(solutions) >= 3


@each
def test_the_stub_is_in_step(exercise):
    made = stubs.stub(exercise.solution.read_text(encoding="utf-8"))
    assert exercise.path.read_text(encoding="utf-8") == made, "python -m keras_attention.course.stubs"


@each
def test_the_stub_defines_what_the_solution_defines(exercise):
    solved = ast.parse(exercise.solution.read_text(encoding="utf-8"))
    assert 1 <= len(exercise.functions) <= 4
    assert catalog.public_names(solved) == exercise.functions


@each
def test_the_first_lines_say_what_and_how_much(exercise):
    assert exercise.title.en
    assert exercise.title.zh
    assert exercise.fact("Chapter").startswith("ch11_")
    assert exercise.fact("Difficulty") in {f"{level} of 5" for level in range(1, 6)}
    assert 5 <= int(exercise.fact("Minutes")) <= 90


@each
def test_every_docstring_has_both_languages(exercise):
    tree = ast.parse(exercise.path.read_text(encoding="utf-8"))
    for node in [tree, *tree.body]:
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)):
            text = ast.get_docstring(node)
            assert any("\u4e00" <= letter <= "\u9fff" for letter in text), text
            assert any("a" <= letter <= "z" for letter in text)


@each
def test_the_examples_are_true_of_the_solution(exercise):
    spec = importlib.util.spec_from_file_location(exercise.name, exercise.solution)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted >= len(exercise.functions)


@each
def test_the_stub_fails_every_check(exercise, judge):
    verdicts = judge(exercise.name, exercise.path.read_text(encoding="utf-8"))
    assert 2 <= len(verdicts) <= 6
    for verdict in verdicts:
        assert (verdict.state, verdict.points) == ("failed", 0)
        assert verdict.text.en == "It is not written yet."


@each
def test_every_check_has_a_title_three_hints_and_a_mistake_in_both_languages(exercise, judge, solution):
    verdicts = judge(exercise.name, exercise.path.read_text(encoding="utf-8"))
    for verdict in verdicts:
        assert verdict.max_points > 0
        assert all(verdict.title)
        assert len(verdict.hints) == 3
        assert all(en and zh for en, zh in verdict.hints)
    mistakes = read_mistakes(exercise.mistakes)
    assert len({mistake.name for mistake in mistakes}) == len(mistakes) >= 3
    assert {mistake.fails for mistake in mistakes} == {verdict.check for verdict in verdicts}


def test_regions_become_what_the_learner_writes():
    solution = "import os\n\ndef f():\n    # SOLUTION\n    return 1\n    # END\n"
    assert stubs.stub(solution).endswith(
        "def f():\n    # your code · 你的代码\n    raise NotImplementedError\n"
    )


def test_a_region_may_say_what_the_stub_has():
    solution = (
        "# SOLUTION:\nimport math\n# END\ndef f():\n    # SOLUTION: return None\n    return 1\n    # END\n"
    )
    assert stubs.stub(solution) == f"{stubs.HEADER}def f():\n    return None\n"


@pytest.mark.parametrize("text", ["def f(): ...\n", "# SOLUTION\n1\n", "# SOLUTION\n1\n# END\n# END\n"])
def test_comments_that_do_not_match_are_an_error(text):
    with pytest.raises(ValueError, match="pairs of"):
        stubs.stub(text)
