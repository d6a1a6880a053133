"""Read parallel text from files: a TSV or CSV of pairs, or a folder of ``LANG.SPLIT.txt``.

Lines end at ``\\n`` only (one ``\\r`` before it is dropped), so that U+2028, 0x85 and their kin, which
``str.splitlines`` breaks at, stay inside their sentence. No-break spaces are kept as they are.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from pathlib import Path

from keras_attention.data.corpus import DataError, Pairs

LANGUAGE = r"[a-z]{2,3}(?:_[A-Za-z]{2,4})?"
FILE_NAME = re.compile(rf"({LANGUAGE})\.(\w+)\.txt")
DIRECTION = re.compile(rf"({LANGUAGE})-({LANGUAGE})")
HEADERS = {("source", "target"), ("src", "tgt"), ("src", "trg")}


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file (``.gz`` too), with or without a byte order mark.

    Raises:
        FileNotFoundError: if there is no such file.
        DataError: if it is empty, or in another encoding; it names the line and the likely encoding.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}; check the path.")
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = _decode(data, path)
    if not text.strip():
        raise DataError(f"{path} is empty; it needs one sentence, or one pair of sentences, a line.")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _decode(data: bytes, path: Path) -> str:
    zero = data.find(b"\0")  # UTF-16 of plain English is valid UTF-8, full of zeros
    try:
        text, wrong = data.decode("utf-8-sig"), zero
    except UnicodeDecodeError as error:
        text, wrong = "", error.start if zero < 0 else min(zero, error.start)
    if wrong < 0:
        return text
    encoding = likely_encoding(data)
    line = data.count(b"\n", 0, wrong) + 1
    raise DataError(
        f"{path}, line {line}: not UTF-8 but probably {encoding}; "
        f"convert it with `iconv -f {encoding} -t UTF-8`."
    )


COMMON_GBK = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")  # punctuation and the 3755 commonest characters


def likely_encoding(data: bytes) -> str:
    """A guess for bytes that are not UTF-8: UTF-16 has marks or zeros, most of GBK is common characters."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data:
        return "UTF-16"
    runs = re.findall(rb"[\x80-\xff]+", data)
    if 2 * sum(2 * len(COMMON_GBK.findall(run)) for run in runs) > sum(map(len, runs)):
        return "GBK"
    return "CP1252" if re.search(rb"[\x80-\x9f]", data) else "LATIN1"


def read_pairs(path: Path) -> Pairs:
    """A file of pairs, TAB-separated or ``.csv`` with quotes; columns after the second are ignored.

    A first line ``source,target`` is taken as a heading.

    Raises:
        DataError: if a line has fewer than two columns or an empty side; it names the line.
    """
    rows = read_rows(path)
    if tuple(cell.strip().lower() for cell in rows[0][1][:2]) in HEADERS:
        rows = rows[1:]
    for number, row in rows:
        if len(row) < 2:
            raise DataError(
                f"{path}, line {number}: one column where two are needed; separate source and target by "
                f"{separator(path)}."
            )
        if not row[0].strip() or not row[1].strip():
            side = "target" if row[0].strip() else "source"
            raise DataError(f"{path}, line {number}: the {side} is empty; fill it in or remove the line.")
    if not rows:
        raise DataError(f"{path} holds a heading but no pairs; add one pair a line.")
    return Pairs([row[0] for _, row in rows], [row[1] for _, row in rows])


def read_rows(path: Path) -> list[tuple[int, list[str]]]:
    """(line number, cells) of every row of a TSV or CSV file."""
    lines = read_lines(path)
    if ".csv" in path.suffixes:
        return _csv_rows(lines, path)
    return list(enumerate((line.split("\t") for line in lines), 1))


def separator(path: Path) -> str:
    return "a comma" if ".csv" in path.suffixes else "a TAB"


def _csv_rows(lines: list[str], path: Path) -> list[tuple[int, list[str]]]:
    """(line number, cells) of every row; a quoted cell may run over several lines."""
    reader = csv.reader((line + "\n" for line in lines), strict=True)
    rows, start = [], 1
    try:
        for row in reader:
            rows.append((start, row))
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}, line {start}: not valid CSV ({error}); check its quotes.") from None
    return rows


def read_folder(
    folder: Path, source: str | None = None, target: str | None = None
) -> tuple[dict[str, Pairs], tuple[str, str]]:
    """A folder of ``LANG.SPLIT.txt``, one sentence a line: (its splits, the languages).

    The direction is ``source`` to ``target`` where given, else that of a folder named like ``en-de``, else
    alphabetical with English as the source.

    Raises:
        DataError: if the folder has another shape, a language lacks a split, two files differ in their
            number of lines, or a line is empty.
    """
    found = {match.group(1, 2) for file in folder.iterdir() if (match := FILE_NAME.fullmatch(file.name))}
    languages, names = {language for language, _ in found}, {split for _, split in found}
    if len(languages) < 2 or "train" not in names:
        files = sorted(file.name for file in folder.iterdir())
        raise DataError(
            f"{folder} holds {', '.join(files[:6]) or 'nothing'}{' …' * (len(files) > 6)}; it needs files "
            "LANG.SPLIT.txt in two languages, such as en.train.txt and fr.train.txt."
        )
    source, target = choose_direction(folder.name, languages, source, target, str(folder))
    splits = {}
    for split in sorted(names):
        missing = [language for language in (source, target) if (language, split) not in found]
        if len(missing) == 2:
            continue  # a split of other languages
        if missing:
            raise DataError(
                f"{folder} lacks {missing[0]}.{split}.txt; add it, or remove the other language's."
            )
        splits[split] = _parallel(folder / f"{source}.{split}.txt", folder / f"{target}.{split}.txt")
    if "train" not in splits:
        raise DataError(f"{folder} lacks {source}.train.txt and {target}.train.txt; add them.")
    return splits, (source, target)


def _parallel(source: Path, target: Path) -> Pairs:
    sides = read_lines(source), read_lines(target)
    if len(sides[0]) != len(sides[1]):
        raise DataError(
            f"{source} has {len(sides[0])} lines but {target} has {len(sides[1])}; "
            "line i of one must translate line i of the other."
        )
    for path, lines in zip((source, target), sides, strict=True):
        for number, line in enumerate(lines, 1):
            if not line.strip():
                raise DataError(
                    f"{path}, line {number}: the sentence is empty; "
                    "fill it in or remove the line from both files."
                )
    return Pairs(*sides)


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
