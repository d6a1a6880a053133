"""`pytest exercises`: the checks on the files beside them, run in pytest's own process."""

import os
from pathlib import Path
from typing import Any

import pytest

from keras_attention.course import rules, submission
from keras_attention.course.catalog import Exercise
from keras_attention.course.channels import InPlace
from keras_attention.course.entries import Entry
from keras_attention.course.judge import Judge
from keras_attention.course.plugin import Grading
from keras_attention.course.student import Student


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")  # figures are looked at, not shown: no window is to wait
    if not config.pluginmanager.has_plugin("grading"):
        diagnose = Judge(InPlace).diagnose
        grading = Grading(open_in_place, exercise_of, diagnose)
        config.pluginmanager.register(grading, "grading")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    grading: Any = config.pluginmanager.get_plugin("grading")
    verdicts = grading.verdicts
    points = sum(verdict.points for verdict in verdicts)
    terminalreporter.write_line(f"{points:g} of {sum(verdict.max_points for verdict in verdicts):g} points")


def exercise_of(checks: Path) -> Exercise:
    return Exercise(checks.stem.removeprefix("test_"), checks.parents[1])


def open_in_place(exercise: Exercise) -> Student:
    """The learner's file; its path is kept, so that a debugger shows its lines."""
    read = Entry(exercise.folder, deep=False).find(exercise)
    fault = read.fault or rules.refusal(submission.tree(read.source))
    return Student(InPlace, read.source, str(exercise.folder / read.filename), fault, read.places)
