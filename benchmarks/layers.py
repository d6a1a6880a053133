"""Our multi-head attention beside Keras's and PyTorch's: time and memory against the length.

    python benchmarks/layers.py [--lengths 512 … 8192] [--torch-python PYTHON] [--plot FILE.png]

Self-attention of batch 1, 8 heads × 64, float32, projections included, and one typical training shape (batch
64, length 64, 8 heads × 32). Keras's layer and ours take turns in one process, call by call; PyTorch's
scaled_dot_product_attention with its projections runs in its own, round by round. A ratio is that of the
medians of a round, and what is shown is the median of the rounds. Memory is the peak of a fresh process above
what it took before the first call of that length.
"""

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

HEADS = 8
TRAINING = (64, 64, 32)  # batch, length, width of a head

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192])
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--calls", type=int, default=5, help="timed calls of each layer in a round")
parser.add_argument("--torch-python", help="a Python that has PyTorch; without it there is no such column")
parser.add_argument("--plot", type=Path)
parser.add_argument("--work", help=argparse.SUPPRESS)  # what a worker process does, as JSON


def keras_calls(batch, length, width, causal):
    """{"keras", "ours": (forward, forward and backward)}."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import keras
    import tensorflow as tf

    import keras_attention.layers

    x = tf.random.stateless_normal((batch, length, HEADS * width), seed=(0, 0))

    def calls(layer):
        layer(x[:, :2], x[:, :2])
        forward = tf.function(lambda x: layer(x, x, use_causal_mask=causal))

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(layer(x, x, use_causal_mask=causal) ** 2)
            return tape.gradient(loss, [x, *layer.trainable_variables])

        return lambda: forward(x)[0, 0, 0].numpy(), lambda: step(x)[0][0, 0, 0].numpy()

    return {
        "keras": calls(keras.layers.MultiHeadAttention(HEADS, width)),
        "ours": calls(keras_attention.layers.MultiHeadAttention(HEADS, width)),
    }


def torch_calls(batch, length, width, causal):
    import torch

    x = torch.randn(batch, length, HEADS * width)
    dense = [torch.nn.Linear(HEADS * width, HEADS * width) for _ in range(4)]

    def attend(x):
        heads = [d(x).view(batch, length, HEADS, width).transpose(1, 2) for d in dense[:3]]  # (B, H, T, D)
        output = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=causal)
        return dense[3](output.transpose(1, 2).reshape(batch, length, HEADS * width))

    def forward():
        with torch.no_grad():
            attend(x)

    def step():
        y = x.clone().requires_grad_()
        (attend(y) ** 2).sum().backward()

    return {"torch": (forward, step)}


def megabytes():
    """The most that the process ever took, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def work(peers, shape, calls, names=None, kinds=(0, 1), causal=False, memory=False):
    """Milliseconds of each layer, forward and both; or the megabytes of one layer and one kind."""
    functions = {"keras": keras_calls, "torch": torch_calls}[peers](*shape, causal)
    functions = {name: pair for name, pair in functions.items() if names is None or name in names}
    if memory:
        small = {"keras": keras_calls, "torch": torch_calls}[peers](shape[0], 16, shape[2], causal)
        for name in functions:  # what a first call of any length takes
            small[name][kinds[0]]()
        before = megabytes()
        for pair in functions.values():
            pair[kinds[0]]()
        return dict.fromkeys(functions, megabytes() - before)
    times = {name: ([], []) for name in functions}
    for call in range(calls + 1):
        for (name, pair), kind in itertools.product(functions.items(), kinds):
            start = time.perf_counter()
            pair[kind]()
            if call:  # the first one compiles
                times[name][kind].append(1e3 * (time.perf_counter() - start))
    return {name: [statistics.median(x) if x else None for x in pair] for name, pair in times.items()}


def ask(python, **task):
    """What `work` gives in a fresh process of that Python."""
    run = subprocess.run(
        [python, __file__, "--work", json.dumps(task)], check=True, capture_output=True, text=True
    )
    return json.loads(run.stdout.splitlines()[-1])


def measure(args, shape, causal=False):
    """{name: {"forward": ms, "both": ms, "MB forward": …, "MB both": …}}, the medians of the rounds."""
    pythons = {"keras": sys.executable} | ({"torch": args.torch_python} if args.torch_python else {})
    rounds = []
    for _ in range(args.rounds):
        found = {}
        for peers, python in pythons.items():
            found |= ask(python, peers=peers, shape=shape, calls=args.calls, causal=causal)
        rounds.append(found)
    results = {
        name: {
            kind: statistics.median(found[name][i] for found in rounds)
            for i, kind in enumerate(("forward", "both"))
        }
        for name in rounds[0]
    }
    for name, result in results.items():
        peers = "torch" if name == "torch" else "keras"
        for i, kind in enumerate(("forward", "both")):
            task = {"peers": peers, "shape": shape, "calls": 1, "names": [name], "kinds": [i], "memory": True}
            result[f"MB {kind}"] = ask(pythons[peers], **task, causal=causal)[name]
            ratios = (found[name][i] / found["keras"][i] for found in rounds)
            result[f"{kind} / keras"] = statistics.median(ratios)
    return results


def show(title, results):
    print(f"\n{title}")
    print(f"{'':8} {'forward ms':>11} {'both ms':>9} {'× Keras':>14} {'MB forward':>11} {'MB both':>9}")
    for name, r in results.items():
        ratios = f"{r['forward / keras']:.2f} / {r['both / keras']:.2f}"
        times = f"{r['forward']:11.1f} {r['both']:9.1f}"
        print(f"{name:8} {times} {ratios:>14} {r['MB forward']:11.0f} {r['MB both']:9.0f}", flush=True)


def plot(path, by_length):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for ax, key, label in zip(axes, ("both", "MB both"), ("ms", "peak MB"), strict=True):
        for name in next(iter(by_length.values())):
            ax.plot(list(by_length), [r[name][key] for r in by_length.values()], marker="o", label=name)
        ax.set(
            xscale="log", yscale="log", xlabel="length", ylabel=label, title=f"forward and backward, {label}"
        )
        ax.set_xticks(list(by_length), labels=[str(n) for n in by_length])
        ax.minorticks_off()
    axes[0].legend()
    figure.savefig(path, dpi=150)


def main():
    args = parser.parse_args()
    if args.work:
        return print(json.dumps(work(**json.loads(args.work))))
    batch, length, width = TRAINING
    show(f"batch {batch}, length {length}, {HEADS} × {width}", measure(args, TRAINING))
    by_length = {}
    for length in args.lengths:
        by_length[length] = measure(args, (1, length, 64))
        show(f"batch 1, length {length}, {HEADS} × 64", by_length[length])
    causal = measure(args, (1, args.lengths[-1], 64), causal=True)
    show(f"the same, length {args.lengths[-1]}, causal", causal)
    whole = by_length[args.lengths[-1]]["ours"]
    ratios = (f"{causal['ours'][kind] / whole[kind]:.2f}" for kind in ("forward", "both"))
    print(f"\nours, causal against not: {' / '.join(ratios)}")
    if args.plot:
        plot(args.plot, by_length)


if __name__ == "__main__":
    main()
