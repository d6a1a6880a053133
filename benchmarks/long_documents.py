"""Each attention in the same small encoder on long documents: accuracy, seconds and memory in one table.

    python benchmarks/long_documents.py [--data SOURCE] [--attention NAME …] [--epochs N] [--texts N]

SOURCE is toy:documents-en (by default; the answer lies far from its question) or a file of labelled texts,
such as the 50 000 reviews of IMDb in `imdb.train.tsv.gz` beside `imdb.test.tsv.gz`, which are read at their
full length.
"""

import argparse
import dataclasses
import os
import random
import statistics

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

NAMES = ["dense", "window", "longformer", "big bird", "performer", "reformer", "linear"]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--data", default="toy:documents-en")
parser.add_argument("--attention", nargs="+", choices=NAMES, default=NAMES)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--learning-rate", type=float, default=2e-3)
parser.add_argument("--depth", type=int, default=1, help="layers of the encoder")
parser.add_argument("--texts", type=int, help="so many texts of training, and of the test, drawn at random")
parser.add_argument("--longest", action="store_true", help="the longest instead of a random draw")
parser.add_argument("--max-length", type=int, help="cut longer texts to so many tokens")
parser.add_argument("--verbose", type=int, default=0)


def main():
    args = parser.parse_args()
    from keras_attention.data import Vocabulary, load_texts
    from keras_attention.models.baselines import bag_of_words_accuracy, majority_accuracy
    from keras_attention.models.long_text import train_long_text

    corpus = load_texts(args.data)
    if args.texts:

        def some(texts):
            rows = random.Random(0).sample(range(len(texts)), min(args.texts, len(texts)))
            if args.longest:
                rows = sorted(range(len(texts)), key=lambda i: -len(texts.texts[i]))[: args.texts]
            return texts.select(rows)

        corpus = dataclasses.replace(
            corpus, splits={name: some(texts) for name, texts in corpus.splits.items()}
        )
    vocabulary = Vocabulary.build(corpus.train.texts, kind="word", size=30000, lexicon=corpus.lexicon)
    tokens = [len(row) for row in vocabulary.encode_batch(corpus.train.texts)]
    print(f"{len(tokens)} texts of {statistics.median(tokens):.0f} tokens (median), {max(tokens)} at most")
    print(f"commonest class {majority_accuracy(corpus.train, corpus.test):.3f}, ", end="")
    print(f"bag of words {bag_of_words_accuracy(corpus.train, corpus.test, vocabulary):.3f}\n")
    print(f"{'attention':12}{'accuracy':>10}{'seconds':>10}{'MB':>8}")
    for name in args.attention:
        result = train_long_text(
            name,
            vocabulary,
            corpus,
            epochs=args.epochs,
            batch_size=args.batch_size,
            learning_rate=args.learning_rate,
            max_length=args.max_length,
            depth=args.depth,
            verbose=args.verbose,
        )
        print(f"{name:12}{result.accuracy:10.3f}{result.seconds:10.0f}{result.megabytes:8.0f}", flush=True)


if __name__ == "__main__":
    main()
