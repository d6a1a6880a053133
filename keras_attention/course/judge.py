"""Runs the checks of one exercise on one submission."""

import contextlib
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from keras_attention.course import bank, rules
from keras_attention.course.catalog import Exercise
from keras_attention.course.channels import InPlace
from keras_attention.course.diagnose import Diagnostician
from keras_attention.course.plugin import Grading
from keras_attention.course.student import Call, Opener, Student
from keras_attention.course.submission import Submission, tree
from keras_attention.course.verdict import GraderFault, Verdict

# only what is given here, so that no file around the checks or of the user's changes the run; what is printed
# and where a breakpoint stops is the submission's alone
UNUSED = ["cacheprovider", "debugging", "doctest", "faulthandler", "logging", "terminal", "threadexception"]
UNUSED += ["unraisableexception"]
OPTIONS = ["--import-mode=importlib", "--noconftest", "--assert=plain", "--capture=no"]
OPTIONS += [option for plugin in UNUSED for option in ("-p", f"no:{plugin}")]


class Judge:
    """Judges submissions, one check after the other.

    Args:
        open_channel: opens a line to a new process (or to none) that runs a submission.
        seed: of the random inputs.
        open_mistakes: the same for the known mistakes, with which wrong values are compared.
    """

    def __init__(self, open_channel: Opener, seed: int = 0, open_mistakes: Opener | None = None):
        self._open, self._open_mistakes, self.seed = open_channel, open_mistakes or open_channel, seed
        self._shares = open_channel is not InPlace  # in this very process there is nothing to start
        self._diagnosticians: dict[str, Diagnostician] = {}
        self.output = ""  # what the last submission printed, if that was not in this process

    def __call__(self, exercise: Exercise, submission: Submission, check: str = "") -> list[Verdict]:
        """A verdict for each check (or the one named), in their order.

        At first all checks meet in one process, under the limits of one check, until one does not pass. What
        has passed by then stands, and so does the first check, which had the process for itself. Of the
        others each gets a process of its own, so that none fails for what another one left behind.

        Raises `GraderFault` if the checks cannot run.
        """
        fault = submission.fault or rules.refusal(tree(submission.source))

        def student() -> Student:
            return Student(self._open, submission.source, submission.filename, fault, submission.places)

        alone = Grading(lambda _: student(), lambda _: exercise, self.diagnose, self.seed)
        if self._shares and not (fault or check):
            company = self._in_company(exercise, student)
            alone.verdicts = list(takewhile(_passed, company.verdicts)) or company.verdicts[:1]
            alone.outputs = company.outputs[: len(alone.verdicts)]
            alone.expected = company.expected
        if not alone.verdicts or len(alone.verdicts) < alone.expected:
            run_pytest(exercise.checks, alone, check=check)
        self.output = "".join(alone.outputs)
        if alone.faults or not alone.verdicts or len(alone.verdicts) != alone.expected:
            raise GraderFault(f"The checks of {exercise.name} do not run. {' '.join(alone.faults)[-500:]}")
        return alone.verdicts

    def _in_company(self, exercise: Exercise, student: Callable[[], Student]) -> Grading:
        """All checks in one process, up to the first that does not pass."""

        def diagnose(*facts: Any) -> bank.Mistake | None:
            return None if grading.verdicts else self.diagnose(*facts)

        with student() as together:
            grading = Grading(lambda _: nullcontext(together), lambda _: exercise, diagnose, self.seed)
            run_pytest(exercise.checks, grading, "--maxfail=1")
        return grading

    def diagnose(
        self, exercise: Exercise, calls: list[Call], check: str, earlier: list[str]
    ) -> bank.Mistake | None:
        if exercise.name not in self._diagnosticians:
            solution = exercise.solution.read_text(encoding="utf-8")
            mistakes = bank.read_mistakes(exercise.mistakes)
            self._diagnosticians[exercise.name] = Diagnostician(self._open_mistakes, solution, mistakes)
        return self._diagnosticians[exercise.name](calls, check, earlier)


def _passed(verdict: Verdict) -> bool:
    return verdict.state == "passed"


def run_pytest(checks: Path, grading: Grading, *options: str, check: str = "") -> None:
    """Run all checks of a file, or one. The result is in `grading`."""
    home = checks.parents[1]
    options = ("-c", str(home / "pytest.ini"), "--rootdir", str(home), *OPTIONS, *options)
    # the last of these pytest sets and deletes: one that runs around this one needs its own
    with _environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTEST_ADDOPTS="", PYTEST_CURRENT_TEST=""):
        pytest.main([*options, f"{checks}::{check}" if check else str(checks)], plugins=[grading])
    # pytest names a file by its place below the root, so another folder's checks would be taken for these
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(checks):
            del sys.modules[name]


@contextlib.contextmanager
def _environment(**variables: str) -> Any:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
