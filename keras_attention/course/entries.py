"""What a student handed in: a file, a folder, a zip or a notebook, as names and bytes.

Nothing is unpacked to disk and no link is followed, so that no name can point elsewhere.
"""

import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import IO

from keras_attention.course import submission
from keras_attention.course.catalog import Exercise
from keras_attention.course.submission import Submission, writable

# of one student; a notebook's outputs are read, but are no source
MOST_FILES, MOST_SOURCE, MOST_BYTES = 500, 2**21, 2**27
DEEPEST = 20  # folders in folders
KINDS = (".py", ".ipynb")
ARCHIVES = (".zip", ".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz")  # only the first can be read
SAFE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of what else is packed, zipfile does not bound the size
OURS = ("backups", "checks", "solutions")  # folders
LIBRARIES = ("env", "node_modules", "site-packages", "venv")  # folders
NUMBER = re.compile(r"ex(?:ercise)?[ _-]?0*(\d{1,3})(?!\d)")

Opener = Callable[[], IO[bytes]]


class Entry:
    """The Python files and notebooks of one student.

    Args:
        path: a .py or .ipynb file, a .zip, or a folder.
        deep: whether folders inside of a folder count.
    """

    def __init__(self, path: Path, deep: bool = True):
        self.path, self._deep = path, deep
        self.student = writable(path.stem.removesuffix(".tar") if path.is_file() else path.name)
        self.ignored: list[str] = []

    @cached_property
    def files(self) -> dict[str, Submission]:
        """By their names in the entry; the likeliest, if they are too many. The others are in `ignored`."""
        files: dict[str, Submission] = {}
        source = size = 0
        with ExitStack() as archives:
            for name, opener in sorted(self._list(archives), key=_likely):
                enough = len(files) == MOST_FILES or source > MOST_SOURCE or size > MOST_BYTES
                if enough or _suffix(name) not in KINDS + ARCHIVES:
                    self.ignored.append(name)
                    continue
                files[name] = file = submission.load(PurePosixPath(name).name, opener)
                source, size = source + len(file.source), size + file.size
        return files

    def _list(self, archives: ExitStack) -> Iterator[tuple[str, Opener]]:
        """The names of all files, and how to open them."""
        home = self.path if self.path.is_dir() else self.path.parent
        for path in self._walk():
            name = writable(path.relative_to(home).as_posix())
            if _suffix(name) in ARCHIVES:
                yield from _unpack(name, path, archives)
            else:
                yield name, partial(submission.open_file, path)

    def _walk(self) -> Iterator[Path]:
        if self.path.is_symlink():
            return
        if not self.path.is_dir():
            yield self.path
            return
        for folder, folders, files in os.walk(self.path, onerror=self._ignore):
            deeper = self._deep and len(Path(folder).relative_to(self.path).parts) < DEEPEST
            folders[:] = [name for name in folders if deeper and _counts(name)]
            files = [name for name in files if _counts(name) and (self._deep or _suffix(name) in KINDS)]
            yield from (Path(folder, name) for name in files)

    def _ignore(self, error: OSError) -> None:
        self.ignored.append(writable(Path(error.filename).name))

    def find(self, exercise: Exercise) -> Submission:
        """The file that solves an exercise: by its name, by its number, or by the functions it defines."""
        stub = exercise.stub
        ranks = {name: self._rank(name, exercise, stub) for name in self.files}
        best = min(ranks, key=lambda name: (ranks[name], name.count("/"), name), default="")
        if not best or ranks[best] == NO_MATCH:
            return submission.missing(exercise.name, list(ranks), self.ignored)
        return self.files[best].solving(exercise.functions)

    def _rank(self, name: str, exercise: Exercise, stub: str) -> int:
        file, stem = self.files[name], PurePosixPath(name).stem.lower()
        if _suffix(name) in ARCHIVES:
            return 4
        if stem == exercise.name:
            return 5 if file.source == stub else 0
        number = NUMBER.match(stem)
        if number and int(number[1]) == int(exercise.name[2:4]):
            return 1
        if file.source != stub:
            if file.defined >= set(exercise.functions):
                return 2
            if file.defined & set(exercise.functions):
                return 3
        return NO_MATCH


NO_MATCH = 6


def entries(folder: Path) -> list[Entry]:
    """One a student, in order of their names. Raises `ValueError` if there is none."""
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder} of submissions.")
    found = [Entry(path) for path in _visible(folder) if _is_entry(path)]
    if not found:
        raise ValueError(f"{folder} holds no submission: one .py, .ipynb, .zip or folder a student.")
    by_name: dict[str, Entry] = {}
    for entry in found:  # alice.py beside alice.zip are two entries of one name
        if entry.student in by_name:
            entry.student += entry.path.suffix
        by_name[entry.student] = entry
    return found


def ignored(folder: Path) -> list[str]:
    """What lies among the entries and is none."""
    return [writable(path.name) for path in _visible(folder) if not _is_entry(path)]


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "__")))


def _is_entry(path: Path) -> bool:
    return path.is_dir() or (path.is_file() and _suffix(path.name) in KINDS + ARCHIVES)


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _counts(name: str) -> bool:
    """Not what came with the course or with Python, nor what computers put there."""
    parts = PurePosixPath(name).parts
    return not any(part.startswith((".", "__")) or part in OURS + LIBRARIES for part in parts)


def _likely(file: tuple[str, Opener]) -> tuple[bool, int, str]:
    """Sorts first what may solve an exercise by its name, then the nearest folders."""
    name = PurePosixPath(file[0])
    is_known = name.suffix.lower() in KINDS and NUMBER.match(name.stem.lower())
    return not is_known, len(name.parts), file[0]


def _unpack(name: str, path: Path, archives: ExitStack) -> Iterator[tuple[str, Opener]]:
    """What a zip holds; an archive that cannot be read is one file, which cannot be opened."""
    try:
        archive = archives.enter_context(zipfile.ZipFile(archives.enter_context(submission.open_file(path))))
    except Exception:  # zipfile has many
        yield name, _refuse
        return
    for member in archive.infolist():
        inside = writable(member.filename)
        is_file = not member.is_dir() and stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG)
        if is_file and _counts(inside):
            can_be_read = member.compress_type in SAFE and _suffix(inside) not in ARCHIVES
            yield f"{name}/{inside}", partial(archive.open, member) if can_be_read else _refuse


def _refuse() -> IO[bytes]:
    raise zipfile.BadZipFile
