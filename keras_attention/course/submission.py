"""A submission's text, or why it has none."""

import ast
import io
import os
import re
import stat
import tokenize
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import IO, Any

from keras_attention.course.catalog import exercises, public_names
from keras_attention.course.verdict import Failure, Text

LARGEST = 2**20  # bytes of source
LARGEST_NOTEBOOK = 2**25  # most of which may be figures

# what only IPython reads: %magic, !command, ?help, help?, also at the right of an assignment
COMMAND = re.compile(
    r"^([ \t]*)(?:(?:\w[\w., \t]*=[ \t]*)?(?:%%?[A-Za-z]|!(?!=)|\?|get_ipython\(\))(?:.*\\\n)*.*"
    r"|[%\w.*\[\]]+\?\??[ \t]*)$",
    re.MULTILINE,
)
RUNS_ITS_CELL = ("capture", "prun", "time", "timeit")  # magics

IMPORTS = (ast.Import, ast.ImportFrom)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Submission:
    """A file as text. With a `fault` it cannot be judged further.

    `places` says for each line where the student finds it, where that is not simply the line. `size` is the
    file's, in bytes.
    """

    filename: str
    source: str = ""
    fault: Failure | None = None
    places: tuple[Text, ...] = ()
    size: int = 0

    @cached_property
    def defined(self) -> frozenset[str]:
        """The functions and classes in what can be read of it."""
        try:
            return frozenset(public_names(tree(self.source)))
        except SyntaxError:
            return frozenset()

    def solving(self, names: Sequence[str]) -> "Submission":
        """As it is judged where these names are asked for: if it defines them, no other cell is a fault."""
        return replace(self, fault=None) if self.defined.issuperset(names) else self

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
        if _is_notebook(filename):
            read = _notebook(filename, data)
        elif len(data) > LARGEST:
            raise _unreadable("The file is larger than 1 MiB.", "文件超过 1 MiB。")
        else:
            source = _python(_text(data))
            read = Submission(filename, source, syntax_fault(source))
    except Failure as failure:
        read = Submission(filename, fault=failure)
    return replace(read, size=len(data))


def read(path: Path) -> Submission:
    """As `parse`, of a file; no symbolic link is followed."""
    return load(path.name, lambda: open_file(path))


def load(filename: str, opener: Callable[[], IO[bytes]]) -> Submission:
    """As `parse`, of what is opened; if it cannot be read, that is its fault."""
    try:
        with opener() as file:
            data = file.read(1 + (LARGEST_NOTEBOOK if _is_notebook(filename) else LARGEST))
    except Failure as failure:
        return Submission(filename, fault=failure)
    except Exception:  # zipfile and what it uses have many
        en, zh = "cannot be unpacked: pack the files anew, in one .zip.", "无法解压：请重新打包成一个 .zip。"
        return Submission(filename, fault=_unreadable(f"{filename} {en}", f"{filename} {zh}"))
    return parse(filename, data)


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
    if (error := _syntax_error(source)) is None:
        return None
    line = error.lineno or 1
    text = Text(f"Line {line} is not valid Python: {error.msg}.", f"第 {line} 行有语法错误：{error.msg}。")
    return Failure("unreadable", text, said=caret(source, error), line=line)


def _syntax_error(source: str) -> SyntaxError | None:
    try:
        tree(source)
    except SyntaxError as error:
        return error
    return None


def caret(source: str, error: SyntaxError) -> str:
    """The line of a syntax error, and under it a caret where the error is."""
    lines = source.split("\n")
    if not error.lineno or error.lineno > len(lines):
        return ""
    shown = lines[error.lineno - 1].expandtabs()
    before = lines[error.lineno - 1][: max(0, (error.offset or 1) - 1)].expandtabs()
    return f"{shown[:300]}\n{' ' * min(len(before), 300)}^"


def missing(name: str, files: Sequence[str], ignored: Sequence[str] = ()) -> Submission:
    there = f" Found: {', '.join(files[:8])}." if files else ""
    there_zh = f"找到的文件：{'、'.join(files[:8])}。" if files else ""
    if ignored:
        there += f" Not read: {', '.join(ignored[:8])}."
        there_zh += f"没有读取：{'、'.join(ignored[:8])}。"
    text = Text(f"There is no file {name}.py.{there}", f"没有文件 {name}.py。{there_zh}")
    return Submission(f"{name}.py", fault=Failure("missing", text))


def open_file(path: Path) -> IO[bytes]:
    """A regular file, following no symbolic link. Raises `Failure`."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        raise _unreadable(
            "The file cannot be opened (links are not followed).", "文件无法打开（不支持符号链接）。"
        ) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _unreadable("It is no regular file.", "不是普通文件。")
    return os.fdopen(descriptor, "rb")


def writable(text: str) -> str:
    """What no encoding has, such as a byte of a file's name that is no text, as an escape."""
    return text.encode(errors="backslashreplace").decode()


def _is_notebook(filename: str) -> bool:
    return filename.lower().endswith(".ipynb")


