"""One string names a data set, the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path

from keras_attention.data.corpus import Corpus, make_corpus
from keras_attention.data.files import DIRECTION, LANGUAGE, read_folder, read_pairs

SUFFIX = re.compile(rf"(.+):({LANGUAGE})-({LANGUAGE})")


def load(
    source: str, *, seed: int = 0, source_language: str | None = None, target_language: str | None = None
) -> Corpus:
    """Load a parallel corpus.

    Args:
        source: one of

            - ``toy:en-fr``, ``toy:en-zh``: generated, with gold word links;
            - ``tfds:NAME`` or ``tfds:NAME/CONFIG``: a translation data set of tensorflow-datasets;
            - the path of a TSV or CSV file with a pair a line (columns after the second are ignored);
            - the path of a folder of ``LANG.SPLIT.txt`` files with a sentence a line. Its direction is that
              of a name like ``en-de``, else alphabetical with English as the source; ``FOLDER:de-en`` says
              otherwise, and is needed where there are more than two languages.
        seed: draws the toy sentences, and the validation and test sentences where a source has none: by
            source sentence, so that none is in two splits. Train and evaluate with the same seed.
        source_language, target_language: the direction of a folder or data set; the columns of a file.

    Raises:
        DataError: if the data cannot be read, with the file, the line, the cause and the cure.
        FileNotFoundError: if there is nothing at the path.
    """
    kind, _, name = str(source).partition(":")
    if kind == "toy":
        from keras_attention.data.toy import load_toy

        return load_toy(name, seed)
    if kind == "tfds":
        from keras_attention.data.tfds import load_tfds

        return load_tfds(name, seed, source_language, target_language)
    path = Path(source).expanduser()
    match = SUFFIX.fullmatch(str(path))
    if match and not path.exists():
        path, source_language, target_language = Path(match[1]), match[2], match[3]
    if path.is_dir():
        splits, languages = read_folder(path, source_language, target_language)
        return make_corpus(str(source), splits, languages, seed)
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file or folder {source}; give a path, toy:en-fr, toy:en-zh or tfds:NAME/CONFIG."
        )
    pairs = read_pairs(path)
    named = DIRECTION.fullmatch(path.name.split(".")[0])
    guess = named.groups() if named else (script_language(pairs.source), script_language(pairs.target))
    return make_corpus(
        str(source), {"train": pairs}, (source_language or guess[0], target_language or guess[1]), seed
    )


def script_language(texts: list[str]) -> str | None:
    """``"zh"`` where most of the first thousand texts hold Chinese characters and no kana, else None."""
    sample = texts[:1000]
    chinese = sum(
        bool(re.search("[\u4e00-\u9fff]", text) and not re.search("[\u3040-\u30ff]", text)) for text in sample
    )
    return "zh" if 2 * chinese > len(sample) else None
