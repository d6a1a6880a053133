"""Write a page to look around in a model's attention."""

from pathlib import Path
from typing import Annotated, Any

import typer

from keras_attention.cli._explorer import check_attention, translate, write_page
from keras_attention.cli._json import Json, print_json
from keras_attention.cli._options import check_file
from keras_attention.cli._quiet import start_keras

app = typer.Typer(add_completion=False)


@app.command()
def explore(
    model: Annotated[Path, typer.Argument(help="A .keras file of a translator or a classifier.")],
    sentences: Annotated[list[str], typer.Argument(help="One sentence or more.")],
    out: Annotated[Path, typer.Option(help="Where the page goes; ends in .html.")],
    compare: Annotated[
        Path | None, typer.Option(help="Another model or checkpoint, to set beside the first.")
    ] = None,
    beam: Annotated[
        int, typer.Option(min=1, help="Outputs that a translator follows at once; 1 is greedy.")
    ] = 5,
    json: Json = False,
) -> None:
    """Write one HTML file that shows what a model looks at: layers, heads, tokens. It needs no network."""
    check_file(out, "--out", ".html")
    start_keras()
    records = [
        _record(thing, path.stem if compare else "")
        for path in [model, *([compare] if compare else [])]
        for thing in _look(path, sentences, beam)
    ]
    write_page(out, records, sentences[0] if len(sentences) == 1 else model.stem)
    if json:
        print_json({"page": out.resolve(), "records": [record.title for record in records]})


def _look(path: Path, sentences: list[str], beam: int) -> Any:
    from keras_attention.models import load_model

    model = load_model(path)
    if hasattr(model, "predict_text"):
        return model.predict_text(sentences)
    check_attention(model, path)
    return translate(model, sentences, beam, heads=True)


def _record(thing: Any, name: str) -> Any:
    from keras_attention.plotting import AttentionRecord

    record = AttentionRecord.of(thing)
    if name:
        record.title = f"{name}: {record.title}"
    return record
