"""What a submission may not use, found in its text before it runs.

Text can hide what it does, so this finds the honest misunderstanding and marks for a person what might be
more; the sandbox holds in any case.
"""

import ast
from dataclasses import dataclass
from typing import Any

from keras_attention.course.sealed.forbidden import BUILT_IN
from keras_attention.course.verdict import Failure, Text

LIBRARIES = {"keras_attention", "keras_hub", "keras_nlp", "solutions", "tensorflow_models", "transformers"}
SYSTEM = {"_posixsubprocess", "ctypes", "multiprocessing", "posix", "socket", "subprocess"}
MODULES = LIBRARIES | SYSTEM
SUSPECT_MODULES = frozenset(("gc", "imp", "importlib", "inspect", "pickle", "pkgutil", "runpy"))
SUSPECT_NAMES = frozenset(("__import__", "__subclasses__", "eval", "exec", "compile", "globals"))
HOMES = frozenset(("layers", "ops", "nn"))


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
            if parts[0] in MODULES or module.startswith("keras.src"):
                forbidden.append(Finding(node.lineno, module))
            elif parts[0] in SUSPECT_MODULES:
                suspect.append(Finding(node.lineno, module))
        if (built_in := _built_in(node)) is not None:
            forbidden.append(Finding(node.lineno, built_in))
        if (name := _suspect(node)) is not None:
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
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("keras", "tensorflow"):
        return next((name.name for name in node.names if name.name in BUILT_IN), None)
    if isinstance(node, ast.Attribute) and node.attr in BUILT_IN and _last(node.value) in HOMES:
        return node.attr
    return None


def _suspect(node: Any) -> str | None:
    if isinstance(node, ast.Name) and node.id in SUSPECT_NAMES:
        return node.id
    if isinstance(node, ast.Attribute) and node.attr in SUSPECT_NAMES | {"modules", "_getframe"}:
        return node.attr if node.attr != "compile" else None
    is_getattr = isinstance(node, ast.Call) and _last(node.func) == "getattr"
    if is_getattr and not (len(node.args) > 1 and isinstance(node.args[1], ast.Constant)):
        return "getattr"
    if isinstance(node, ast.Constant) and node.value in BUILT_IN:
        return str(node.value)
    return None


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
