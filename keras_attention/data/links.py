"""Read gold word links that are given by the words themselves."""

from __future__ import annotations

import html
import re
from pathlib import Path

from keras_attention.data.corpus import DataError, Link, Pairs
from keras_attention.data.files import iterate_lines
from keras_attention.data.vocabulary import fold


def read_links(path: str | Path, pairs: Pairs) -> Pairs:
    """The pairs with the gold links of a file ``line0 TAB src_idx0 TAB tgt_idx0 TAB src TAB tgt``.

    The indices count another tokenisation's words, so a link is mapped by its two words, case folded, where
    each occurs once in its sentence; the others are dropped.

    Raises:
        DataError: if a line has another shape or names a sentence that does not exist.
    """
    path = Path(path)
    links: list[list[Link]] = [[] for _ in range(len(pairs))]
    for number, line in enumerate(list(iterate_lines(path)), 1):
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != 5 or not cells[0].isdecimal():
            raise DataError(
                f"{path}, line {number}: {line!r} is not a link; "
                "write `line0 TAB src_idx0 TAB tgt_idx0 TAB src TAB tgt`."
            )
        row = int(cells[0])
        if row >= len(pairs):
            raise DataError(
                f"{path}, line {number}: sentence {row} is beyond the last, {len(pairs) - 1}; "
                "choose the split that the links belong to."
            )
        source, target = find_once(cells[3], pairs.source[row]), find_once(cells[4], pairs.target[row])
        if source and target:
            links[row].append(Link(source, target))
    return Pairs(pairs.source, pairs.target, links)


def find_once(word: str, text: str) -> tuple[int, int] | None:
    """The character range of a word, case folded, if it occurs exactly once in the text."""
    pattern = rf"(?<!\w){re.escape(fold(html.unescape(word)))}(?!\w)"
    found = [match.span() for match in re.finditer(pattern, fold(text))]
    return found[0] if len(found) == 1 else None
