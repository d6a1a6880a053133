"""Train, measure and use a translator."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from keras_attention.cli._explorer import check_attention, write_page
from keras_attention.cli._explorer import translate as translate_texts
from keras_attention.cli._json import Json, print_json
from keras_attention.cli._options import Cell, Kind, check_file, given, short
from keras_attention.cli._quiet import start_keras

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Train, measure and use a translator.")

Data = Annotated[
    str,
    typer.Option(
        help="toy:en-fr, toy:en-zh, tfds:NAME or tfds:NAME/CONFIG, a TSV or CSV file, or a folder of "
        "LANG.SPLIT.txt."
    ),
]
Model = Annotated[Path, typer.Argument(help="A .keras file written by `translate train`.")]
Beam = Annotated[int, typer.Option(min=1, help="Outputs that are followed at once; 1 is greedy.")]
Split = Annotated[
    str, typer.Option(help="Split of the data: test, validation, train, or a folder's own, as test2016.")
]


Stream = Annotated[
    bool,
    typer.Option("--stream", help="Leave the training pairs in their file; for files larger than memory."),
]


class Preset(StrEnum):
    toy = "toy"
    quick = "quick"
    full = "full"


class Translator(StrEnum):
    recurrent = "recurrent"
    transformer = "transformer"


class Positions(StrEnum):
    sinusoidal = "sinusoidal"
    learned = "learned"
    rotary = "rotary"


class Precision(StrEnum):
    float32 = "float32"
    mixed_bfloat16 = "mixed_bfloat16"


class Strategy(StrEnum):
    mirrored = "mirrored"
    multiworker = "multiworker"


class Attention(StrEnum):
    bahdanau = "bahdanau"
    bahdanau_word = "bahdanau-word"
    luong_dot = "luong-dot"
    luong_general = "luong-general"
    luong_concat = "luong-concat"
    none = "none"


@app.command()
def train(
    data: Data,
    out: Annotated[Path, typer.Option(help="Where the best translator so far is kept; ends in .keras.")],
    model: Annotated[Translator, typer.Option(help="What to train.")] = Translator.recurrent,
    preset: Annotated[
        Preset | None, typer.Option(help="Settings to start from; toy for toy data, else quick.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1)] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.1, help="End by then; the learning rate follows.")
    ] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Pairs a batch.")] = None,
    batch_tokens: Annotated[
        int | None, typer.Option(min=1, help="Target tokens a batch, in place of --batch.")
    ] = None,
    learning_rate: Annotated[float | None, typer.Option(help="The highest.")] = None,
    warmup: Annotated[int | None, typer.Option(min=0, help="Steps in which the learning rate rises.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="End after so many epochs without a better BLEU.")
    ] = None,
    attention: Annotated[Attention | None, typer.Option(help="Recurrent.")] = None,
    cell: Annotated[Cell | None, typer.Option(help="Recurrent.")] = None,
    units: Annotated[int | None, typer.Option(min=1, help="Recurrent: width of the states.")] = None,
    layers: Annotated[int | None, typer.Option(min=1, help="Transformer: blocks a side.")] = None,
    heads: Annotated[int | None, typer.Option(min=1, help="Transformer: heads of each attention.")] = None,
    hidden: Annotated[
        int | None, typer.Option(min=1, help="Transformer: width within the feed-forward networks.")
    ] = None,
    positions: Annotated[Positions | None, typer.Option(help="Transformer.")] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="Transformer: products in bfloat16, for hardware that has it.")
    ] = None,
    embedding: Annotated[int | None, typer.Option(min=1, help="Width of the embeddings.")] = None,
    dropout: Annotated[float | None, typer.Option(min=0, max=0.99)] = None,
    label_smoothing: Annotated[float | None, typer.Option(min=0, max=0.99)] = None,
    subword_dropout: Annotated[
        float | None, typer.Option(min=0, max=0.5, help="Rate of merges left out, drawn anew each epoch.")
    ] = None,
    vocabulary: Annotated[Kind | None, typer.Option(help="Subwords are shared by both languages.")] = None,
    vocabulary_size: Annotated[int | None, typer.Option(min=5)] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Fold case.")] = False,
    stream: Stream = False,
    beam: Beam = 5,
    seed: int = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted training of OUT.")
    ] = False,
    strategy: Annotated[
        Strategy | None,
        typer.Option(help="Share each batch: among this machine's GPUs, or the machines of TF_CONFIG."),
    ] = None,
    json: Json = False,
) -> None:
    """Train a translator and measure it on the test split.

    Ctrl-C ends training early and keeps the best model so far; --resume goes on.
    """
    check_file(out, "--out", ".keras")
    start_keras()
    from keras_attention.models import (
        PRESETS,
        TRANSFORMER_PRESETS,
        Seq2SeqTranslator,
        TransformerTranslator,
        evaluate,
    )
    from keras_attention.models import train as train_translator
    from keras_attention.models.strategies import is_chief, make_strategy
    from keras_attention.models.training import build_vocabularies

    recurrent = given(attention=attention, cell=cell, units=units)
    transformer = given(
        num_layers=layers, num_heads=heads, hidden_dim=hidden, positions=positions, dtype=precision
    )
    if model == "recurrent" and transformer:
        raise ValueError(
            "--layers, --heads, --hidden, --positions and --precision are options of --model transformer."
        )
    if model == "transformer" and recurrent:
        raise ValueError("--attention, --cell and --units are options of --model recurrent.")
    kind, presets = (
        (Seq2SeqTranslator, PRESETS) if model == "recurrent" else (TransformerTranslator, TRANSFORMER_PRESETS)
    )
    devices = make_strategy(strategy and strategy.value)
    chief = is_chief(devices)
    corpus = _load_data(data, seed, stream)
    chosen = presets[preset or ("toy" if data.startswith("toy:") else "quick")]
    words = {**chosen["vocabulary"], **given(kind=vocabulary, size=vocabulary_size), "lowercase": lowercase}
    source, target = build_vocabularies(corpus, **words)
    common = given(embedding_dim=embedding, dropout=dropout, label_smoothing=label_smoothing)
    with devices.scope():
        translator: Any = kind(
            source, target, **chosen["model"] | common | recurrent | transformer, seed=seed
        )
    if chief:
        print(
            f"{data}: {len(corpus.train)} training, {len(corpus.validation)} validation and "
            f"{len(corpus.test)} test pairs; vocabularies of {len(source)} and {len(target)}; "
            f"{translator.count_params():,} parameters.",
            flush=True,
        )
    settings = chosen["training"] | given(
        epochs=epochs,
        minutes=minutes,
        batch_size=batch,
        batch_tokens=batch_tokens,
        learning_rate=learning_rate,
        warmup=warmup,
        subword_dropout=subword_dropout,
        patience=patience,
    )
    try:
        train_translator(
            translator,
            corpus,
            out=out,
            resume=resume,
            seed=seed,
            verbose=1 if sys.stdout.isatty() else 2,
            **settings,
        )
    except KeyboardInterrupt:
        if chief and Path(f"{out}.checkpoint").exists():
            print(f"\nThe best translator so far is kept as {out}; the same command with --resume goes on.")
        raise
    if not chief:
        return
    results, translations = evaluate(
        translator, corpus.test, language=corpus.target_language, beam_width=beam
    )
    _report(results, corpus.test, translations)
    print(f"Saved as {out}; try: keras-attention translate run {out}")
    if json:
        print_json(results)


@app.command()
def evaluate(
    model: Model,
    data: Data,
    split: Split = "test",
    links: Annotated[
        Path | None, typer.Option(help="Gold word links: line, two word numbers, two words, a line.")
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Training had --stream, which splits the data in its own way.")
    ] = False,
    beam: Beam = 5,
    seed: Annotated[int, typer.Option(help="The seed of training, where it split the data.")] = 0,
    json: Json = False,
) -> None:
    """Measure a translator: BLEU, chrF, perplexity, and its attention against gold alignments."""
    start_keras()
    from keras_attention.data import read_links
    from keras_attention.models import evaluate as evaluate_translator

    translator = _load(model)
    corpus = _load_data(data, seed, stream)
    pairs = corpus.split(split)
    if pairs is corpus.train and stream:
        raise ValueError("The training pairs stay in their file with --stream: measure another split.")
    if links is not None:
        pairs = read_links(links, pairs)
    results, translations = evaluate_translator(
        translator, pairs, language=corpus.target_language, beam_width=beam
    )
    _report(results, pairs, translations)
    if json:
        print_json(results)


@app.command()
def run(
    model: Model,
    sentences: Annotated[
        list[str] | None, typer.Argument(help="Sentences; none reads them from standard input, a line each.")
    ] = None,
    beam: Beam = 5,
    plot: Annotated[
        Path | None, typer.Option(help="Draw where the model looked; .png, .svg or .pdf.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page to explore where the model looked; .html.")
    ] = None,
    json: Json = False,
) -> None:
    """Translate sentences."""
    if html is not None:
        check_file(html, "--html", ".html")
    start_keras()

    translator = _load(model)
    texts = sentences or [line.rstrip("\n") for line in sys.stdin]
    if not texts:
        raise ValueError("There is no sentence to translate: give one in quotes, or pipe lines in.")
    translations = translate_texts(translator, texts, beam, heads=html is not None)
    for translation in translations:
        print(translation.text)
    if plot is not None or html is not None:
        check_attention(translator, model)
    if plot is not None:
        _plot(translations, plot)
    if html is not None:
        write_page(html, translations, texts[0] if len(texts) == 1 else model.stem)
    if json:
        print_json({"translations": translations})


def _load_data(source: str, seed: int, streamed: bool) -> Any:
    from rich.progress import track

    from keras_attention.data import load, stream

    if not streamed:
        return load(source, seed=seed)

    def bar(rows: Any, what: str, total: int | None) -> Any:
        return track(rows, what, total, transient=True, disable=not sys.stdout.isatty())

    return stream(source, seed=seed, track=bar)


def _load(path: Path) -> Any:
    from keras_attention.models import load_model

    translator = load_model(path)
    if not hasattr(translator, "translate"):
        raise ValueError(f"{path} holds a classifier; use it with: keras-attention classify")
    return translator


def _report(results: dict[str, Any], pairs: Any, translations: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table("measure", "value")
    for name, value in results.items():
        if isinstance(value, float):
            table.add_row(name, short(value))
        elif name == "bleu_by_length":
            for bin in value:
                if bin.sentences:
                    table.add_row(f"bleu, {bin.label} source words ({bin.sentences})", f"{bin.bleu:.2f}")
        elif value is not None and name != "heads":
            table.add_row(name, str(value))
    console.print(table)
    if len(results["heads"]) > 1:
        console.print(_heads(results["heads"]))
    for source, target, translation in list(zip(pairs.source, pairs.target, translations, strict=True))[:5]:
        print(f"  source       {source}\n  translation  {translation.text}\n  reference    {target}\n")


def _heads(rows: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(*(name.replace("_", " ") for name in rows[0]), title="Which attention does what")
    for row in rows:
        table.add_row(
            *(f"{x:.3f}" if isinstance(x, float) else "" if x is None else str(x) for x in row.values())
        )
    return table


def _plot(translations: Any, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from keras_attention.plotting import plot_attention, save_figure

    sizes = [(len(t.source_tokens), len(t.tokens)) for t in translations]
    figure, axes = plt.subplots(
        len(translations),
        squeeze=False,
        figsize=(2 + 0.45 * max(w for w, _ in sizes), sum(1.8 + 0.35 * h for _, h in sizes)),
        layout="constrained",
    )
    for ax, translation in zip(axes[:, 0], translations, strict=True):
        plot_attention(translation.attention, translation.source_tokens, translation.tokens, ax=ax)
    save_figure(figure, path)
    plt.close(figure)
    print(f"Drawn in {path}")
