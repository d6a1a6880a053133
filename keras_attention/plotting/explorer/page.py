"""One HTML file from records: template, style, script, and the weights as packed half floats."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader

from ..labels import visible
from .record import AttentionLayer, AttentionRecord

HERE = Path(__file__).parent
SCRIPTS = ("data", "colours", "heatmap", "lines", "reading", "table", "panel", "controls", "start")
LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class HTMLView:
    """A page: the last line of a notebook's cell shows it, `save` writes it."""

    html: str
    height: int = 760  # pixels, in a notebook

    def save(self, path: str | Path) -> Path:
        """Write the page as a file that opens from disk.

        Raises:
            ValueError: the path does not end in .html.
        """
        path = Path(path)
        if path.suffix != ".html":
            raise ValueError(f"path is {path}, but it must end in .html.")
        path.write_text(self.html, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="Attention explorer" srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


def explore(
    record: Any, *others: Any, title: str = "Attention", language: str = "en", check: bool = True
) -> HTMLView:
    """A page to look around in attention weights, by mouse, finger or keyboard.

    It draws every token's lines and the heat map of the layer, head and moment that are chosen, shows the
    weights where it is pointed at, and sets two records side by side, with their difference where their
    tokens agree. It is one file without any address in it: it opens from disk, and nothing leaves it.

    Args:
        record: an `AttentionRecord`, a `Translation` or a `Prediction`.
        *others: more of them, to choose from and to compare: other sentences, models or checkpoints.
        title: of the page.
        language: "en" or "zh" at first; the page can switch.
        check: warn if something cannot be attention weights.

    Raises:
        ValueError: the language is another.
        TypeError: a record is something else.

    >>> record = AttentionRecord([AttentionLayer("attention", [[0.9, 0.1]], ["le"], ["the", "cat"])])
    >>> view = explore(record)
    >>> view.save("attention.html")  # doctest: +SKIP
    """
    if language not in LANGUAGES:
        raise ValueError(f'language is {language!r}, but the page speaks "en" and "zh".')
    records = [AttentionRecord.of(thing) for thing in (record, *others)]
    if check:
        for layer in (layer for each in records for layer in each.layers):
            layer.check(stacklevel=3)
    style = (HERE / "style.css").read_text(encoding="utf-8")
    script = "\n".join((HERE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    texts = json.loads((HERE / "texts.json").read_text(encoding="utf-8"))
    template = Environment(loader=FileSystemLoader(HERE), autoescape=True).get_template("page.html")
    page = template.render(
        title=title,
        language=language,
        say=lambda key: texts[key][language],
        style=style,
        script=script,
        allowed=f"style-src {_hash(style)}; script-src {_hash(script)}; img-src data:",
        data=_json({"language": language, "texts": texts, **pack(records)}),
    )
    return HTMLView(page)


def pack(records: Sequence[AttentionRecord]) -> dict[str, Any]:
    """What the script reads: the tokens, and all weights in one text.

    A weight is a half float, relative error at most 2⁻¹¹; the sign bit tells that its cell is masked. All
    first bytes stand before all second bytes, which compress worse, and base64 carries the gzipped result.
    """
    layers = [layer for record in records for layer in record.layers]
    halves = np.concatenate([_half(layer) for layer in layers])  # (weights of all layers,)
    planes = halves.astype(">f2").view(np.uint8).reshape(-1, 2).T  # (2, weights)
    packed = gzip.compress(planes.tobytes(), mtime=0)
    return {
        "records": [
            {
                "title": record.title,
                "moments": list(record.moments),
                "layers": [_describe(layer) for layer in record.layers],
            }
            for record in records
        ],
        "weights": base64.b64encode(packed).decode(),
    }


def _half(layer: AttentionLayer) -> np.ndarray:
    return np.copysign(layer.weights, np.where(layer.mask, 1, -1)).astype(np.float16).ravel()


def _describe(layer: AttentionLayer) -> dict[str, Any]:
    return {
        "name": layer.name,
        "shape": list(layer.weights.shape),
        "queries": [visible(token) for token in layer.queries],
        "keys": [visible(token) for token in layer.keys],
        "gold": None if layer.gold is None else np.argwhere(layer.gold).tolist(),
    }


def _json(values: Any) -> str:
    """JSON that no HTML parser can take for a tag."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _hash(text: str) -> str:
    """The source expression by which a page's policy allows this very text and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
