"""What the commands that write an explorer have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def translate(translator: Any, texts: Sequence[str], beam: int, heads: bool) -> list[Any]:
    """Translations; with `heads`, those of a model that has several heads hold the weights of all."""
    wanted = {"all_heads": True} if heads and "num_heads" in translator.options else {}
    return translator.translate(texts, beam_width=beam, **wanted)


def check_attention(translator: Any, path: Path) -> None:
    if translator.options.get("attention") == "none":
        raise ValueError(f"{path} was trained without attention, so there is nothing to plot.")


def write_page(path: Path, records: Sequence[Any], title: str) -> None:
    from keras_attention.plotting import explore

    explore(*records, title=title).save(path)
    print(f"Written to {path}; open it in a browser.")
