"""A submission's text, or why it has none."""

import ast
import io
import os
import re
import stat
import tokenize
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keras_attention.course.verdict import Failure, Text

LARGEST = 2**20


@dataclass(frozen=True)
class Submission:
    """A file as text. With a `fault` it cannot be judged further.

    `places` says for each line where the student finds it, where that is not simply the line.
    """

    filename: str
    source: str = ""
    fault: Failure | None = None
    places: tuple[Text, ...] = ()

    def to_json(self) -> dict[str, Any]:
        values: dict[str, Any] = {"filename": self.filename, "source": self.source, "places": self.places}
        if self.fault:
            names = ("cause", "text", "said", "line")
            values["fault"] = {name: getattr(self.fault, name) for name in names}
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Submission":
        fault = values.get("fault")
        if fault:
            fault = Failure(**{**fault, "text": Text(*fault["text"])})
        places = tuple(Text(*place) for place in values["places"])
        return cls(values["filename"], values["source"], fault, places)


def parse(filename: str, data: bytes) -> Submission:
    """Of a .py file, or a notebook, of which code cells are taken. Never raises for what is in it."""
    try:
        if filename.endswith(".ipynb"):
            return _notebook(filename, data)
        source = _text(data)
    except Failure as failure:
        return Submission(filename, fault=failure)
    return Submission(filename, source, syntax_fault(source))


def read(path: Path) -> Submission:
    """As `parse`, of a file; no symbolic link is followed."""
    try:
        return parse(path.name, read_bytes(path))
    except Failure as failure:
        return Submission(path.name, fault=failure)


def tree(source: str) -> ast.Module:
    """Raises `SyntaxError`, also for what is too deep to read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.parse(source)
            compile(source, "submission", "exec", dont_inherit=True)  # finds errors that parsing does not
            return parsed
    except (RecursionError, MemoryError, ValueError, OverflowError) as error:
        raise SyntaxError(f"too complicated to be read ({type(error).__name__})") from None


def syntax_fault(source: str) -> Failure | None:
    try:
        tree(source)
    except SyntaxError as error:
        line = error.lineno or 1
        text = Text(
            f"Line {line} is not valid Python: {error.msg}.", f"第 {line} 行有语法错误：{error.msg}。"
        )
        return Failure("unreadable", text, said=caret(source, error), line=line)
    return None


def caret(source: str, error: SyntaxError) -> str:
    """The line of a syntax error, and under it a caret where the error is."""
    lines = source.splitlines()
    if not error.lineno or error.lineno > len(lines):
        return ""
    shown = lines[error.lineno - 1].expandtabs()
    before = lines[error.lineno - 1][: max(0, (error.offset or 1) - 1)].expandtabs()
    return f"{shown[:300]}\n{' ' * min(len(before), 300)}^"


def missing(name: str, files: Sequence[str]) -> Submission:
    there = f" Found: {', '.join(files[:8])}." if files else ""
    there_zh = f"找到的文件：{'、'.join(files[:8])}。" if files else ""
    text = Text(f"There is no file {name}.py.{there}", f"没有文件 {name}.py。{there_zh}")
    return Submission(f"{name}.py", fault=Failure("missing", text))


def read_bytes(path: Path) -> bytes:
    """Of a regular file, following no symbolic link. Raises `Failure`."""
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _unreadable("It is no regular file.", "不是普通文件。")
            data = file.read(LARGEST + 1)
    except OSError:
        raise _unreadable(
            "The file cannot be opened (links are not followed).", "文件无法打开（不支持符号链接）。"
        ) from None
    return data


def writable(text: str) -> str:
    """What no encoding has, such as a byte of a file's name that is no text, as an escape."""
    return text.encode(errors="backslashreplace").decode()


def _text(data: bytes) -> str:
    if len(data) > LARGEST:
        raise _unreadable("The file is larger than 1 MiB.", "文件超过 1 MiB。")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _unreadable("The file is in UTF-16: save it as UTF-8.", "文件是 UTF-16 编码：请存为 UTF-8。")
    if b"\0" in data:
        raise _unreadable("The file holds NUL bytes: it is no text.", "文件含有 NUL 字节，不是文本。")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except (SyntaxError, UnicodeError, LookupError):
        raise _unreadable(
            "The file is not in UTF-8: save it as UTF-8.", "文件不是 UTF-8 编码：请存为 UTF-8。"
        ) from None


def _notebook(filename: str, data: bytes) -> Submission:
    import nbformat

    try:
        notebook = nbformat.reads(_text(data), as_version=4)
        cells = [writable(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    except Failure:
        raise
    except Exception:  # nbformat has many
        raise _unreadable("The notebook cannot be read.", "笔记本无法读取。") from None
    lines, places = [], []
    for number, cell in enumerate(cells, 1):
        kept, fault = _definitions(_without_magics(cell), number)
        if fault:
            return Submission(filename, fault=fault)
        for line, text in kept:
            lines.append(text)
            places.append(_place(number, line))
    source = "\n".join(lines) + "\n"
    return Submission(filename, source, syntax_fault(source), tuple(places))


def _without_magics(cell: str) -> str:
    if cell.lstrip().startswith("%%"):
        return ""
    return re.sub(r"^(\s*)[%!?].*$", r"\1pass", cell, flags=re.MULTILINE)


def _definitions(cell: str, number: int) -> tuple[list[tuple[int, str]], Failure | None]:
    """The lines of a cell's imports, definitions and assignments; what only tries them out is left."""
    try:
        body = tree(cell).body
    except SyntaxError as error:
        line = error.lineno or 1
        place = _place(number, line)
        en = f"{place.en.capitalize()} is not valid Python: {error.msg}."
        text = Text(en, f"{place.zh}有语法错误：{error.msg}。")
        return [], Failure("unreadable", text, said=caret(cell, error), line=line)
    lines = cell.splitlines()
    kept: list[tuple[int, str]] = []
    for node in body:
        if isinstance(node, (ast.Expr, ast.Pass)):
            continue
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
        last = node.end_lineno or node.lineno
        if first <= (kept[-1][0] if kept else 0):  # several statements in one line
            continue
        kept += [(line, lines[line - 1]) for line in range(first, last + 1)]
    return kept, None


def _place(cell: int, line: int) -> Text:
    return Text(f"cell {cell}, line {line}", f"第 {cell} 个代码单元第 {line} 行")


def _unreadable(en: str, zh: str) -> Failure:
    return Failure("unreadable", Text(en, zh))
