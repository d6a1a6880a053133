"""Our classifier beside a plain PyTorch one of the same size: texts a second in training and in prediction.

    python benchmarks/classifier.py [SOURCE] --peer-python PYTHON

SOURCE is a data source of `classify train`, PYTHON a Python that has PyTorch. Both get the same ids of the
same training and test texts, TEXTS of each at most, in turn, ROUNDS times: ours, the peer with batches of
random texts, and the peer with batches of about one length as ours are. Embeddings and each direction of the
BiLSTM have 128 numbers, batches 50 texts. The first epoch and our first prediction, which build graphs,
are not counted. Ratios are taken round by round, and the median is shown.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("source", nargs="?", default="toy:reviews-en")
parser.add_argument("--peer-python", default=sys.executable)
parser.add_argument("--texts", type=int, default=8000)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)  # our side of a round
SIZES = {"embedding": 128, "units": 128, "batch": 50, "epochs": 3}
PEER = Path(__file__).with_name("torch_classifier.py")


def write(source, texts, path):
    """Vocabulary, labels, texts and ids of both splits, as JSON; a line on their lengths."""
    from keras_attention.data import Vocabulary, load_texts
    from keras_attention.models.classifier_training import class_names

    corpus = load_texts(source, skip_empty=True)
    vocabulary = Vocabulary.build(corpus.train.texts, size=30000, lowercase=True, lexicon=corpus.lexicon)
    names = class_names(corpus.train.labels)
    data = {
        "vocabulary": len(vocabulary),
        "classes": len(names),
        "names": names,
        "config": vocabulary.get_config(),
    }
    for split in ("train", "test"):
        part = corpus.split(split)
        part = part.select(range(0, len(part), -(-len(part) // texts)))  # spread over all of them
        data[split] = {
            "texts": part.texts,
            "ids": vocabulary.encode_batch(part.texts),
            "labels": [names.index(label) for label in part.labels],
        }
    path.write_text(json.dumps(data), encoding="utf-8")
    lengths = [len(ids) for ids in data["train"]["ids"]]
    print(
        f"{source}: {len(lengths)} training texts of {statistics.mean(lengths):.0f} tokens (mean), "
        f"{max(lengths)} (most); {len(data['test']['ids'])} test texts; {len(names)} classes"
    )


def ours(path):
    """One round of our side, as the peer prints its own."""
    from keras_attention.data import TextCorpus, Texts, Vocabulary
    from keras_attention.models import AttentionClassifier, train_classifier

    data = json.loads(path.read_text(encoding="utf-8"))
    names = data["names"]
    train, test = (
        Texts(data[split]["texts"], [names[i] for i in data[split]["labels"]]) for split in ("train", "test")
    )
    classifier = AttentionClassifier(
        Vocabulary.from_config(data["config"]),
        names,
        embedding_dim=SIZES["embedding"],
        units=SIZES["units"],
        residual=False,
    )
    history = train_classifier(
        classifier,
        TextCorpus("benchmark", {"train": train, "validation": test[:50]}),
        epochs=SIZES["epochs"],
        batch_size=SIZES["batch"],
        verbose=0,
    )
    for _ in range(2):
        start = time.perf_counter()
        probabilities, _ = classifier.predict_ids(data["test"]["ids"])
        predicting = time.perf_counter() - start
    print(
        json.dumps(
            {
                "training": statistics.mean(history["texts_per_second"][1:]),
                "prediction": len(test) / predicting,
                "accuracy": float((probabilities.argmax(-1) == data["test"]["labels"]).mean()),
                "parameters": classifier.count_params(),
            }
        )
    )


def run(name, command):
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        sys.exit(process.stderr)
    result = json.loads(process.stdout.splitlines()[-1])
    print(
        f"{name:20} {result['training']:10.0f} {result['prediction']:12.0f} {result['parameters']:12,} "
        f"{result['accuracy']:10.3f}",
        flush=True,
    )
    return result


def main():
    args = parser.parse_args()
    if args.one:
        return ours(args.one)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids.json"
        write(args.source, args.texts, path)
        options = [word for name, value in SIZES.items() for word in (f"--{name}", str(value))]
        peer = [args.peer_python, str(PEER), str(path), *options]
        ratios = {"random batches": [], "length buckets": []}
        print(f"{'':20} {'training':>10} {'prediction':>12} {'parameters':>12} {'accuracy':>10}")
        for _ in range(args.rounds):
            mine = run("ours", [sys.executable, __file__, "--one", str(path)])
            for name, more in (("random batches", []), ("length buckets", ["--buckets"])):
                other = run(f"PyTorch, {name}"[:20], [*peer, *more])
                ratios[name].append([mine[key] / other[key] for key in ("training", "prediction")])
    for name, rows in ratios.items():
        training, prediction = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"ours / PyTorch with {name}: training {training:.2f}×, prediction {prediction:.2f}×")


if __name__ == "__main__":
    main()
