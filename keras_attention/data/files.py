"""Read parallel text from files: a TSV or CSV of pairs, or a folder of ``LANG.SPLIT.txt``.

Lines end at ``\\n`` only (one ``\\r`` before it is dropped), so that U+2028, 0x85 and their kin, which
``str.splitlines`` breaks at, stay inside their sentence. No-break spaces are kept as they are.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from keras_attention.data.corpus import DataError, Pairs

LANGUAGE = r"[a-z]{2,3}(?:_[A-Za-z]{2,4})?"
FILE_NAME = re.compile(rf"({LANGUAGE})\.(\w+)\.txt")
DIRECTION = re.compile(rf"({LANGUAGE})-({LANGUAGE})")
HEADERS = {("source", "target"), ("src", "tgt"), ("src", "trg")}


def iterate_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file (``.gz`` too), with or without a byte order mark, one at a time.

    Raises:
        FileNotFoundError: if there is no such file.
        DataError: if it is empty, or in another encoding; it names the line and the likely encoding.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}; check the path.")
    if not any(line.strip() for line in _decoded(path)):
        raise DataError(f"{path} is empty; it needs one sentence, or one pair of sentences, a line.")
    yield from _decoded(path)


def _decoded(path: Path) -> Iterator[str]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                text = "\0"
            if "\0" in text:  # UTF-16 of plain English is valid UTF-8, full of zeros
                encoding = likely_encoding(line + file.read(1 << 20))
                raise DataError(
                    f"{path}, line {number}: not UTF-8 but probably {encoding}; "
                    f"convert it with `iconv -f {encoding} -t UTF-8`."
                )
            yield text.removesuffix("\n").removesuffix("\r")


COMMON_GBK = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")  # punctuation and the 3755 commonest characters


def likely_encoding(data: bytes) -> str:
    """A guess for bytes that are not UTF-8: UTF-16 has marks or zeros, most of GBK is common characters."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data:
        return "UTF-16"
    runs = re.findall(rb"[\x80-\xff]+", data)
    if 2 * sum(2 * len(COMMON_GBK.findall(run)) for run in runs) > sum(map(len, runs)):
        return "GBK"
    return "CP1252" if re.search(rb"[\x80-\x9f]", data) else "LATIN1"


def collect(rows: Iterable[tuple[str, str]]) -> Pairs:
    """Rows as two columns."""
    sides: tuple[list[str], list[str]] = ([], [])
    for row in rows:
        for side, text in zip(sides, row, strict=True):
            side.append(text)
    return Pairs(*sides)


def iterate_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """A file of pairs, TAB-separated or ``.csv`` with quotes; columns after the second are ignored.

    A first line ``source,target`` is taken as a heading.

    Raises:
        DataError: if a line has fewer than two columns or an empty side; it names the line.
    """
    return _encoding_first(_pairs(path), path)


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    found = False
    for number, row in iterate_rows(path):
        if number == 1 and tuple(cell.strip().lower() for cell in row[:2]) in HEADERS:
            continue
        if len(row) < 2:
            raise DataError(
                f"{path}, line {number}: one column where two are needed; separate source and target by "
                f"{separator(path)}."
            )
        if not row[0].strip() or not row[1].strip():
            side = "target" if row[0].strip() else "source"
            raise DataError(f"{path}, line {number}: the {side} is empty; fill it in or remove the line.")
        found = True
        yield row[0], row[1]
    if not found:
        raise DataError(f"{path} holds a heading but no pairs; add one pair a line.")


def _encoding_first(rows: Iterator[tuple[str, str]], *paths: Path) -> Iterator[tuple[str, str]]:
    """The rows; where one is bad, a later line that is not UTF-8 is the better explanation."""
    try:
        yield from rows
    except DataError:
        for path in paths:
            for _ in iterate_lines(path):
                pass
        raise


def iterate_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of every row of a TSV or CSV file."""
    if ".csv" in path.suffixes:
        return _csv_rows(path)
    return ((number, line.split("\t")) for number, line in enumerate(iterate_lines(path), 1))


def separator(path: Path) -> str:
    return "a comma" if ".csv" in path.suffixes else "a TAB"


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of every row; a quoted cell may run over several lines."""
    reader = csv.reader((line + "\n" for line in iterate_lines(path)), strict=True)
    start = 1
    try:
        for row in reader:
            yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}, line {start}: not valid CSV ({error}); check its quotes.") from None


