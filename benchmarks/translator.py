"""Our translators beside PyTorch ones of the same size: tokens a second, sentences a second, memory.

    python benchmarks/translator.py FOLDER SOURCE TARGET --peer SCRIPT --peer-python PYTHON
    python benchmarks/translator.py FOLDER SOURCE TARGET --model transformer --peer-python PYTHON

FOLDER holds LANG.SPLIT.txt files with the splits train and val. SCRIPT is a program that takes FOLDER,
SOURCE, TARGET, --epochs, --embedding, --units, --batch and --vocabulary, trains on the train split, writes
the val split greedily after each epoch, and prints a JSON line an epoch with target_tokens_per_second and
decode_seconds. The peer of the Transformer is `torch_transformer.py`, which gets the token ids of ours.

Both get the same first PAIRS pairs, in turn, ROUNDS times; the first epoch of each, in which graphs are
built, is not counted. The ratio is taken round by round.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=Path)
parser.add_argument("source")
parser.add_argument("target")
parser.add_argument("--model", choices=["recurrent", "transformer"], default="recurrent")
parser.add_argument("--peer", type=Path)
parser.add_argument("--peer-python", default=sys.executable)
parser.add_argument("--pairs", type=int, default=8000)
parser.add_argument("--rounds", type=int, default=2)
parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)  # our side of a round
parser.add_argument("--ids", type=Path, help=argparse.SUPPRESS)  # written for the Transformer's peer


def ours(folder, source, target, model, ids):
    """One round of our side, as the peer prints its own."""
    import keras
    import psutil

    from keras_attention.data import load
    from keras_attention.models import Seq2SeqTranslator, TransformerTranslator, train
    from keras_attention.models.training import build_vocabularies

    corpus = load(str(folder), source_language=source, target_language=target)
    if model == "transformer":
        words, _ = build_vocabularies(corpus, "subword", 4000)
        translator = TransformerTranslator(words, words, dropout=0.3)
        texts = {
            "source": corpus.train.source,
            "target": corpus.train.target,
            "sentences": corpus.validation.source,
        }
        encoded = {name: words.encode_batch(side) for name, side in texts.items()}
        ids.write_text(json.dumps({**encoded, "vocabulary": len(words)}))
    else:
        words, _ = build_vocabularies(corpus, "subword", 8000)
        translator = Seq2SeqTranslator(words, words, embedding_dim=128, units=256, dropout=0.3)
    memory = []
    watch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: memory.append(psutil.Process().memory_info().rss / 1e9)
    )
    history = train(translator, corpus, epochs=3, batch_size=100, verbose=0, callbacks=[watch])
    seconds = {}
    for beam in (1, 5):
        translator.translate(corpus.validation.source, beam_width=beam)
        start = time.perf_counter()
        translator.translate(corpus.validation.source, beam_width=beam)
        seconds[beam] = time.perf_counter() - start
    print(
        json.dumps(
            {
                "target_tokens_per_second": statistics.mean(history["tokens_per_second"][1:]),
                "decode_seconds": seconds[1],
                "beam_5_seconds": seconds[5],
                "parameters": translator.count_params(),
                "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
                "gigabytes_by_epoch": memory,
            }
        )
    )


def run(command):
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return json.loads(lines[-1])


def main():
    args = parser.parse_args()
    if args.one:
        return ours(args.folder, args.source, args.target, args.model, args.ids)
    with tempfile.TemporaryDirectory() as folder:
        for language in (args.source, args.target):
            for split, count in (("train", args.pairs), ("val", 1000)):
                name = f"{language}.{split}.txt"
                lines = (args.folder / name).read_text(encoding="utf-8").split("\n")[:count]
                (Path(folder) / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        data = [folder, args.source, args.target]
        model = ["--model", args.model]
        peer = [args.peer_python]
        if args.model == "transformer":
            ids = Path(folder) / "ids.json"
            model += ["--ids", str(ids)]
            peer += [str(Path(__file__).with_name("torch_transformer.py")), str(ids)]
        else:
            options = ["--epochs", "2", "--embedding", "128", "--units", "256", "--batch", "100"]
            peer += [str(args.peer), *data, *options, "--vocabulary", "8000"]
        print(f"{'':8} {'train tokens/s':>15} {'greedy sent/s':>14} {'beam 5 sent/s':>14} {'peak GB':>8}")
        ratios = []
        for _ in range(args.rounds):
            mine = run([sys.executable, __file__, *data, *model, "--one"])
            show("ours", mine)
            if args.peer or args.model == "transformer":
                other = run(peer)
                show("peer", other)
                ratios.append(
                    [
                        mine["target_tokens_per_second"] / other["target_tokens_per_second"],
                        other["decode_seconds"] / mine["decode_seconds"],
                        other["decode_seconds"] / mine["beam_5_seconds"],
                    ]
                )
        print("memory by epoch, GB:", " ".join(f"{x:.2f}" for x in mine["gigabytes_by_epoch"]))
        if ratios:
            middle = [statistics.median(column) for column in zip(*ratios, strict=True)]
            names = ("training", "greedy", "beam 5 against its greedy")
            pairs = (f"{name} {ratio:.2f}×" for name, ratio in zip(names, middle, strict=True))
            print("ours / peer:", ", ".join(pairs))


def show(name, result):
    beam = f"{1000 / result['beam_5_seconds']:14.0f}" if "beam_5_seconds" in result else f"{'':14}"
    peak = f"{result['peak_gigabytes']:8.2f}" if "peak_gigabytes" in result else ""
    speed, greedy = result["target_tokens_per_second"], 1000 / result["decode_seconds"]
    print(f"{name:8} {speed:15.0f} {greedy:14.0f} {beam} {peak}", flush=True)


if __name__ == "__main__":
    main()
