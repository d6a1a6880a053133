"""The toy corpora for tensorflow-datasets.

Import this, then ``tfds.load("toy_translation/en-fr")`` or ``tfds.load("toy_reviews/en")``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from keras_attention.data.corpus import Pairs
from keras_attention.data.texts import Texts
from keras_attention.data.toy import TOYS, load_toy
from keras_attention.data.toy.reviews import LABELS, load_reviews


class ToyTranslation(tfds.core.GeneratorBasedBuilder):
    """The pairs of ``load("toy:en-fr")`` and ``load("toy:en-zh")``, in their order."""

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = [  # noqa: RUF012  tensorflow-datasets reads a plain class attribute
        tfds.core.BuilderConfig(name=name, description=f"The toy corpus {name}.") for name in TOYS
    ]

    def _info(self) -> tfds.core.DatasetInfo:
        languages = tuple(self.builder_config.name.split("-"))
        return tfds.core.DatasetInfo(
            builder=self,
            description="Sentence pairs drawn from small grammars.",
            features=tfds.features.Translation(languages=languages),
            supervised_keys=languages,
            disable_shuffling=True,
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Any]:
        corpus = load_toy(self.builder_config.name)
        return {
            split: self._generate_examples(corpus.split(split)) for split in ("train", "validation", "test")
        }

    def _generate_examples(self, pairs: Pairs) -> Iterator[tuple[int, dict[str, str]]]:
        source, target = self.builder_config.name.split("-")
        for i, (text, translation) in enumerate(zip(pairs.source, pairs.target, strict=True)):
            yield i, {source: text, target: translation}


class ToyReviews(tfds.core.GeneratorBasedBuilder):
    """The texts of ``load_texts("toy:reviews-en")`` and ``load_texts("toy:reviews-zh")``, in their order.

    ``rationale`` holds the character ranges ``[start, end)`` of the words that decide.
    """

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = [  # noqa: RUF012
        tfds.core.BuilderConfig(name=language, description=f"The toy reviews reviews-{language}.")
        for language in ("en", "zh")
    ]

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description="Reviews drawn from small grammars, with the words that decide which class they are.",
            features=tfds.features.FeaturesDict(
                {
                    "text": tfds.features.Text(),
                    "label": tfds.features.ClassLabel(names=LABELS),
                    "rationale": tfds.features.Sequence(tfds.features.Tensor(shape=(2,), dtype=np.int32)),
                }
            ),
            supervised_keys=("text", "label"),
            disable_shuffling=True,
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Any]:
        corpus = load_reviews(f"reviews-{self.builder_config.name}")
        return {split: self._generate_examples(texts) for split, texts in corpus.splits.items()}

    def _generate_examples(self, texts: Texts) -> Iterator[tuple[int, dict[str, Any]]]:
        for i, (text, label, rationale) in enumerate(
            zip(texts.texts, texts.labels, texts.rationales or (), strict=True)
        ):
            yield i, {"text": text, "label": label, "rationale": [list(span) for span in rationale]}
