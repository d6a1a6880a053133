"""A submission as checks see it: `student.call("attention", query, key, value)` gives arrays, or fails."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from keras_attention.course.channels import Channel, Closing, Ended
from keras_attention.course.sealed import values
from keras_attention.course.submission import writable
from keras_attention.course.verdict import CAUSES, Failure, Text

# what TensorFlow and Keras put around their messages: colours, names of kernels and devices
MACHINERY = re.compile(r"\x1b\[[\d;]*m|\{\{function_node [^}]*\}\} ?| ?\[Op:\w+\](?: name: ?\S*)?")

Opener = Callable[[], Channel]


@dataclass(frozen=True)
class Call:
    """What a check asked, and what it got; None for what failed."""

    request: dict[str, Any]
    result: Any


class Student(Closing):
    """Passes calls on to where the submission runs.

    Args:
        open_channel: opens the line to that place; used at the first call.
        source, filename: the submission.
        fault: why there is nothing to run, if so: every call fails with it.
        places: what to call its lines, where not by their numbers.
    """

    def __init__(
        self,
        open_channel: Opener,
        source: str,
        filename: str,
        fault: Failure | None = None,
        places: Sequence[Text] = (),
    ) -> None:
        self._open, self._source, self._filename, self._fault = open_channel, source, filename, fault
        self._places = places
        self._channel: Channel | None = None
        self.calls: list[Call] = []

    def call(self, name: str, *args: Any, returns: Sequence[str] = (), **kwargs: Any) -> Any:
        """The result of the submission's function; with `returns`, as many parts as that has names."""
        request = {"verb": "call", "name": name, "args": list(args), "kwargs": kwargs}
        return self._do(request, returns)

    def layer(
        self,
        name: str,
        *args: Any,
        options: dict[str, Any] | None = None,
        weights: dict[str, Any] | None = None,
        returns: Sequence[str] = (),
        **kwargs: Any,
    ) -> Any:
        """Make the submission's layer with `options`, give it `weights` (attribute → array), and call it."""
        request = {"verb": "layer", "name": name, "args": list(args), "kwargs": kwargs}
        return self._do(request | {"options": options or {}, "weights": weights or {}}, returns)

    def load(self, source: str) -> None:
        """Run the file of a submission; again, to have another text in the same place."""
        self._source = source
        if self._channel is None:
            self._channel = self._open()
        self._ask({"verb": "load", "source": source, "filename": self._filename})

    def repeat(self, request: dict[str, Any]) -> Any:
        """The result of a request that was made to somebody else."""
        return self._do(request, ())

    def _do(self, request: dict[str, Any], returns: Sequence[str]) -> Any:
        if self._fault:
            raise self._fault
        if self._channel is None:
            self.load(self._source)
        self.calls.append(Call(request, None))
        result = self._ask(request)
        self.calls[-1] = Call(request, result)
        if returns and not (isinstance(result, list) and len(result) == len(returns)):
            raise _wrong_parts(request["name"], result, returns)
        return result

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._channel is not None
        try:
            return read_answer(self._channel.ask(values.pack(request)), self._places)
        except Ended as end:
            raise _explain_end(end) from None

    @property
    def output(self) -> str:
        """What the submission has printed."""
        return self._channel.output.decode(errors="replace") if self._channel else ""

    def close(self) -> None:
        if self._channel:
            self._channel.close()
            self._channel = None


def read_answer(answer: bytes, places: Sequence[Text] = ()) -> Any:
    """The value in an answer. Raises `Failure`. The answer is the submission's: it may hold anything."""
    try:
        content = values.unpack(answer)
        if "value" in content:
            return content["value"]
        error = content["error"]
        cause = error["cause"] if error["cause"] in CAUSES else "exception"
        kind = error["kind"][:80] if error["kind"].isidentifier() else "Exception"
        line = error["line"] if isinstance(error["line"], int) and 0 < error["line"] < 2**20 else None
        said = writable(MACHINERY.sub("", error["message"][:2000]))
    except Exception:  # a forged answer may break the reader in any way
        text = Text("The answer holds no arrays.", "返回的内容不是数组。")
        raise Failure("wrong value", text) from None
    raise Failure(cause, _explain(cause, kind, said, _place(line, places)), said, line=line)


def _place(line: int | None, places: Sequence[Text]) -> Text:
    if line is None:
        return Text("", "")
    if line <= len(places):
        place = places[line - 1]
        return Text(f" in {place.en}", place.zh)
    return Text(f" in line {line}", f"第 {line} 行")


def _explain(cause: str, kind: str, said: str, place: Text) -> Text:
    at, an = place
    if cause == "missing":
        return Text(f"There is no {said}.", f"没有找到 {said}。")
    if cause == "memory":
        return Text(f"It needs more memory than it may use{at}.", f"{an}内存超出限制。")
    if cause == "forbidden":
        return Text(f"It does something that is not allowed here{at}.", f"{an}做了这里不允许的操作。")
    if cause == "wrong value" and kind == "Unsendable":
        return Text(f"It gives {said}.", f"返回值不合要求：{said}。")
    if cause == "wrong value":
        chinese = said.replace(" has the shape ", " 的形状是 ").replace(", not ", "，应为 ")
        return Text(f"{said}.", f"权重 {chinese}。")
    if kind == "NotImplementedError":
        return Text("It is not written yet.", "还没有写。")
    return Text(f"It raises {kind}{at}.", f"{an}抛出 {kind}。")


def _explain_end(end: Ended) -> Failure:
    if end.reason == "time":
        limit = f"{end.seconds:g}"
        text = Text(f"It takes longer than the {limit} s that it may.", f"运行超过了允许的 {limit} 秒。")
        return Failure("time", text)
    if end.reason == "memory":
        return Failure("memory", Text("It needs more memory than it may use.", "内存超出限制。"))
    how = Text("It ended its process", "程序自己结束了进程")
    if end.status and end.status < 0:
        how = Text(f"Its process ended by signal {-end.status}", f"进程被信号 {-end.status} 终止")
    return Failure("crash", Text(f"{how.en} before it returned.", f"{how.zh}，没有返回结果。"))


def _wrong_parts(name: str, result: Any, returns: Sequence[str]) -> Failure:
    parts, some = ", ".join(returns), f"{len(result)} values" if isinstance(result, list) else "one value"
    some_zh = f" {len(result)} 个值" if isinstance(result, list) else "一个值"
    text = Text(f"{name} returns {some}, not ({parts}).", f"{name} 返回了{some_zh}，应返回 ({parts})。")
    return Failure("wrong value", text)
