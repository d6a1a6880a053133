"""Naming a mistake: does a known wrong version give what the submission gave?"""

import hashlib
from collections.abc import Collection, Sequence
from contextlib import suppress

from keras_attention.course.bank import Mistake
from keras_attention.course.compare import same
from keras_attention.course.sealed import values
from keras_attention.course.student import Call, Opener, Student
from keras_attention.course.verdict import Failure


class Diagnostician:
    """Runs the known mistakes of one exercise on the inputs of a failed check.

    The mistakes run where submissions run, but each in a child of its own. All students of a class get the
    same inputs, so results are kept.

    Args:
        open_channel: opens a line to a new child.
        solution: the text of the solution, which the mistakes edit.
    """

    def __init__(self, open_channel: Opener, solution: str, mistakes: Sequence[Mistake]):
        self._open, self._solution, self._mistakes = open_channel, solution, mistakes
        self._results: dict[tuple[str, bytes], list[object] | None] = {}

    def __call__(self, calls: Sequence[Call], check: str, earlier: Collection[str] = ()) -> Mistake | None:
        """The mistake that explains all results; None if none does, or if the submission gave no result.

        Of several, one that an earlier check has found, then one that this check is meant for.
        """
        results = [call.result for call in calls]
        if not calls or results[-1] is None or self._gives("", self._solution, calls, results):
            return None  # values that are right are explained by no mistake

        def likely(mistake: Mistake) -> tuple[bool, bool]:
            return mistake.name not in earlier, mistake.fails != check

        for mistake in sorted(self._mistakes, key=likely):
            if self._gives(mistake.name, mistake.source(self._solution), calls, results):
                return mistake
        return None

    def _gives(self, name: str, source: str, calls: Sequence[Call], results: list[object]) -> bool:
        inputs = b"".join(values.pack(call.request) for call in calls)
        key = name, hashlib.sha256(inputs).digest()
        if key not in self._results:
            self._results[key] = self._replay(source, calls)
        return self._results[key] is not None and same(results, self._results[key])

    def _replay(self, source: str, calls: Sequence[Call]) -> list[object] | None:
        with Student(self._open, source, "known mistake") as student, suppress(Failure):
            return [student.repeat(call.request) for call in calls]
        return None
