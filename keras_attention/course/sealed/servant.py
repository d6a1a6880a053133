"""Runs a submission as it is told: loads its source, calls its functions, builds its layers."""

import importlib.abc
import io
import linecache
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from . import figures, values
from .forbidden import Forbidden
from .givens import Given

MODULE = "submission"


class Servant:
    """Answers requests about one submission; see `protocol` for what they look like."""

    def __init__(self) -> None:
        self.module = types.ModuleType(MODULE)
        self.filename = ""

    def answer(self, request: bytes) -> bytes:
        asked = values.unpack(request, tree=len(request))
        try:
            with _student_s_rules():
                return values.pack({"value": self.do(**asked)})
        except BaseException as error:  # SystemExit and the like are the submission's, too
            return values.pack({"error": self.explain(error)})

    def do(self, verb: str, **asked: Any) -> Any:
        verbs: dict[str, Callable[..., Any]] = {"load": self.load, "call": self.call, "layer": self.layer}
        return verbs[verb](**asked)

    def load(self, source: str, filename: str) -> None:
        """Run the submission's file from its text, so that nothing in its folder is ever imported."""
        self.filename = filename
        self.module = types.ModuleType(MODULE)
        self.module.__file__, self.module.__loader__ = filename, Source(source)
        sys.modules[MODULE] = self.module
        linecache.cache[filename] = (len(source), None, io.StringIO(source).readlines(), filename)
        exec(compile(source, filename, "exec", dont_inherit=True), self.module.__dict__)

    def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        args, kwargs = _build(args, kwargs)
        return self._find(name)(*args, **kwargs)

    def layer(
        self,
        name: str,
        options: dict[str, Any],
        weights: dict[str, np.ndarray],
        args: list[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Make a layer, let a first call build it, give it the weights, call it."""
        layer = self._find(name)(**options)
        layer(*_build(args, kwargs)[0], **_build(args, kwargs)[1])
        for path, array in weights.items():
            self._assign(layer, path, array)
        args, kwargs = _build(args, kwargs)
        return layer(*args, **kwargs)

    def _find(self, name: str) -> Any:
        found = getattr(self.module, name, None)
        if not callable(found):
            raise Missing(name)
        return found

    def _assign(self, layer: Any, path: str, array: np.ndarray) -> None:
        weight = layer
        for part in path.split("."):
            weight = getattr(weight, part, None)
        if not hasattr(weight, "assign"):
            raise Missing(f"{type(layer).__name__}.{path}")
        shape = tuple(weight.shape)
        if shape != array.shape:
            raise WrongWeights(f"{path} has the shape {shape}, not {array.shape}")
        weight.assign(array)

    def explain(self, error: BaseException) -> dict[str, Any]:
        """An error as data; it may be of a class that the submission wrote, so nothing of it is trusted."""
        try:
            message = str(error)[:2000]
        except BaseException:
            message = "(the error cannot say what it is)"
        return {
            "cause": _cause(error),
            "kind": type(error).__name__[:80],
            "message": message.encode(errors="replace").decode(),
            "line": self._line(error),
        }

    def _line(self, error: BaseException) -> int | None:
        """The last line of the submission that took part in the error."""
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if self._is_ours(frame)]
        return lines[-1] if lines else None

    def _is_ours(self, frame: types.FrameType) -> bool:
        return frame.f_code.co_filename == self.filename


class Source(importlib.abc.InspectLoader):
    """A loader that has only the text: tools that read it, as AutoGraph does, look into no file."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        return self.text


class Missing(Exception):
    """The submission lacks what the check asks for."""


class WrongWeights(Exception):
    """A layer's weights are not laid out as the exercise says."""


def _cause(error: BaseException) -> str:
    if isinstance(error, Missing):
        return "missing"
    if isinstance(error, (WrongWeights, values.Unsendable)):
        return "wrong value"
    if isinstance(error, PermissionError) or any(isinstance(cause, Forbidden) for cause in _behind(error)):
        return "forbidden"
    if isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError":
        return "memory"
    return "exception"


def _behind(error: BaseException | None, most: int = 20) -> list[BaseException]:
    """The error and those in whose handling it was raised: Keras says so what it cannot build from JSON."""
    return [error, *_behind(error.__context__, most - 1)] if error and most else []


def _build(args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Fresh copies for the submission, which may write into them; givens become functions."""

    def build(value: Any) -> Any:
        if isinstance(value, Given):
            return value.build()
        return np.array(value) if isinstance(value, np.ndarray) else value

    return [build(value) for value in args], {key: build(value) for key, value in kwargs.items()}


@contextmanager
def _student_s_rules() -> Iterator[None]:
    """Warnings are no failure, whatever the process around says; figures do not pile up; what is printed is
    on its way before the answer is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            figures.close_all()
            with suppress(BaseException):  # the submission may have put something else there
                sys.stdout.flush()
