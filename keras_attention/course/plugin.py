"""A pytest plugin that runs checks on a submission, and turns what happens into verdicts.

@pytest.mark.check(points=2, hints=[("in English", "中文"), …])   three hints, of rising detail
def test_scale(student, rng):
    '''The scores are divided by √d_k.

    分数要除以 √d_k。
    '''
"""

import inspect
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

from keras_attention.course.bank import Mistake
from keras_attention.course.catalog import Exercise
from keras_attention.course.student import Call, Student
from keras_attention.course.verdict import Failure, Text, Verdict

MARKER = "check(points, hints): a check of an exercise, what it is worth, and three pairs of hints"


class Grading:
    """Gives each check its submission and its random numbers.

    Args:
        open_student: opens the submission that a file of checks is about; entered for each check.
        exercise: the exercise that a file of checks belongs to, by its path.
        diagnose: names the known mistake behind the calls of a failed check; it learns the check's name and
            the mistakes found before.
        seed: with the name of a check it decides on that check's random numbers.
    """

    def __init__(
        self,
        open_student: Callable[[Exercise], AbstractContextManager[Student]],
        exercise: Callable[[Any], Exercise],
        diagnose: Callable[[Exercise, list[Call], str, list[str]], Mistake | None],
        seed: int = 0,
    ):
        self._open, self._exercise, self._diagnose, self.seed = open_student, exercise, diagnose, seed
        self.verdicts: list[Verdict] = []
        self.faults: list[str] = []  # why checks could not even start
        self.outputs: list[str] = []  # what the submission printed in each check
        self.expected = 0  # how many verdicts there will be

    @pytest.fixture
    def student(self, request: pytest.FixtureRequest) -> Iterator[Student]:
        with self._open(self._exercise(request.path)) as student:
            before = len(student.output)
            request.node.student = student
            yield student
            self.outputs.append(student.output[before:])

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(request.node.name.encode())])

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", MARKER)
        # pytest's own tracebacks, which verdicts replace, cost more than a check
        config.option.tbstyle = "native"

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """A check that has its verdict is not run again."""
        settled = {verdict.check for verdict in self.verdicts}
        items[:] = [item for item in items if item.name not in settled]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.expected = len(self.verdicts) + len(session.items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.faults.append(str(report.longrepr))

    def pytest_internalerror(self, excrepr: Any) -> None:
        self.faults.append(str(excrepr))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: pytest.CallInfo[None]) -> Any:
        report = yield
        marker = item.get_closest_marker("check")
        failed_before = call.when == "setup" and call.excinfo is not None
        if marker is not None and (call.when == "call" or failed_before):
            verdict = self._judge(item, call, **marker.kwargs)
            self.verdicts.append(verdict)
            if verdict.state == "failed":
                report.longrepr = explain(verdict)
        return report

    def _judge(
        self, item: Any, call: pytest.CallInfo[None], points: float, hints: list[tuple[str, str]]
    ) -> Verdict:
        exercise, student = self._exercise(item.path), getattr(item, "student", None)
        facts: dict[str, Any] = {
            "exercise": exercise.name,
            "check": item.name,
            "title": title(item.function),
            "max_points": points,
            "seconds": call.duration,
        }
        if call.excinfo is None:
            return Verdict(**facts, points=points, state="passed")
        error = call.excinfo.value
        if not isinstance(error, Failure):
            fault = f"{type(error).__name__}: {error}"
            text = Text("The grader failed, not the submission.", "是评分程序出错，不是提交的代码出错。")
            return Verdict(**facts, points=0, state="error", text=text, said=fault)
        mistake = None
        if error.cause == "wrong value" and student is not None:
            found = [verdict.mistake for verdict in self.verdicts if verdict.exercise == exercise.name]
            mistake = self._diagnose(exercise, student.calls, item.name, [name for name in found if name])
        return Verdict(
            **facts,
            points=0,
            state="failed",
            cause=error.cause,
            text=error.text,
            said=error.said,
            values=error.values,
            line=error.line,
            mistake=mistake.name if mistake else None,
            diagnosis=mistake.text if mistake else None,
            hints=tuple(Text(*hint) for hint in hints),
        )


def title(function: Any) -> Text:
    en, _, zh = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
    return Text(" ".join(en.split()), " ".join(zh.split()))


def explain(verdict: Verdict) -> str:
    """A failed check in words: the diagnosis first, then what happened."""
    lines = [str(verdict.title)]
    if verdict.diagnosis:
        lines += [verdict.diagnosis.en, verdict.diagnosis.zh]
    lines += [str(verdict.text), verdict.values, verdict.said]
    return "\n".join(line for line in lines if line)
