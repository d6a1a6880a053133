"""Train, measure and use a classifier of texts."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from keras_attention.cli._json import Json, print_json
from keras_attention.cli._options import Cell, Kind, check_file, given, short
from keras_attention.cli._quiet import start_keras

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Train, measure and use a classifier of texts."
)

Data = Annotated[
    str,
    typer.Option(
        help="toy:reviews-en, toy:reviews-zh, tfds:NAME or tfds:NAME/CONFIG, a TSV or a CSV file; of "
        "NAME.train.tsv also NAME.dev.tsv and NAME.test.tsv are read."
    ),
]
Model = Annotated[Path, typer.Argument(help="A .keras file written by `classify train`.")]
LabelColumn = Annotated[
    str | None, typer.Option(help="Name or number of the label's column; else the first.")
]
TextColumn = Annotated[str | None, typer.Option(help="Name or number of the text's column; else the second.")]
SkipEmpty = Annotated[bool, typer.Option("--skip-empty", help="Leave rows without a text out.")]


class Preset(StrEnum):
    toy = "toy"
    sentences = "sentences"
    documents = "documents"


class Pooling(StrEnum):
    attention = "attention"
    mean = "mean"
    max = "max"
    last = "last"


@app.command()
def train(
    data: Data,
    out: Annotated[Path, typer.Option(help="Where the best classifier so far is kept; ends in .keras.")],
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="Settings to start from; toy for toy data, documents for long texts, else sentences."
        ),
    ] = None,
    label_column: LabelColumn = None,
    text_column: TextColumn = None,
    skip_empty: SkipEmpty = False,
    epochs: Annotated[int | None, typer.Option(min=1)] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.1, help="End by then; the learning rate follows.")
    ] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Texts a batch.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="The highest.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="End after so many epochs without a better accuracy.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(min=2, help="Training cuts longer texts to so many tokens.")
    ] = None,
    pooling: Annotated[Pooling | None, typer.Option()] = None,
    heads: Annotated[int | None, typer.Option(min=1, help="Heads of attention.")] = None,
    cell: Annotated[Cell | None, typer.Option()] = None,
    embedding: Annotated[int | None, typer.Option(min=1, help="Width of the embeddings.")] = None,
    units: Annotated[int | None, typer.Option(min=1, help="Width of each direction's states.")] = None,
    dropout: Annotated[float | None, typer.Option(min=0, max=0.99)] = None,
    class_weights: Annotated[
        bool, typer.Option("--class-weights", help="Let rare classes count as much as common ones.")
    ] = False,
    vocabulary: Annotated[
        Kind | None, typer.Option(help="By word, Chinese is cut into its characters.")
    ] = None,
    vocabulary_size: Annotated[int | None, typer.Option(min=5)] = None,
    lowercase: Annotated[bool, typer.Option(help="Fold case.")] = True,
    baselines: Annotated[
        bool, typer.Option(help="Also train the same network with mean pooling, and linear baselines.")
    ] = True,
    seed: int = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted training of OUT.")
    ] = False,
    json: Json = False,
) -> None:
    """Train a classifier and measure it on the test split, beside what it has to beat.

    Ctrl-C ends training early and keeps the best model so far; --resume goes on.
    """
    check_file(out, "--out", ".keras")
    start_keras()
    from keras_attention.data import Vocabulary, load_texts
    from keras_attention.models import (
        CLASSIFIER_PRESETS,
        AttentionClassifier,
        evaluate_classifier,
        train_classifier,
    )
    from keras_attention.models.classifier_training import class_names
    from keras_attention.models.training import save_whole

    corpus = load_texts(
        data, seed=seed, label_column=label_column, text_column=text_column, skip_empty=skip_empty
    )
    _note(corpus)
    labels = class_names(corpus.train.labels)
    chosen = CLASSIFIER_PRESETS[preset or _preset(data, corpus)]
    words = {**chosen["vocabulary"], **given(kind=vocabulary, size=vocabulary_size), "lowercase": lowercase}
    options = chosen["model"] | given(
        pooling=pooling, heads=heads, cell=cell, embedding_dim=embedding, units=units, dropout=dropout
    )
    settings = chosen["training"] | given(
        epochs=epochs,
        minutes=minutes,
        batch_size=batch,
        learning_rate=learning_rate,
        patience=patience,
        max_length=max_length,
    )
    settings |= {
        "class_weights": class_weights,
        "seed": seed,
        "verbose": 1 if sys.stdout.isatty() else 2,
    }
    found = Vocabulary.build(corpus.train.texts, lexicon=corpus.lexicon, **words)
    classifier = AttentionClassifier(found, labels, **options, seed=seed)
    print(
        f"{data}: {len(corpus.train)} training, {len(corpus.validation)} validation and {len(corpus.test)} "
        f"test texts; {len(labels)} classes; vocabulary of {len(found)}; "
        f"{classifier.count_params():,} parameters.",
        flush=True,
    )
    try:
        train_classifier(classifier, corpus, out=out, resume=resume, **settings)
    except KeyboardInterrupt:
        if Path(f"{out}.checkpoint").exists():
            print(f"\nThe best classifier so far is kept as {out}; the same command with --resume goes on.")
        raise
    baseline: dict[str, float | None] = {**_linear(corpus, corpus.test, found), "mean_pooling": None}
    if baselines and options.get("pooling", "attention") != "mean":
        print("The same with mean pooling, for comparison:", flush=True)
        twin = AttentionClassifier(found, labels, **{**options, "pooling": "mean"}, seed=seed)
        train_classifier(twin, corpus, **settings)
        baseline["mean_pooling"] = evaluate_classifier(twin, corpus.test, explain_tokens=0)[0]["accuracy"]
    classifier.training_record |= {
        "trained_on": _source(data, seed),
        "baseline_accuracy": baseline,
    }
    save_whole(classifier, out)
    results, predictions = evaluate_classifier(classifier, corpus.test)
    _report(results, corpus.test, predictions)
    print(f"Saved as {out}; try: keras-attention classify run {out}")
    if json:
        print_json(results)


@app.command()
def evaluate(
    model: Model,
    data: Data,
    split: Annotated[
        str, typer.Option(help="Split of the data: test, validation, train, or all of them.")
    ] = "test",
    label_column: LabelColumn = None,
    text_column: TextColumn = None,
    skip_empty: SkipEmpty = False,
    seed: Annotated[int, typer.Option(help="The seed of training, where it split the data.")] = 0,
    json: Json = False,
) -> None:
    """Measure a classifier: accuracy, F1, and its attention against gold and against what really matters."""
    start_keras()
    from keras_attention.data import load_texts
    from keras_attention.models import evaluate_classifier

    classifier = _load(model)
    corpus = load_texts(
        data, seed=seed, label_column=label_column, text_column=text_column, skip_empty=skip_empty
    )
    _note(corpus)
    texts = corpus.split(split)
    results, predictions = evaluate_classifier(classifier, texts)
    if (split, results.get("trained_on")) != ("test", _source(data, seed)):
        baseline = _linear(corpus, texts, classifier.vocabulary) if "train" in corpus.splits else {}
        results["baseline_accuracy"] = baseline | {"mean_pooling": None}
    _report(results, texts, predictions)
    if json:
        print_json(results)


@app.command()
def run(
    model: Model,
    texts: Annotated[
        list[str] | None, typer.Argument(help="Texts; none reads them from standard input, a line each.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the highlighted texts; .png, .svg or .pdf.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the highlighted texts as a page; .html.")] = None,
    json: Json = False,
) -> None:
    """Classify texts, their words shaded by their weight; a number in brackets is the weight of its word."""
    if html is not None:
        check_file(html, "--html", ".html")
    start_keras()
    from rich.console import Console

    from keras_attention.highlight import highlight_html, highlight_text

    classifier = _load(model)
    given_texts = texts or [line.rstrip("\n") for line in sys.stdin]
    if not given_texts:
        raise ValueError("There is no text to classify: give one in quotes, or pipe lines in.")
    predictions = classifier.predict_text(given_texts)
    console = Console(highlight=False, soft_wrap=True)
    for prediction in predictions:
        shaded = highlight_text(prediction.text, prediction.spans, prediction.weights)
        print(f"{prediction.label}\t{prediction.probability:.3f}\t", end="", flush=True)
        console.print(shaded)
    if plot is not None:
        _plot(predictions, plot)
    if html is not None:
        html.write_text(highlight_html(predictions), encoding="utf-8")
        print(f"Written to {html}")
    if json:
        print_json({"predictions": predictions})


def _preset(data: str, corpus: Any) -> str:
    """toy for toy data, documents where the median text has more than 400 characters, else sentences."""
    if data.startswith("toy:"):
        return "toy"
    lengths = sorted(len(text) for text in corpus.train.texts)
    return "documents" if lengths[len(lengths) // 2] > 400 else "sentences"


def _source(data: str, seed: int) -> dict[str, Any]:
    """What identifies the data, of a path its last part only."""
    return {"data": Path(data).name if Path(data).exists() else data, "seed": seed}


def _note(corpus: Any) -> None:
    for note in corpus.notes:
        print(f"Note: {note}", flush=True)


def _load(path: Path) -> Any:
    from keras_attention.models import load_model

    classifier = load_model(path)
    if not hasattr(classifier, "predict_text"):
        raise ValueError(f"{path} holds a translator; use it with: keras-attention translate")
    return classifier


def _linear(corpus: Any, texts: Any, vocabulary: Any) -> dict[str, float]:
    from keras_attention.models.baselines import bag_of_words_accuracy, majority_accuracy

    return {
        "majority": majority_accuracy(corpus.train, texts),
        "bag_of_words": bag_of_words_accuracy(corpus.train, texts, vocabulary),
        "bag_of_bigrams": bag_of_words_accuracy(corpus.train, texts, vocabulary, longest=2),
    }


def _report(results: dict[str, Any], texts: Any, predictions: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table("measure", "value")
    for name, value in results.items():
        rows = value.items() if isinstance(value, dict) else [(None, value)]
        for key, number in rows:
            label = name if key is None else f"{name}, {key}"
            if isinstance(number, float):
                table.add_row(label, short(number))
            elif number is not None:
                table.add_row(label, str(number))
    console.print(table)
    _compare(results)
    print()
    from keras_attention.highlight import highlight_text

    for prediction, label in list(zip(predictions, texts.labels, strict=True))[:5]:
        console.print(
            f"  {prediction.label} ({prediction.probability:.2f}), label {label}: ",
            highlight_text(prediction.text, prediction.spans, prediction.weights),
            sep="",
            markup=False,
        )


def _plot(predictions: Any, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from keras_attention.plotting import plot_highlight, save_figure

    inches = [0.9 + 0.4 * (sum(len(token) + 1 for token in p.tokens) // 50) for p in predictions]
    figure, axes = plt.subplots(
        len(predictions), squeeze=False, figsize=(7, sum(inches)), height_ratios=inches, layout="constrained"
    )
    for ax, prediction in zip(axes[:, 0], predictions, strict=True):
        title = f"{prediction.label} ({prediction.probability:.2f})"
        plot_highlight(prediction.tokens, prediction.weights, title, ax)
    save_figure(figure, path)
    plt.close(figure)
    print(f"Drawn in {path}")


NAMES = {
    "majority": "the commonest class",
    "bag_of_words": "logistic regression on a bag of words",
    "bag_of_bigrams": "logistic regression on words and pairs of words",
    "mean_pooling": "the same network with mean pooling",
}


def _compare(results: dict[str, Any]) -> None:
    """Say which baselines are as good as the classifier."""
    baseline = {
        name: value for name, value in results.get("baseline_accuracy", {}).items() if value is not None
    }
    if not baseline:
        return
    better = [
        f"{NAMES[name]} ({value:.3f})" for name, value in baseline.items() if value >= results["accuracy"]
    ]
    if better:
        print(f"The classifier ({results['accuracy']:.3f}) is not better than {' and '.join(better)}.")
    else:
        print(f"The classifier ({results['accuracy']:.3f}) is better than all of its baselines.")
