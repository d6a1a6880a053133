"""Models from strings to strings, on TensorFlow."""

from keras_attention.models.evaluation import evaluate
from keras_attention.models.loading import load_model
from keras_attention.models.presets import PRESETS
from keras_attention.models.training import train
from keras_attention.models.translator import Seq2SeqTranslator, Translation

__all__ = ["PRESETS", "Seq2SeqTranslator", "Translation", "evaluate", "load_model", "train"]
