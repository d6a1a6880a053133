"""How long figures take, and whether memory stays flat.

    python benchmarks/figures.py [--calls 7]

The median of `plot_attention` on a new figure, alone and rendered, beside bare matplotlib (an image,
labels, lines between the cells, a bar, the same layout), after one call to warm up; and how memory grows over
200 figures that are drawn, rendered and closed.
"""

import argparse
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import psutil

from keras_attention.plotting import AttentionLayer, AttentionRecord, explore, plot_attention

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--calls", type=int, default=7)


def weights(*shape):
    powers = np.exp(2 * np.random.default_rng(0).normal(size=shape))
    return powers / powers.sum(-1, keepdims=True)


def draw(size, rendered=True):
    tokens = [f"token{i}" for i in range(size)]
    finish(plot_attention(weights(size, size), tokens, tokens).figure, rendered)


def draw_by_matplotlib(size):
    tokens, edges = [f"token{i}" for i in range(size)], np.arange(1, size) - 0.5
    figure, ax = plt.subplots(figsize=(9, 8), layout="compressed")
    image = ax.imshow(weights(size, size), cmap="cividis", vmin=0, vmax=1)
    ax.set_xticks(range(size), tokens, rotation=90)
    ax.set_yticks(range(size), tokens)
    ax.vlines(edges, -0.5, size - 0.5, color="white", linewidth=0.8)
    ax.hlines(edges, -0.5, size - 0.5, color="white", linewidth=0.8)
    ax.set(xlabel="source (keys)", ylabel="target (queries)")
    figure.colorbar(image, ax=ax, label="attention weight")
    finish(figure)


def finish(figure, rendered=True):
    if rendered:
        figure.canvas.draw()
    plt.close(figure)


def page():
    tokens = [f"token{i}" for i in range(64)]
    layers = [AttentionLayer(f"layer {i}", weights(12, 64, 64), tokens, tokens) for i in range(12)]
    return explore(AttentionRecord(layers))


def timed(function, *arguments):
    """Seconds of wall time and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    function(*arguments)
    return time.perf_counter() - wall, time.process_time() - processor


def report(name, calls, function, *arguments):
    function(*arguments)
    walls, processors = zip(*(timed(function, *arguments) for _ in range(calls)), strict=True)
    print(f"{name}: {statistics.median(walls):.3f} s, of the processor {statistics.median(processors):.3f} s")


if __name__ == "__main__":
    calls = parser.parse_args().calls
    for size in (20, 128, 512):
        report(f"plot_attention {size} × {size}", calls, draw, size, False)
        report(f"plot_attention {size} × {size}, rendered", calls, draw, size)
    report("bare matplotlib 20 × 20, rendered", calls, draw_by_matplotlib, 20)
    report("explore 12 × 12 × 64²", calls, page)
    print(f"its page: {len(page().html.encode()) / 1e6:.2f} MB")
    memory = []
    for count in range(201):
        draw(20)
        if count % 100 == 0:
            memory.append(psutil.Process().memory_info().rss / 1e6)
    print("MB after 1, 101 and 201 figures:", ", ".join(f"{x:.0f}" for x in memory))