def read_folder(
    folder: Path, source: str | None = None, target: str | None = None
) -> tuple[dict[str, Pairs], tuple[str, str]]:
    """A folder of ``LANG.SPLIT.txt``, one sentence a line: (its splits, the languages).

    Raises:
        DataError: as `folder_files` and `iterate_parallel`.
    """
    files, languages = folder_files(folder, source, target)
    return {split: collect(iterate_parallel(*paths)) for split, paths in files.items()}, languages


def folder_files(
    folder: Path, source: str | None = None, target: str | None = None
) -> tuple[dict[str, tuple[Path, Path]], tuple[str, str]]:
    """The source and the target file of each split of a folder, and the languages.

    The direction is ``source`` to ``target`` where given, else that of a folder named like ``en-de``, else
    alphabetical with English as the source.

    Raises:
        DataError: if the folder has another shape, or a language lacks a split.
    """
    found = {match.group(1, 2) for file in folder.iterdir() if (match := FILE_NAME.fullmatch(file.name))}
    languages, names = {language for language, _ in found}, {split for _, split in found}
    if len(languages) < 2 or "train" not in names:
        held = sorted(file.name for file in folder.iterdir())
        raise DataError(
            f"{folder} holds {', '.join(held[:6]) or 'nothing'}{' …' * (len(held) > 6)}; it needs files "
            "LANG.SPLIT.txt in two languages, such as en.train.txt and fr.train.txt."
        )
    source, target = choose_direction(folder.name, languages, source, target, str(folder))
    files = {}
    for split in sorted(names):
        missing = [language for language in (source, target) if (language, split) not in found]
        if len(missing) == 2:
            continue  # a split of other languages
        if missing:
            raise DataError(
                f"{folder} lacks {missing[0]}.{split}.txt; add it, or remove the other language's."
            )
        files[split] = folder / f"{source}.{split}.txt", folder / f"{target}.{split}.txt"
    if "train" not in files:
        raise DataError(f"{folder} lacks {source}.train.txt and {target}.train.txt; add them.")
    return files, (source, target)


def iterate_parallel(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """Line i of one file with line i of the other.

    Raises:
        DataError: if the files differ in their number of lines, or a line is empty; it names the line.
    """
    return _encoding_first(_parallel(source, target), source, target)


def _parallel(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    for number, pair in enumerate(zip_longest(iterate_lines(source), iterate_lines(target)), 1):
        if None in pair:
            counts = [sum(1 for _ in iterate_lines(path)) for path in (source, target)]
            raise DataError(
                f"{source} has {counts[0]} lines but {target} has {counts[1]}; "
                "line i of one must translate line i of the other."
            )
        for path, line in zip((source, target), pair, strict=True):
            if not line.strip():
                raise DataError(
                    f"{path}, line {number}: the sentence is empty; "
                    "fill it in or remove the line from both files."
                )
        yield pair


def choose_direction(
    name: str, languages: set[str], source: str | None, target: str | None, where: str
) -> tuple[str, str]:
    """(source, target) among ``languages``: as asked, as ``name`` says, or alphabetical from English."""
    listed = ", ".join(sorted(languages))
    for language in (source, target):
        if language is not None and language not in languages:
            raise DataError(f"{where} has no language {language!r}; choose from {listed}.")
    match = DIRECTION.fullmatch(name)
    if source is None and target is None and match and languages.issuperset(match.groups()):
        return match[1], match[2]
    rest = sorted(languages - {source, target}, key=lambda language: (language != "en", language))
    if source is None and target is None and len(rest) == 2:
        return rest[0], rest[1]
    if source is not None and target is not None and source != target:
        return source, target
    if len(rest) == 1 and source != target:
        return source or rest[0], target or rest[0]
    raise DataError(
        f"{where} has the languages {listed}; name the direction, as in {where}:{_example(languages)}."
    )


def _example(languages: set[str]) -> str:
    return "-".join(sorted(languages, key=lambda language: (language != "en", language))[:2])
