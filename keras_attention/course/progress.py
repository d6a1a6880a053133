"""What a learner has done: points, hints and attempts, in a file beside the exercises."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from keras_attention.course.files import replace_text
from keras_attention.course.verdict import Verdict

FILE = ".progress.json"


@dataclass
class Record:
    """Of one exercise."""

    points: float = 0.0  # at most so far
    max_points: float = 0.0
    passed: bool = False
    attempts: int = 0
    gave_up: bool = False
    hints: dict[str, int] = field(default_factory=dict)  # how many of each check are shown
    failed: list[str] = field(default_factory=list)  # checks, at the last attempt
    checked: str = ""


class Progress:
    """The records of a folder of exercises; `watch` and `check` share them on disk.

    Args:
        folder: where the exercises are.
    """

    def __init__(self, folder: Path):
        self._path = folder / FILE

    def _read(self) -> dict[str, Record]:
        if not self._path.exists():
            return {}
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            return {name: Record(**record) for name, record in content.items()}
        except (ValueError, TypeError, AttributeError):  # kept aside, so that nothing is lost
            self._path.replace(self._path.with_suffix(".damaged.json"))
            return {}

    def __getitem__(self, exercise: str) -> Record:
        return self._read().get(exercise, Record())

    def attempt(self, exercise: str, verdicts: Sequence[Verdict]) -> Record:
        """Note the result of a check; points never go down."""
        record = self[exercise]
        record.attempts += 1
        record.max_points = sum(verdict.max_points for verdict in verdicts)
        points = sum(verdict.points for verdict in verdicts)
        record.points = min(max(record.points, points), record.max_points)
        record.failed = [verdict.check for verdict in verdicts if verdict.state != "passed"]
        record.passed = record.passed or not record.failed
        record.checked = datetime.now(UTC).isoformat(timespec="seconds")
        self._save(exercise, record)
        return record

    def hint(self, exercise: str, check: str) -> int:
        """One more hint of a check is shown: how many are now."""
        record = self[exercise]
        record.hints[check] = min(record.hints.get(check, 0) + 1, 3)
        self._save(exercise, record)
        return record.hints[check]

    def give_up(self, exercise: str) -> None:
        record = self[exercise]
        record.gave_up = True
        self._save(exercise, record)

    def forget(self, exercise: str) -> None:
        self._save(exercise, Record())

    def next(self, names: Sequence[str]) -> str | None:
        """The first exercise that is neither passed nor given up."""
        open_ = [name for name in names if not (self[name].passed or self[name].gave_up)]
        return open_[0] if open_ else None

    def _save(self, exercise: str, record: Record) -> None:
        records = self._read() | {exercise: record}
        content = {name: asdict(record) for name, record in sorted(records.items())}
        replace_text(self._path, json.dumps(content, indent=1))
