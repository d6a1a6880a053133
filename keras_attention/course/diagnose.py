"""Naming a mistake: does a known wrong version give what the submission gave?"""

import hashlib
from collections.abc import Collection, Sequence

from keras_attention.course.bank import Mistake
from keras_attention.course.compare import has_nan, same
from keras_attention.course.sealed import values
from keras_attention.course.student import Call, Opener, Student
from keras_attention.course.verdict import Failure

FILL, INFINITE = "-1e9", '-float("inf")'


class Diagnostician:
    """Runs the known mistakes of one exercise on the inputs of a failed check.

    The mistakes run where submissions run, in a child of their own. A check that runs again has the same
    inputs, so results are kept.

    Args:
        open_channel: opens a line to a new child.
        solution: the text of the solution, which the mistakes edit.
    """

    def __init__(self, open_channel: Opener, solution: str, mistakes: Sequence[Mistake]):
        self._open, self._solution, self._mistakes = open_channel, solution, mistakes
        self._results: dict[tuple[str, bytes], list[object] | None] = {}

    def __call__(self, calls: Sequence[Call], check: str, earlier: Collection[str] = ()) -> Mistake | None:
        """The mistake that explains all results; None if none does, or if the submission gave no result.

        Of several, one that an earlier check has found, then one that this check is meant for. The known
        mistakes hide by −1e9; where there is NaN, they are also tried with −∞.
        """
        results = [call.result for call in calls]
        if not calls or results[-1] is None:
            return None

        def likely(mistake: Mistake) -> tuple[bool, bool]:
            return mistake.name not in earlier, mistake.fails != check

        mistakes = sorted(self._mistakes, key=likely)
        inputs = hashlib.sha256(b"".join(values.pack(call.request) for call in calls)).digest()
        with Student(self._open, self._solution, "known mistake") as place:
            if same(results, self._give(place, self._solution, calls, inputs)):
                return None  # values that are right are explained by no mistake
            for fill in (FILL, INFINITE) if has_nan(results) else (FILL,):
                for mistake in mistakes:
                    source = mistake.source(self._solution).replace(FILL, fill)
                    if same(results, self._give(place, source, calls, inputs)):
                        return mistake
        return None

    def _give(self, place: Student, source: str, calls: Sequence[Call], inputs: bytes) -> list[object] | None:
        """What this text gives for the same calls, which `inputs` identifies; None if it fails."""
        key = source, inputs
        if key not in self._results:
            self._results[key] = None
            try:
                place.load(source)
                self._results[key] = [place.repeat(call.request) for call in calls]
            except Failure:
                place.close()  # the next one gets a new child
        return self._results[key]
