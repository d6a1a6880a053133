"""Time and memory against the length."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ..cost import Cost, crossover
from .description import describe_costs, remember

MARKERS = "os^Dv<>P"


def plot_costs(
    lengths: Sequence[int],
    costs: Mapping[str, Sequence[Cost]],
    title: str | None = None,
    axes: Any = None,
    *,
    dense: str | None = None,
) -> list[Axes]:
    """Draw what `cost.measure_costs` found, time and memory, on logarithmic scales.

    On these, n² is a line twice as steep as n. The legend says from which length on each layer is faster than
    the dense one.

    Args:
        lengths: the lengths that were measured.
        costs: the `Cost` at each length, by name.
        title: shown above the figure.
        axes: two Axes to draw on; a new figure by default.
        dense: the name of the layer that the others are compared with; none by default.

    Returns:
        the two Axes; nothing is shown or saved.

    >>> costs = {"dense": [Cost(1, 2), Cost(4, 8)], "window": [Cost(2, 3), Cost(3, 6)]}
    >>> time, memory = plot_costs([512, 1024], costs, dense="dense")
    >>> [text.get_text() for text in memory.get_legend().get_texts()]
    ['dense', 'window (from 840)']
    """
    if axes is None:
        figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
        if title is not None:
            figure.suptitle(title, parse_math=False)
    time, memory = axes
    for name, marker in zip(costs, MARKERS * len(costs), strict=False):
        label = name
        if dense not in (None, name):
            pays = crossover(lengths, costs[dense], costs[name])
            if pays is None:
                label += " (not up to here)"
            else:
                label += f" (from ≤ {pays})" if pays == lengths[0] else f" (from {float(f'{pays:.2g}'):.0f})"
        style = {"marker": marker, "label": label, "linewidth": 2.5 if name == dense else 1.5}
        time.plot(lengths, [cost.milliseconds for cost in costs[name]], **style)
        memory.plot(lengths, [cost.megabytes or math.nan for cost in costs[name]], **style)
    for ax, label in ((time, "milliseconds"), (memory, "peak memory, MB")):
        empty = all(np.isnan(line.get_ydata()).all() for line in ax.lines)
        ax.set(xscale="log", yscale="linear" if empty else "log", xlabel="length", ylabel=label)
        ax.set_xticks(list(lengths), labels=[str(length) for length in lengths])
        ax.minorticks_off()
        ax.grid(alpha=0.3)
    legend = memory.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1))
    for text in legend.get_texts():
        text.set_parse_math(False)
    remember(time, describe_costs, lengths, costs, title=title)
    return [time, memory]
