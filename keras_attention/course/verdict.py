"""What a check found: points, and the cause of a failure by name, in two languages."""

import re
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

CAUSES = (
    "wrong value",
    "exception",
    "time",
    "memory",
    "crash",
    "forbidden",
    "missing",
    "unreadable",
)


class Text(NamedTuple):
    """One sentence in English and in Chinese."""

    en: str
    zh: str

    def __str__(self) -> str:
        return f"{self.en} · {self.zh}"


class Failure(AssertionError):
    """A submission's failure.

    Args:
        cause: one of `CAUSES`.
        text: what happened; never an expected value, so it is fit for hidden checks.
        said: what the submission's own error said.
        values: wrong and expected values, for the learner's open checks only.
        line: the line of the submission where it happened.
    """

    def __init__(self, cause: str, text: Text, said: str = "", values: str = "", line: int | None = None):
        super().__init__(str(text))
        self.cause, self.text, self.said, self.values, self.line = cause, text, said, values, line


class GraderFault(Exception):
    """The grader itself failed; that is nobody's zero."""


@dataclass(frozen=True)
class Verdict:
    """The result of one check."""

    exercise: str
    check: str
    title: Text
    points: float
    max_points: float
    state: str  # "passed", "failed", or "error": the grader's own fault
    seconds: float
    cause: str | None = None
    text: Text | None = None
    said: str = ""
    values: str = ""
    line: int | None = None
    mistake: str | None = None  # the name of the known mistake that explains it
    diagnosis: Text | None = None
    hints: tuple[Text, ...] = ()

    def hidden(self) -> "Verdict":
        """Without what may tell of hidden inputs: values, and numbers in the submission's own words."""
        said = re.sub(r"[-+]?\d+\.\d+(e[-+]?\d+)?", "#", self.said, flags=re.IGNORECASE)[:300]
        return replace(self, values="", said=said)

    def to_json(self) -> dict[str, Any]:
        values = asdict(self)
        for name in ("title", "text", "diagnosis"):
            if values[name]:
                values[name] = values[name]._asdict()
        return values | {"hints": [hint._asdict() for hint in self.hints]}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Verdict":
        texts = {name: Text(**values[name]) for name in ("title", "text", "diagnosis") if values[name]}
        return cls(**{**values, **texts, "hints": tuple(Text(**hint) for hint in values["hints"])})
