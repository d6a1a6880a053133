"""What a student handed in: a file, a folder, a zip or a notebook, as names and bytes.

Nothing is unpacked to disk and no link is followed, so that no name can point elsewhere.
"""

import re
import stat
import zipfile
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from keras_attention.course import submission
from keras_attention.course.catalog import Exercise, public_names
from keras_attention.course.submission import LARGEST, Submission, writable
from keras_attention.course.verdict import Failure, Text

MOST_FILES = 500
KINDS = (".py", ".ipynb")
OURS = ("backups", "checks", "solutions")  # folders


class Entry:
    """The Python files and notebooks of one student.

    Args:
        path: a .py or .ipynb file, a .zip, or a folder.
        deep: whether folders inside of a folder count.
    """

    def __init__(self, path: Path, deep: bool = True):
        self.path, self._deep = path, deep
        self.student = writable(path.stem if path.is_file() else path.name)

    @cached_property
    def files(self) -> dict[str, Submission]:
        """By their names in the entry."""
        if self.path.is_symlink():
            return {}
        if self.path.is_dir():
            paths = islice(_walk(self.path, self._deep), MOST_FILES)
            names = {writable(path.relative_to(self.path).as_posix()): path for path in paths}
            return {name: submission.read(path) for name, path in names.items()}
        if self.path.suffix == ".zip":
            return dict(_unzip(self.path))
        return {self.path.name: submission.read(self.path)}

    def find(self, exercise: Exercise) -> Submission:
        """The file that solves an exercise: by its name, by its number, or by the functions it defines."""
        stub = exercise.stub
        ranks = {name: self._rank(name, exercise, stub) for name in self.files}
        best = min(ranks, key=lambda name: (ranks[name], name.count("/"), name), default="")
        if not best or ranks[best] == NO_MATCH:
            return submission.missing(exercise.name, list(ranks))
        return self.files[best]

    def _rank(self, name: str, exercise: Exercise, stub: str) -> int:
        file, stem = self.files[name], PurePosixPath(name).stem.lower()
        number = int(exercise.name[2:4])
        if stem == exercise.name:
            return 4 if file.source == stub else 0
        if re.match(rf"ex(ercise)?[ _-]?0*{number}(?!\d)", stem):
            return 1
        if file.fault is None and file.source != stub:
            defined = set(public_names(submission.tree(file.source)))
            if defined >= set(exercise.functions):
                return 2
            if defined & set(exercise.functions):
                return 3
        return NO_MATCH


NO_MATCH = 5


def entries(folder: Path) -> list[Entry]:
    """One a student, in order of their names. Raises `ValueError` if there is none."""
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder} of submissions.")
    kinds = (*KINDS, ".zip")
    found = [
        Entry(path)
        for path in sorted(folder.iterdir())
        if not path.name.startswith((".", "__")) and (path.is_dir() or path.suffix in kinds)
    ]
    if not found:
        raise ValueError(f"{folder} holds no submission: one .py, .ipynb, .zip or folder a student.")
    by_name: dict[str, Entry] = {}
    for entry in found:  # alice.py beside alice.zip are two entries of one name
        if entry.student in by_name:
            entry.student += entry.path.suffix
        by_name[entry.student] = entry
    return found


def _walk(folder: Path, deep: bool) -> Iterator[Path]:
    """The files below a folder, those of the nearest folders first."""
    inside = sorted(folder.iterdir())
    yield from (path for path in inside if path.suffix in KINDS and not path.is_dir())
    for path in inside if deep else ():
        if path.is_dir() and not path.is_symlink() and _counts(PurePosixPath(path.name)):
            yield from _walk(path, deep)


def _counts(name: PurePosixPath) -> bool:
    """Not what came with the course, nor what computers put there."""
    return not any(part.startswith((".", "__")) or part in OURS for part in name.parts)


def _unzip(path: Path) -> Iterator[tuple[str, Submission]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if _is_wanted(member)]
            for member in members[:MOST_FILES]:
                with archive.open(member) as file:
                    data = file.read(LARGEST + 1)
                if len(data) <= LARGEST:
                    yield member.filename, submission.parse(PurePosixPath(member.filename).name, data)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, ValueError):
        fault = Failure("unreadable", Text("The zip cannot be read.", "压缩包无法读取。"))
        for number in range(1, 100):  # whatever exercise is looked for
            yield f"ex{number:02}.py", Submission(path.name, fault=fault)


def _is_wanted(member: zipfile.ZipInfo) -> bool:
    name = PurePosixPath(member.filename)
    return name.suffix in KINDS and _counts(name) and not stat.S_ISLNK(member.external_attr >> 16)
