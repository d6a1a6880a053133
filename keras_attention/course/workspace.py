"""The learner's folder of exercises."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from keras_attention.course.catalog import Exercise, exercises
from keras_attention.course.channels import InPlace
from keras_attention.course.entries import Entry
from keras_attention.course.forked import Zygote
from keras_attention.course.judge import Judge
from keras_attention.course.places import content
from keras_attention.course.sealed.sandbox import Limits
from keras_attention.course.student import Opener
from keras_attention.course.submission import Submission, read
from keras_attention.course.verdict import Verdict

SOCKET = ".watch.sock"
TEMPLATES = Path(__file__).with_name("templates")
# what working in a folder leaves there
OF_THE_LEARNER = ("__pycache__", "backups", "figures", "*.rst", ".*")
STOPS = ("breakpoint(", "set_trace(")


def find_folder(asked: Path | None = None) -> Path:
    """The folder asked for, else the current one or its folder `exercises`. Raises `ValueError`."""
    for folder in [asked] if asked else [Path(), Path("exercises")]:
        if any(folder.glob("ex[0-9][0-9]_*")):
            return folder.resolve()
    place = asked or "this folder nor in a folder `exercises` in it"
    raise ValueError(f"There are no exercises in {place}; `keras-attention new my-course` makes some.")


def make(folder: Path) -> None:
    """A new folder with chapters, exercises and a README. Raises `ValueError` where something is already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is not empty; name a folder that does not exist yet.")
    for name in ("chapters", "exercises"):
        shutil.copytree(content(name), folder / name, ignore=shutil.ignore_patterns(*OF_THE_LEARNER))
    shutil.copyfile(TEMPLATES / "workspace.md", folder / "README.md")


class Workspace:
    """Exercises, and the ways to check them.

    Args:
        folder: of the learner's files.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.exercises: list[Exercise] = exercises(folder)
        self.file: Path | None = None  # to be checked in place of those in the folder
        self.warmed = False  # whether a running `watch` lends its Keras
        self.printed = ""  # by the last submission, if that ran in a process of its own

    def submission(self, exercise: Exercise) -> Submission:
        if self.file:
            return read(self.file).solving(exercise.functions)
        return Entry(self.folder, deep=False).find(exercise)

    def path(self, exercise: Exercise) -> Path:
        """The file that solves an exercise, or that would."""
        return self.file or self.folder / self.submission(exercise).filename

    def check(
        self, exercise: Exercise, open_channel: Opener = InPlace, open_mistakes: Opener | None = None
    ) -> list[Verdict]:
        """The verdicts; known mistakes run where the submission runs, or where the second opener says."""
        judge = Judge(open_channel, open_mistakes=open_mistakes)
        verdicts = judge(exercise, self.submission(exercise))
        self.printed = judge.output
        return verdicts

    @contextmanager
    def warm(self, exercise: Exercise, limits: Limits) -> Iterator[Opener | None]:
        """Lines to children of a running `watch`, if there is one and no breakpoint wants this terminal."""
        source = self.submission(exercise).source
        if any(stop in source for stop in STOPS):
            yield None
            return
        with Zygote.borrow(self.folder / SOCKET) as zygote:
            self.warmed = zygote is not None
            yield (lambda: zygote.open(limits)) if zygote else None

    def reset(self, exercise: Exercise) -> Path | None:
        """Put the stub in place of the learner's file; where a copy of that is kept."""
        path, copy = self.path(exercise), None
        if path.exists():
            backups = self.folder / "backups"
            backups.mkdir(exist_ok=True)
            now = datetime.now().strftime("%Y%m%d-%H%M%S-%f")
            copy = backups / f"{path.stem}.{now}{path.suffix}"
            shutil.move(path, copy)
        exercise.path.write_text(exercise.stub, encoding="utf-8", newline="\n")
        return copy
