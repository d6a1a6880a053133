"""Translation data sets of tensorflow-datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keras_attention.data.corpus import Corpus, DataError, Pairs, make_corpus
from keras_attention.data.files import choose_direction

ALTERNATIVES = "or use local data: toy:en-fr, toy:en-zh, a TSV or CSV file, a folder of LANG.SPLIT.txt"


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

    import keras_attention.data.toy.builders  # noqa: F401  registers our own

    try:
        builder = tfds.builder(name, try_gcs=False, data_dir=data_dir)
    except (tfds.core.registered.DatasetNotFoundError, ValueError) as error:
        cause = str(error).strip().splitlines()[0].rstrip(".")
        raise DataError(
            f"tensorflow-datasets has no {name!r} ({cause}); correct the name, {ALTERNATIVES}."
        ) from None
    languages = getattr(builder.info.features, "languages", None)
    if not isinstance(builder.info.features, tfds.features.Translation) or not languages:
        raise DataError(f"tfds:{name} is no set of translations; choose one that is, {ALTERNATIVES}.")
    if not builder.is_prepared():
        prepare(builder, name)
    keys = builder.info.supervised_keys or ("", "")
    direction = choose_direction(
        "-".join(keys), set(languages), source_language, target_language, f"tfds:{name}"
    )
    splits = {split: read_split(builder, split, direction) for split in builder.info.splits}
    return make_corpus(f"tfds:{name}", splits, direction, seed)


def prepare(builder: Any, name: str) -> None:
    """Download a data set; without a network say so at once."""
    hosts = sorted({urlsplit(url).netloc for url in builder.url_infos or ()})
    if hosts and not any(reachable(host) for host in hosts[:4]):
        raise DataError(
            f"tfds:{name} is not on this machine, and {', '.join(hosts[:4])} cannot be reached; "
            f"connect to a network, {ALTERNATIVES}."
        )
    try:
        builder.download_and_prepare()
    except Exception as error:
        cause = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise DataError(
            f"tfds:{name} could not be prepared ({cause}); try again later, {ALTERNATIVES}."
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
