"""What a submission may not use, found in its text before it runs.

Text can hide what it does, so this finds the honest misunderstanding and marks for a person what might be
more; the sandbox holds in any case.
"""

import ast
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from keras_attention.course.sealed.forbidden import BUILT_IN, LIBRARIES
from keras_attention.course.verdict import Failure, Text

SYSTEM = {"_posixsubprocess", "ctypes", "multiprocessing", "posix", "socket", "subprocess"}
MODULES = LIBRARIES | SYSTEM
SUSPECT_MODULES = frozenset(
    ("code", "codeop", "gc", "imp", "importlib", "inspect", "pickle", "pkgutil", "runpy", "zipimport")
)
SUSPECT_NAMES = frozenset(("__import__", "__subclasses__", "eval", "exec", "compile", "globals"))
SUSPECT_NAMES |= {"__globals__", "__loader__", "__spec__", "deserialize", "model_from_json"}
HOMES = frozenset(("layers", "ops", "nn"))
PRIVATE = {("keras", "src"), ("python", "keras")}  # where Keras and TensorFlow keep theirs


@dataclass(frozen=True)
class Finding:
    line: int
    what: str


def findings(tree: ast.Module) -> tuple[list[Finding], list[Finding]]:
    """What is forbidden, and what a person should look at."""
    forbidden, suspect = [], []
    node: Any
    for node in ast.walk(tree):
        for module in _imported(node):
            parts = module.split(".")
            if parts[0] in MODULES:
                forbidden.append(Finding(node.lineno, module))
            elif parts[0] in SUSPECT_MODULES:
                suspect.append(Finding(node.lineno, module))
        if (built_in := _built_in(node)) is not None:
            forbidden.append(Finding(node.lineno, built_in))
        elif (name := _suspect(node)) is not None:
            suspect.append(Finding(node.lineno, name))
    return forbidden, suspect


def refusal(tree: ast.Module) -> Failure | None:
    """The failure of a submission that uses what it may not."""
    forbidden, _ = findings(tree)
    if not forbidden:
        return None
    first = min(forbidden, key=lambda finding: finding.line)
    text = Text(
        f"Line {first.line} uses {first.what}, which is not allowed: the exercise is to write it yourself.",
        f"第 {first.line} 行用了 {first.what}，本题不允许：请自己实现。",
    )
    return Failure("forbidden", text, line=first.line)


def _imported(node: Any) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []


def _built_in(node: ast.AST) -> str | None:
    names: list[str] = []
    if isinstance(node, ast.Attribute):
        names = [f"{_last(node.value)}.{node.attr}"]
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        home = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        names = [f"{home}{name.name}" for name in node.names]
        names = [name for name in names if name.startswith(("keras.", "tensorflow."))]
    return next(filter(_is_built_in, names), None)


def _is_built_in(name: str) -> bool:
    *homes, last = name.split(".")
    is_public = last in BUILT_IN and (homes[0] in ("keras", "tensorflow") or homes[-1] in HOMES)
    return is_public or not PRIVATE.isdisjoint(pairwise([*homes, last]))


def _suspect(node: Any) -> str | None:
    if isinstance(node, ast.Name) and node.id in SUSPECT_NAMES:
        return node.id
    if isinstance(node, ast.Attribute) and node.attr in SUSPECT_NAMES | {"modules", "_getframe"}:
        return node.attr if node.attr != "compile" else None
    is_getattr = isinstance(node, ast.Call) and _last(node.func) == "getattr"
    if is_getattr and not (len(node.args) > 1 and isinstance(node.args[1], ast.Constant)):
        return "getattr"
    if isinstance(node, ast.Attribute) and node.attr in BUILT_IN and _last(node.value) != "self":
        return node.attr
    if isinstance(node, ast.Constant) and node.value in BUILT_IN:
        return str(node.value)
    return None


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
