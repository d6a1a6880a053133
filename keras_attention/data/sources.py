"""One string names a data set, the same everywhere."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from keras_attention.data.corpus import Corpus, DataError, Pairs, make_corpus
from keras_attention.data.files import (
    DIRECTION,
    LANGUAGE,
    collect,
    folder_files,
    iterate_pairs,
    iterate_parallel,
    read_folder,
)
from keras_attention.data.streaming import StreamedPairs, Track, make_streamed_corpus, untracked
from keras_attention.data.text_files import beside, read_texts
from keras_attention.data.texts import TextCorpus, make_text_corpus

SUFFIX = re.compile(rf"(.+):({LANGUAGE})-({LANGUAGE})")


def load(
    source: str, *, seed: int = 0, source_language: str | None = None, target_language: str | None = None
) -> Corpus[Pairs]:
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
    path, *asked = find_path(source, source_language, target_language)
    if path.is_dir():
        splits, languages = read_folder(path, *asked)
        return make_corpus(str(source), splits, languages, seed)
    pairs = collect(iterate_pairs(path))
    return make_corpus(str(source), {"train": pairs}, languages_of(path, pairs, *asked), seed)


def stream(
    source: str,
    *,
    seed: int = 0,
    source_language: str | None = None,
    target_language: str | None = None,
    track: Track = untracked,
) -> Corpus[StreamedPairs]:
    """A corpus whose training pairs stay in their file, however many they are.

    Training holds a buffer of 50,000 pairs to draw their order from, and the vocabularies are built from as
    many, drawn uniformly. A file in an order of its own (by length, by origin) is better shuffled once.

    Validation and test sentences that a source lacks are drawn as in `load`, by a hash of the source
    sentence and the seed: other sentences than `load` draws, so train and evaluate alike.

    Args:
        source: the path of a file or of a folder, as in `load`.
        seed, source_language, target_language: as in `load`.
        track: see `StreamedPairs`.

    Raises:
        DataError: as `load`, before training; or if the source is neither file nor folder.
        FileNotFoundError: if there is nothing at the path.
    """
    if str(source).partition(":")[0] in ("toy", "tfds"):
        raise DataError(f"{source} cannot be streamed, only a file or a folder can; load it as a whole.")
    path, *asked = find_path(source, source_language, target_language)
    if path.is_dir():
        files, languages = folder_files(path, *asked)
        train = files.pop("train")
        splits = {split: collect(iterate_parallel(*paths)) for split, paths in files.items()}
        return make_streamed_corpus(
            str(source), lambda: iterate_parallel(*train), splits, languages, seed, track
        )
    beginning = collect(islice(iterate_pairs(path), 1000))
    return make_streamed_corpus(
        str(source), lambda: iterate_pairs(path), {}, languages_of(path, beginning, *asked), seed, track
    )


def find_path(
    source: str, source_language: str | None, target_language: str | None
) -> tuple[Path, str | None, str | None]:
    """The file or folder of a source, and the direction, which may be part of its name."""
    path = Path(source).expanduser()
    match = SUFFIX.fullmatch(str(path))
    if match and not path.exists():
        path, source_language, target_language = Path(match[1]), match[2], match[3]
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file or folder {source}; give a path, toy:en-fr, toy:en-zh or tfds:NAME/CONFIG."
        )
    return path, source_language, target_language


def languages_of(
    path: Path, pairs: Pairs, source_language: str | None, target_language: str | None
) -> tuple[str | None, str | None]:
    """The languages of a file: as asked, as its name says, or as its script does."""
    named = DIRECTION.fullmatch(path.name.split(".")[0])
    guess = named.groups() if named else (script_language(pairs.source), script_language(pairs.target))
    return source_language or guess[0], target_language or guess[1]


def load_texts(
    source: str,
    *,
    seed: int = 0,
    label_column: str | None = None,
    text_column: str | None = None,
    skip_empty: bool = False,
) -> TextCorpus:
    """Load labelled texts.

    Args:
        source: one of

            - ``toy:reviews-en``, ``toy:reviews-zh``, ``toy:documents-en``: generated, with gold rationales;
            - ``tfds:NAME`` or ``tfds:NAME/CONFIG``: a data set of tensorflow-datasets with a text and a
              class, such as imdb_reviews, glue/sst2, ag_news_subset;
            - the path of a TSV or CSV file, its label first, or with a heading. Beside ``NAME.train.tsv``,
              ``NAME.dev.tsv`` and ``NAME.test.tsv`` are found by themselves; ``NAME.test.tsv`` alone is a
              test split, for a model that is trained already.
        seed: draws the toy reviews, and validation and test texts (a tenth each) where a source has none.
        label_column, text_column, skip_empty: see `read_texts`.

    Raises:
        DataError: if the data cannot be read, with the file, the line, the cause and the cure.
        FileNotFoundError: if there is nothing at the path.
    """
    kind, _, name = str(source).partition(":")
    if kind == "toy":
        from keras_attention.data.toy.documents import load_documents
        from keras_attention.data.toy.reviews import load_reviews

        if name == "documents-en":
            return load_documents(seed)
        return load_reviews(name, seed)
    if kind == "tfds":
        from keras_attention.data.tfds import load_tfds_texts

        return load_tfds_texts(name, seed, label_column, text_column)
    path = Path(source).expanduser()
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {source}; give the path of a TSV or CSV file, toy:reviews-en, toy:reviews-zh "
            "or tfds:NAME."
        )
    splits, notes = {}, []
    for split, file in beside(path).items():
        splits[split], skipped = read_texts(file, label_column, text_column, skip_empty)
        if skipped:
            notes.append(f"{file}: {skipped} row{'s' * (skipped > 1)} without a text left out.")
    return make_text_corpus(str(source), splits, seed, notes)


def script_language(texts: list[str]) -> str | None:
    """``"zh"`` where most of the first thousand texts hold Chinese characters and no kana, else None."""
    sample = texts[:1000]
    chinese = sum(
        bool(re.search("[\u4e00-\u9fff]", text) and not re.search("[\u3040-\u30ff]", text)) for text in sample
    )
    return "zh" if 2 * chinese > len(sample) else None
