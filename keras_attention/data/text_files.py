"""Read labelled texts from files: a TSV or CSV with a label and a text a row."""

from __future__ import annotations

import re
from pathlib import Path

from keras_attention.data.corpus import ALIASES, DataError
from keras_attention.data.files import iterate_rows, separator
from keras_attention.data.texts import Texts

LABEL_HEADINGS = ("label", "class", "category", "sentiment")
TEXT_HEADINGS = ("text", "sentence", "review", "content")
SPLIT_NAME = re.compile(r"(?P<stem>.+)\.(?P<split>train|val|valid|validation|dev|test)(?P<end>(\.\w+)+)")


def read_texts(
    path: Path,
    label_column: str | None = None,
    text_column: str | None = None,
    skip_empty: bool = False,
) -> tuple[Texts, int]:
    """Labelled texts of a file, TAB-separated or ``.csv`` with quotes: (texts, rows left out).

    A first line is taken as a heading if a column is asked for by its name, or if one of its cells is label,
    class, category or sentiment. Else the label comes first, then the text.

    Args:
        path: a file in UTF-8, ``.gz`` too.
        label_column, text_column: a name in the heading, or a number from 1.
        skip_empty: leave rows without a text out, instead of refusing them.

    Raises:
        DataError: if there is no such column, a row lacks one, or its label or text is empty; it names the
            line.
    """
    rows = list(iterate_rows(path))
    heading = _heading(rows[0][1], label_column, text_column)
    label, text = _columns(path, rows[0][1], heading, label_column, text_column)
    if heading:
        rows = rows[1:]
    texts, labels, skipped = [], [], 0
    for number, row in rows:
        if len(row) <= max(label, text):
            if row in ([], [""]):
                raise DataError(f"{path}, line {number}: the line is empty; remove it.")
            columns = "1 column" if len(row) == 1 else f"{len(row)} columns"
            raise DataError(
                f"{path}, line {number}: {columns} where {max(label, text) + 1} are needed; "
                f"separate label and text by {separator(path)}."
            )
        if not row[text].strip():
            if skip_empty:
                skipped += 1
                continue
            raise DataError(
                f"{path}, line {number}: the text is empty; fill it in, or leave such rows out: --skip-empty."
            )
        if not row[label].strip():
            raise DataError(f"{path}, line {number}: the label is missing; fill it in or remove the row.")
        texts.append(row[text])
        labels.append(row[label].strip())
    if not texts:
        raise DataError(f"{path} holds no text; add one row a text, its label first.")
    return Texts(texts, labels), skipped


def _heading(first: list[str], *columns: str | None) -> bool:
    by_name = any(column is not None and not column.isdecimal() for column in columns)
    return by_name or any(cell.strip().lower() in LABEL_HEADINGS for cell in first)


def _columns(
    path: Path, first: list[str], heading: bool, label_column: str | None, text_column: str | None
) -> tuple[int, int]:
    """The numbers of the label's and the text's column, from 0."""
    names = [cell.strip() for cell in first]
    label, text = _find(path, names, label_column), _find(path, names, text_column)
    lower = [name.lower() for name in names]
    if label is None:
        known = [i for i, name in enumerate(lower) if heading and name in LABEL_HEADINGS and i != text]
        label = known[0] if known else next(i for i in range(len(names) + 1) if i != text)
    if text is None:
        known = [i for i, name in enumerate(lower) if heading and name in TEXT_HEADINGS and i != label]
        others = [i for i in range(len(names)) if i != label]
        if heading and not known and len(others) > 1:
            listed = ", ".join(names[i] for i in others)
            raise DataError(
                f"{path}: which column is the text is not clear; choose one of {listed} by --text-column."
            )
        text = (known or others or [label + 1])[0]
    if label == text:
        raise DataError(f"{path}: label and text cannot both be column {label + 1}; choose another.")
    return label, text


def _find(path: Path, names: list[str], column: str | None) -> int | None:
    if column is None:
        return None
    if column in names:
        return names.index(column)
    if column.isdecimal() and 1 <= int(column) <= len(names):
        return int(column) - 1
    raise DataError(
        f"{path} has no column {column!r}; its first line is {', '.join(name[:30] for name in names[:8])}"
        f"{' …' * (len(names) > 8)}."
    )


def beside(path: Path) -> dict[str, Path]:
    """The files that make one corpus: of NAME.train.tsv also NAME.dev.tsv and NAME.test.tsv, if they exist.

    A file NAME.test.tsv alone is a test split, a file of any other name is one that is yet to be split.
    """
    match = SPLIT_NAME.fullmatch(path.name)
    if not match:
        return {"train": path}
    if match["split"] != "train":
        return {ALIASES.get(match["split"], match["split"]): path}
    found: dict[str, Path] = {}
    for split in ("train", "test", "validation", *ALIASES):
        file = path.with_name(f"{match['stem']}.{split}{match['end']}")
        if file.is_file():
            found.setdefault(ALIASES.get(split, split), file)
    return found or {"train": path}
