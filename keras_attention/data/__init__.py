"""Vocabularies, readers of real data, and the embedded corpora."""

from keras_attention.data.corpus import Corpus, DataError, Link, Pairs
from keras_attention.data.links import read_links
from keras_attention.data.sources import load, load_texts, stream
from keras_attention.data.streaming import StreamedPairs
from keras_attention.data.texts import TextCorpus, Texts
from keras_attention.data.vocabulary import Vocabulary

__all__ = [
    "Corpus",
    "DataError",
    "Link",
    "Pairs",
    "StreamedPairs",
    "TextCorpus",
    "Texts",
    "Vocabulary",
    "load",
    "load_texts",
    "read_links",
    "stream",
]