def _text(data: bytes) -> str:
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

    # a figure is one long text; lists and objects take a hundred times the memory of their brackets
    if len(data) > LARGEST_NOTEBOOK or data.count(b"[") + data.count(b"{") > LARGEST:
        raise _unreadable("The notebook is too large: clear its outputs.", "笔记本太大：请清除输出。")
    try:
        # as nbformat.reads, which would also validate each cell, and go on
        notebook = nbformat.convert(nbformat.reader.reads(_text(data)), 4)
        sources = [writable(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    except Failure:
        raise
    except Exception:  # nbformat has many
        raise _unreadable("The notebook cannot be read.", "笔记本无法读取。") from None
    if sum(map(len, sources)) > LARGEST:
        raise _unreadable("The notebook has more than 1 MiB of code.", "笔记本的代码超过 1 MiB。")
    fault: Failure | None = None
    statements = []
    for number, cell in enumerate(map(_python, sources), 1):
        try:
            body = tree(cell).body
        except SyntaxError as error:
            fault = fault or _cell_fault(cell, number, error)
            continue
        encoded = cell.encode().split(b"\n")
        statements += [(node, number, encoded) for node in body]
    lines, places = [], []
    for node, number, encoded in _needed(statements):
        for line, text in _rows(node, encoded):
            lines.append(text)
            places.append(_place(number, line))
    source = "\n".join(lines) + "\n"
    return Submission(filename, source, fault or syntax_fault(source), tuple(places))


def _python(source: str) -> str:
    """With its lines as Python counts them, and, if that makes it Python, without what only IPython reads."""
    source = re.sub(r"\r\n?", "\n", source)
    magic = re.match(r"\s*%%(\w*)", source)
    if magic and magic[1] not in RUNS_ITS_CELL:
        return ""
    if "get_ipython()" not in source and _syntax_error(source) is None:
        return source
    plain = COMMAND.sub(lambda found: f"{found[1]}pass" + "\n" * found[0].count("\n"), source)
    return source if _syntax_error(plain) else plain


def _cell_fault(cell: str, number: int, error: SyntaxError) -> Failure:
    line = error.lineno or 1
    place = _place(number, line)
    en = f"{place.en.capitalize()} is not valid Python: {error.msg}."
    text = Text(en, f"{place.zh}有语法错误：{error.msg}。")
    return Failure("unreadable", text, said=caret(cell, error), line=line)


def _needed(statements: Sequence[tuple[Any, int, list[bytes]]]) -> list[tuple[Any, int, list[bytes]]]:
    """Definitions, and what they may need; what only tries them out is left."""
    definitions = [node for node, *_ in statements if isinstance(node, DEFINITIONS)]
    used = {"*"} | _asked() | {node.name for node in definitions} | _names(*definitions)
    needed = []
    for statement in reversed(statements):
        node = statement[0]
        if isinstance(node, (ast.Expr, ast.Pass)) or used.isdisjoint(_gives(node)):
            continue
        used |= _names(node)
        needed.append(statement)
    needed.reverse()
    return sorted(needed, key=lambda statement: not _is_future(statement[0]))


def _gives(node: Any) -> set[str]:
    """The names that a statement gives something, if it does no more than that; else any name, "*"."""
    if isinstance(node, IMPORTS) and not _is_future(node):
        return {(item.asname or item.name).split(".")[0] for item in node.names}
    if isinstance(node, ASSIGNMENTS):
        return _names(*(node.targets if isinstance(node, ast.Assign) else [node.target]))
    return {"*"}


def _names(*nodes: ast.AST) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _is_future(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


@cache
def _asked() -> frozenset[str]:
    """What the exercises ask for, by any of which an assignment may answer."""
    return frozenset(name for exercise in exercises() for name in exercise.functions)


def _rows(node: Any, lines: list[bytes]) -> list[tuple[int, str]]:
    """The lines of a statement and their numbers; what is no definition may fail, which ends nothing."""
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
    last = node.end_lineno
    part = lines[first - 1 : last]
    part[-1] = part[-1][: node.end_col_offset]
    part[0] = part[0][node.col_offset :]
    rows = list(enumerate((text.decode() for text in part), first))
    if isinstance(node, DEFINITIONS + IMPORTS):
        return rows
    texts = (item for item in ast.walk(node) if isinstance(item, (ast.Constant, ast.JoinedStr)))
    spans = {(item.lineno, item.end_lineno or item.lineno) for item in texts}
    in_texts = {line for start, end in spans for line in range(start + 1, end + 1)}
    rows = [(line, text if line in in_texts else f" {text}") for line, text in rows]
    return [(first, "try:"), *rows, (last, "except (Exception, SystemExit): pass")]


def _place(cell: int, line: int) -> Text:
    return Text(f"cell {cell}, line {line}", f"第 {cell} 个代码单元第 {line} 行")


def _unreadable(en: str, zh: str) -> Failure:
    return Failure("unreadable", Text(en, zh))
