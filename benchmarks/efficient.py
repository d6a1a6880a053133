"""The efficient layers beside Keras's dense one: time and memory against the length, and where each pays.

    python benchmarks/efficient.py [--lengths 512 … 16384] [--training] [--layers NAME …] [--plot FILE.png]

Self-attention of batch 1, 8 heads × 64, float32, projections included: forward, and with --training forward
and backward. The layers take turns in one process, call by call; what is shown is the median of the calls,
its ratio to the first layer, `keras.layers.MultiHeadAttention`, and the most that its tensors take at a time.
With --cpu it is the time of all cores, for a machine that is busy with other things.
"""

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

HEADS, WIDTH = 8, 64
WINDOW = 256
NAMES = [
    "keras",
    "keras sliding_window",
    "ours, dense",
    "longformer",
    "big bird",
    "performer",
    "reformer",
    "linear",
]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192])
parser.add_argument("--layers", nargs="+", choices=NAMES, default=NAMES)
parser.add_argument("--training", action="store_true", help="forward and backward")
parser.add_argument("--calls", type=int, default=5, help="timed calls of each layer")
parser.add_argument("--cpu", action="store_true", help="seconds of all cores, for a machine that is busy")
parser.add_argument("--plot", type=Path)


def layers():
    """The layers by name, as functions of the inputs."""
    import keras

    from keras_attention import layers as ours

    def twice(layer):
        return lambda x: layer(x, x)

    sliding = keras.layers.GroupQueryAttention(WIDTH, HEADS, HEADS, sliding_window=WINDOW + 1)
    return {
        "keras": twice(keras.layers.MultiHeadAttention(HEADS, WIDTH)),
        "keras sliding_window": twice(sliding),
        "ours, dense": ours.SelfAttention(HEADS, WIDTH),
        "longformer": ours.LongformerAttention(HEADS, WIDTH, WINDOW),
        "big bird": ours.BigBirdAttention(HEADS, WIDTH, 64, 3, seed=0),
        "performer": ours.PerformerAttention(HEADS, WIDTH, 256, seed=0),
        "reformer": ours.ReformerAttention(HEADS, WIDTH, 64, 1, seed=0),
        "linear": ours.LinearAttention(HEADS, WIDTH),
    }


def main():
    args = parser.parse_args()
    from keras_attention.cost import crossover, measure_costs

    chosen = {name: layer for name, layer in layers().items() if name in args.layers}
    reference = next(iter(chosen))
    costs = measure_costs(
        chosen,
        args.lengths,
        width=HEADS * WIDTH,
        training=args.training,
        calls=args.calls,
        clock=time.process_time if args.cpu else time.perf_counter,
    )
    kind = "forward and backward" if args.training else "forward"
    clock = "ms of all cores" if args.cpu else "ms"
    print(f"{kind}: {clock} (times as fast as {reference}), peak MB (times less)\n")
    print(f"{'length':20}" + "".join(f"{length:>29}" for length in args.lengths) + "   pays from")
    for name, row in costs.items():
        print(f"{name:20}", end="")
        for cost, dense in zip(row, costs[reference], strict=True):
            faster = dense.milliseconds / cost.milliseconds
            smaller = dense.megabytes / cost.megabytes
            print(f"{cost.milliseconds:9.0f} {f'({faster:.1f})':>6}", end="")
            print(f"{cost.megabytes:7.0f} {f'({smaller:.0f})':>5}", end="")
        pays = None if name == reference else crossover(args.lengths, costs[reference], row)
        print("" if pays is None else f"{pays:12.0f}", flush=True)
    if args.plot:
        from keras_attention.plotting import plot_costs, save_figure

        time_axes, _ = plot_costs(args.lengths, costs, f"Attention, {kind}", dense=reference)
        save_figure(time_axes.figure, args.plot)


if __name__ == "__main__":
    main()
