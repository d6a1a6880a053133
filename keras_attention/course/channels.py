"""The judge's end of the line to a submission: in a sealed fork, in a fresh process, or in this process.

    with channel_of_some_kind as channel:
        answer = channel.ask(request)          # bytes to bytes

A channel lives for one check. `ask` raises `Ended` when no answer comes, with what is known of the reason.
"""

from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from keras_attention.course.sealed.servant import Servant

OUTPUT = 64 * 2**10  # bytes kept of what a submission prints


@dataclass
class Ended(Exception):
    """There will be no answer: "time" (and how much there was), "memory", or "crash" (and the exit status,
    negative for a signal)."""

    reason: str
    status: int | None = None
    seconds: float = 0.0


class Channel(Protocol):
    output: bytes  # what the submission printed

    def ask(self, request: bytes) -> bytes: ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Closing:
    """A channel that closes at the end of its `with`."""

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class InPlace(Closing):
    """In this very process, so that a breakpoint in the submission stops there."""

    output = b""

    def __init__(self) -> None:
        self._servant = Servant()

    def ask(self, request: bytes) -> bytes:
        return self._servant.answer(request)
