"""Translations and labelled texts of tensorflow-datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keras_attention.data.corpus import Corpus, DataError, Pairs, make_corpus
from keras_attention.data.files import choose_direction
from keras_attention.data.texts import TextCorpus, Texts, make_text_corpus

ALTERNATIVES = "or use local data: toy:en-fr, toy:en-zh, a TSV or CSV file, a folder of LANG.SPLIT.txt"
TEXT_ALTERNATIVES = "or use local data: toy:reviews-en, toy:reviews-zh, a TSV or CSV file"


def load_tfds(
    name: str,
    seed: int = 0,
    source_language: str | None = None,
    target_language: str | None = None,
    data_dir: str | Path | None = None,
) -> Corpus:
    """The data set ``NAME`` or ``NAME/CONFIG``, downloaded on first use if its hosts can be reached.

    Raises:
        DataError: if there is no such data set, it is not one of translations, or it cannot be downloaded.
    """
    import tensorflow_datasets as tfds

    builder = find_builder(name, data_dir, ALTERNATIVES)
    languages = getattr(builder.info.features, "languages", None)
    if not isinstance(builder.info.features, tfds.features.Translation) or not languages:
        raise DataError(f"tfds:{name} is no set of translations; choose one that is, {ALTERNATIVES}.")
    if not builder.is_prepared():
        prepare(builder, name, ALTERNATIVES)
    keys = builder.info.supervised_keys or ("", "")
    direction = choose_direction(
        "-".join(keys), set(languages), source_language, target_language, f"tfds:{name}"
    )
    splits = {split: read_split(builder, split, direction) for split in builder.info.splits}
    return make_corpus(f"tfds:{name}", splits, direction, seed)


def load_tfds_texts(
    name: str,
    seed: int = 0,
    label_column: str | None = None,
    text_column: str | None = None,
    data_dir: str | Path | None = None,
) -> TextCorpus:
    """The labelled texts ``NAME`` or ``NAME/CONFIG``, downloaded on first use if its hosts can be reached.

    A split whose labels are all −1, as the test split of glue/sst2, is left out; the validation split is then
    the test split, as is the custom there.

    Args:
        label_column, text_column: features, where there are several of their kind.

    Raises:
        DataError: as `load_tfds`, and if there is no text, or no class.
    """
    import tensorflow_datasets as tfds

    builder = find_builder(name, data_dir, TEXT_ALTERNATIVES)
    features = builder.info.features
    label = _feature(name, features, tfds.features.ClassLabel, "class", label_column)
    preferred = (builder.info.supervised_keys or (None,))[0]
    text = _feature(name, features, tfds.features.Text, "text", text_column, preferred)
    if not builder.is_prepared():
        prepare(builder, name, TEXT_ALTERNATIVES)
    splits, notes = {}, []
    for split in builder.info.splits:
        texts, numbers, rationales = read_text_split(builder, split, text, label)
        missing = sum(number < 0 for number in numbers)
        if missing == len(numbers):
            notes.append(f"tfds:{name} has no labels in its split {split}, which is left out.")
            continue
        if missing:
            raise DataError(
                f"tfds:{name}, split {split}: {missing} of {len(numbers)} texts have no label; "
                f"choose another data set, {TEXT_ALTERNATIVES}."
            )
        splits[split] = Texts(texts, [features[label].int2str(i) for i in numbers], rationales)
    if "test" not in splits and "validation" in splits and notes:
        splits["test"] = splits.pop("validation")
        notes.append("Its validation split serves as the test, and validation is drawn from train.")
    return make_text_corpus(f"tfds:{name}", splits, seed, notes)


def _feature(
    name: str, features: Any, kind: type, what: str, asked: str | None, preferred: str | None = None
) -> str:
    """The name of the one feature of a kind."""
    found = [key for key, feature in features.items() if type(feature) is kind]
    if asked is not None and asked not in found:
        raise DataError(
            f"tfds:{name} has no {what} {asked!r}, only {', '.join(found) or 'none'}; choose one of them."
        )
    if not found:
        raise DataError(
            f"tfds:{name} has no {what}, only {', '.join(features)}; choose a set of labelled texts, "
            f"{TEXT_ALTERNATIVES}."
        )
    return asked or (preferred if preferred is not None and preferred in found else found[0])


def find_builder(name: str, data_dir: str | Path | None, alternatives: str) -> Any:
    import tensorflow_datasets as tfds

    import keras_attention.data.toy.builders  # noqa: F401  registers our own

    try:
        return tfds.builder(name, try_gcs=False, data_dir=data_dir)
    except (tfds.core.registered.DatasetNotFoundError, ValueError) as error:
        cause = str(error).strip().splitlines()[0].rstrip(".")
        raise DataError(
            f"tensorflow-datasets has no {name!r} ({cause}); correct the name, {alternatives}."
        ) from None


def prepare(builder: Any, name: str, alternatives: str) -> None:
    """Download a data set; without a network say so at once."""
    hosts = sorted({urlsplit(url).netloc for url in builder.url_infos or ()})
    if hosts and not any(reachable(host) for host in hosts[:4]):
        raise DataError(
            f"tfds:{name} is not on this machine, and {', '.join(hosts[:4])} cannot be reached; "
            f"connect to a network, {alternatives}."
        )
    try:
        builder.download_and_prepare()
    except Exception as error:
        cause = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise DataError(
            f"tfds:{name} could not be prepared ({cause}); try again later, {alternatives}."
        ) from error


def reachable(host: str, seconds: float = 5) -> bool:
    """Whether a host answers anything at all."""
    import requests

    try:
        requests.head(f"https://{host}", timeout=seconds)
    except requests.exceptions.SSLError:
        return True
    except requests.exceptions.RequestException:
        try:
            requests.head(f"http://{host}", timeout=seconds)
        except requests.exceptions.RequestException:
            return False
    return True


def read_split(builder: Any, split: str, direction: tuple[str, str]) -> Pairs:
    import tensorflow_datasets as tfds

    sides: tuple[list[str], list[str]] = ([], [])
    for batch in tfds.as_numpy(builder.as_dataset(split=split).batch(1024)):
        for side, language in zip(sides, direction, strict=True):
            side.extend(text.decode() for text in batch[language])
    return Pairs(*sides)


def read_text_split(
    builder: Any, split: str, text: str, label: str
) -> tuple[list[str], list[int], list[list[tuple[int, int]]] | None]:
    """The texts, the numbers of their classes, and the character ranges of their rationales if it has any."""
    texts: list[str] = []
    numbers: list[int] = []
    rationales: list[list[tuple[int, int]]] = []
    gold = "rationale" in builder.info.features
    for batch in builder.as_dataset(split=split).ragged_batch(1024):
        texts.extend(row.decode() for row in batch[text].numpy())
        numbers.extend(batch[label].numpy().tolist())
        if gold:
            rationales.extend([(start, end) for start, end in row] for row in batch["rationale"].to_list())
    return texts, numbers, rationales if gold else None
