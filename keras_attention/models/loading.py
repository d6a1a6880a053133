"""Reading a saved model back, from files that may be anything."""

import json
import zipfile
from pathlib import Path

import keras

KINDS = ("Seq2SeqTranslator", "TransformerTranslator", "AttentionClassifier")


def load_model(path: str | Path) -> keras.Model:
    """Load a model of this package from its `.keras` file, vocabularies included.

    The file is data: a class that is not one of ours, or a setting that is not a plain value, is refused
    before anything is built from it.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no `.keras` file, is damaged, or holds another model.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no model {path}; train one with: keras-attention translate train, or classify train"
        )
    if path.suffix != ".keras":  # Keras goes by the name, and would read what is not looked at below
        raise ValueError(f"{path} is not a .keras file by its name; give one that training saved.")
    try:
        with zipfile.ZipFile(path) as archive:
            config = json.loads(archive.read("config.json"))
        kind = config["class_name"]
        known = config["registered_name"] == f"keras_attention>{kind}" and kind in KINDS
        holds_objects = _holds_objects(config["config"])
    except Exception as error:
        raise ValueError(f"{path} is not a .keras file, or it is damaged; save or copy it again.") from error
    if not known:
        raise ValueError(
            f"{path} holds a {kind}, but a translator of keras_attention is needed (or a classifier)."
        )
    if holds_objects:
        raise ValueError(f"{path} names classes among its settings, which no model of ours does: not loaded.")
    try:
        return keras.saving.load_model(path, compile=False, safe_mode=True)
    except Exception as error:
        raise ValueError(f"{path} is damaged, or of another version; save or train it again.") from error


def _holds_objects(value) -> bool:
    if isinstance(value, dict):
        return "class_name" in value or any(map(_holds_objects, value.values()))
    return isinstance(value, list) and any(map(_holds_objects, value))
