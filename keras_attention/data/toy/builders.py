"""The toy corpora for tensorflow-datasets: import this, then ``tfds.load("toy_translation/en-fr")``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow_datasets as tfds

from keras_attention.data.corpus import Pairs
from keras_attention.data.toy import TOYS, load_toy


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
