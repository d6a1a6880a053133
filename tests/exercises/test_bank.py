"""Proof that the checks work: every known mistake fails where it should, with its diagnosis, and right
solutions pass, however they are written."""

from pathlib import Path

import pytest

from keras_attention.course import catalog
from keras_attention.course.bank import read_mistakes

EXERCISES = catalog.exercises()
MISTAKES = [(e.name, mistake) for e in EXERCISES for mistake in read_mistakes(e.mistakes)]
RIGHT = sorted((Path(__file__).parent / "right").glob("*/*.py"))
SEEDS = range(20)


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES, ids=[f"{e[:4]}-{m.name}" for e, m in MISTAKES])
def test_a_known_mistake_fails_the_check_meant_for_it_and_is_named(exercise, mistake, judge, solution):
    for seed in (0, 1):
        verdicts = judge(exercise, mistake.source(solution(exercise)), seed=seed)
        (verdict,) = (verdict for verdict in verdicts if verdict.check == mistake.fails)
        assert verdict.state == "failed"
        assert verdict.cause == "wrong value"
        assert verdict.mistake == mistake.name
        assert verdict.diagnosis == mistake.text
        assert "error" not in {verdict.state for verdict in verdicts}


HIDES_BY_INFINITY = [
    ("ex03_self_attention", "mask[:, None, :], scores, -1e9", 'mask[:, :, None], scores, -float("inf")'),
    ("ex04_multi_head_attention", "mask[:, None], scores, -1e9", 'mask[0], scores, -float("inf")'),
    ("ex05_cross_attention", "mask, scores, -1e9", 'mask[0], scores, -float("inf")'),
]


@pytest.mark.parametrize(("exercise", "hides", "instead"), HIDES_BY_INFINITY)
def test_a_mistake_is_named_too_if_it_hides_by_infinity(exercise, hides, instead, judge, solution):
    source = solution(exercise)
    assert source.count(hides) == 1
    named = {
        mistake.edits[f"ops.where({hides})"]: mistake.name
        for name, mistake in MISTAKES
        if name == exercise and f"ops.where({hides})" in mistake.edits
    }
    wrong = judge(exercise, source.replace(hides, instead))
    name = named[f"ops.where({instead})".replace('-float("inf")', "-1e9")]
    failed = [verdict for verdict in wrong if verdict.state == "failed"]
    assert name in {verdict.mistake for verdict in failed}
    assert {verdict.mistake for verdict in failed if "NaN" in verdict.text.en} <= {name}


@pytest.mark.parametrize("path", RIGHT, ids=[f"{path.parent.name[:4]}-{path.stem}" for path in RIGHT])
def test_right_solutions_pass_on_every_seed(path, judge):
    for seed in SEEDS:
        verdicts = judge(path.parent.name, path.read_text(encoding="utf-8"), seed=seed)
        assert [v for v in verdicts if v.state != "passed"] == []


@pytest.mark.parametrize("exercise", [exercise.name for exercise in EXERCISES])
def test_the_solution_passes_on_every_seed(exercise, judge, solution):
    for seed in SEEDS:
        verdicts = judge(exercise, solution(exercise), seed=seed)
        assert [v for v in verdicts if v.state != "passed"] == []
        assert all(verdict.points == verdict.max_points for verdict in verdicts)


@pytest.mark.parametrize("exercise", [exercise.name for exercise in EXERCISES])
def test_there_are_three_other_right_solutions(exercise):
    assert len([path for path in RIGHT if path.parent.name == exercise]) >= 3
