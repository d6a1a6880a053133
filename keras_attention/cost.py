"""What attention costs: time and memory against the length, measured on the machine at hand."""

from __future__ import annotations

import ctypes
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Cost", "crossover", "measure_costs", "peak_megabytes"]

MMAP_THRESHOLD, MMAP_MAX = -3, -4  # of glibc: from how many bytes on, and how often, a block is a mapping


class Cost(NamedTuple):
    """Of one call: milliseconds, the median, and megabytes, the most that its tensors take at a time."""

    milliseconds: float
    megabytes: float


def measure_costs(
    layers: Mapping[str, Callable[[Any], Any]],
    lengths: Sequence[int],
    *,
    width: int,
    batch: int = 1,
    training: bool = False,
    calls: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[Cost]]:
    """Calls layers on random sequences (B, n, width) of each length, in turn, so that ratios mean something.

    TensorFlow compiles a layer for each length; a first call counts for nothing, a second for the memory.

    Args:
        layers: self-attention layers by name, or other functions of the inputs.
        lengths: the values of n.
        width: of the inputs.
        batch: B.
        training: also the gradients, by inputs and weights.
        calls: how many are timed.
        clock: gives the seconds. `time.process_time` adds up what all cores did for this process, which tells
            more where a machine is busy with other things.

    Returns:
        for each name a `Cost` for each length.

    >>> costs = measure_costs({"add": lambda x: x + 1, "multiply": lambda x: x * 2}, [8], width=8, calls=1)
    >>> list(costs), costs["add"][0].milliseconds > 0
    (['add', 'multiply'], True)
    """
    import tensorflow as tf

    costs: dict[str, list[Cost]] = {name: [] for name in layers}
    for length in lengths:
        x = tf.random.stateless_normal((batch, length, width), seed=(0, 0))
        steps = {name: _compile(layer, x, training) for name, layer in layers.items()}
        for step in steps.values():
            step(x)
        peaks = {name: peak_megabytes(step, x) for name, step in steps.items()}
        seconds: dict[str, list[float]] = {name: [] for name in layers}
        for _ in range(calls):
            for name, step in steps.items():
                start = clock()
                step(x)
                seconds[name].append(clock() - start)
        for name, times in seconds.items():
            costs[name].append(Cost(1e3 * statistics.median(times), peaks[name]))
    return costs


def crossover(lengths: Sequence[int], dense: Sequence[Cost], other: Sequence[Cost]) -> float | None:
    """The length from which on the other is faster; between two that were measured, by a line in log–log.

    Returns:
        that length, the first one where the other is always faster, None where the last one is too short.

    >>> dense, other = [[Cost(time, 0) for time in times] for times in ([1, 4, 16], [2, 4, 8])]
    >>> round(crossover([100, 200, 400], dense, other))
    200
    """
    gains = [math.log(a.milliseconds / b.milliseconds) for a, b in zip(dense, other, strict=True)]
    slower = [i for i, gain in enumerate(gains) if gain <= 0]
    if not slower:
        return lengths[0]
    i = slower[-1]
    if i == len(lengths) - 1:
        return None
    share = gains[i] / (gains[i] - gains[i + 1])
    return lengths[i] * (lengths[i + 1] / lengths[i]) ** share


def _compile(layer, x, training):
    """A graph that computes layer(x), and with training the gradients."""
    import tensorflow as tf

    layer(x[:, :2])  # builds its weights

    @tf.function(autograph=False)
    def step(x):
        if not training:
            return layer(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(layer(x) ** 2)
        return tape.gradient(loss, [x, *tape.watched_variables()])

    return step.get_concrete_function(x)


def peak_megabytes(call, *args):
    """The most that TensorFlow takes on the CPU during call(*args), above what it took before.

    Where TensorFlow does not count (it does where it computes with oneDNN), it is what Linux counts for the
    whole process; elsewhere NaN. Tensors of less than 256 kB may be left out.
    """
    import tensorflow as tf

    try:
        tf.config.experimental.reset_memory_stats("CPU:0")
        before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    except ValueError:
        return _peak_of_process(call, *args)
    call(*args)
    return (tf.config.experimental.get_memory_info("CPU:0")["peak"] - before) / 1e6


def _peak_of_process(call, *args):
    """The most megabytes during call(*args) above what was taken before."""

    def megabytes(name):
        lines = Path("/proc/self/status").read_text().splitlines()
        (kilobytes,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
        return int(kilobytes) * 1024 / 1e6

    try:
        libc = ctypes.CDLL(None)
        libc.malloc_trim(0)  # no tensor shall take what is free, which would go unnoticed
        libc.mallopt(MMAP_MAX, 2**16)
        libc.mallopt(MMAP_THRESHOLD, 2**18)
        Path("/proc/self/clear_refs").write_text("5")  # the peak is what is taken now
    except (OSError, AttributeError, TypeError):  # another system, or another C library
        call(*args)
        return math.nan
    before = megabytes("VmRSS")
    try:
        call(*args)
    finally:
        libc.mallopt(MMAP_THRESHOLD, 2**25)  # where glibc itself lets it rise to
    return max(megabytes("VmHWM") - before, 0.0)
