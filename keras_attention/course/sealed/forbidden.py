"""Attention that others wrote, taken away where submissions run: the exercise is to write it."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import FunctionType, ModuleType
from typing import Any


class Forbidden(Exception):
    """Something that a submission may not use."""


class Locked(Forbidden, ModuleNotFoundError):
    """A library that a submission may not use; to other libraries it looks as if it were not there."""


BUILT_IN = (
    "Attention",
    "AdditiveAttention",
    "BaseDenseAttention",
    "DotProductAttention",
    "GroupedQueryAttention",
    "GroupQueryAttention",
    "MultiHeadAttention",
    "dot_product_attention",
)
PARTS = ("_dot_product_attention_xla",)
LIBRARIES = frozenset((
    "d2l", "evaluate", "flax", "jax", "keras_attention", "keras_hub", "keras_nlp", "nltk", "sacrebleu",
    "solutions", "tensorflow_addons", "tensorflow_models", "tf_keras", "torch", "torchmetrics", "torchtext",
    "transformers",
))  # fmt: skip


def take_away() -> None:
    """Before Keras is loaded: spoil the built-ins as soon as they are, and lock the libraries."""
    sys.meta_path.insert(0, Guard())


class Guard(MetaPathFinder):
    """Asked first at every import."""

    def __init__(self) -> None:
        self._locked = LIBRARIES - {os.environ.get("KERAS_BACKEND")}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root = fullname.partition(".")[0]
        if root in self._locked:
            raise Locked(f"{root} may not be used here", name=root)
        spec = PathFinder.find_spec(fullname, path, target) if root in ("keras", "tensorflow") else None
        if spec and isinstance(spec.loader, SourceFileLoader):
            load = spec.loader.exec_module

            def load_and_spoil(module: ModuleType) -> None:
                load(module)
                _spoil(module)

            spec.loader.exec_module = load_and_spoil  # type: ignore[method-assign]
        return spec


def _spoil(module: ModuleType) -> None:
    """The objects themselves, so that no other name of theirs is of use."""
    for name in vars(module).keys() & {*BUILT_IN, *PARTS}:
        found, refuse = vars(module)[name], _refusal(name)
        if isinstance(found, type):
            for attribute in ["__new__", *(key for key, value in vars(found).items() if callable(value))]:
                setattr(found, attribute, refuse)
        elif isinstance(found, FunctionType) and not found.__code__.co_freevars:
            found.__code__, found.__defaults__ = _call_refusal.__code__, None
            found.__kwdefaults__ = {"refuse": refuse}
        elif callable(found):
            setattr(module, name, refuse)


def _call_refusal(*args: Any, refuse: Any, **kwargs: Any) -> Any:
    refuse()


def _refusal(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Forbidden(f"{name} is what the exercise asks you to write")

    return refuse
