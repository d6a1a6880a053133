"""Models from strings to strings and to classes, on TensorFlow."""

from keras_attention.models.classifier import AttentionClassifier, Prediction
from keras_attention.models.classifier_evaluation import evaluate_classifier
from keras_attention.models.classifier_training import train_classifier
from keras_attention.models.evaluation import evaluate
from keras_attention.models.loading import load_model
from keras_attention.models.presets import CLASSIFIER_PRESETS, PRESETS
from keras_attention.models.training import train
from keras_attention.models.translator import Seq2SeqTranslator, Translation

__all__ = [
    "CLASSIFIER_PRESETS",
    "PRESETS",
    "AttentionClassifier",
    "Prediction",
    "Seq2SeqTranslator",
    "Translation",
    "evaluate",
    "evaluate_classifier",
    "load_model",
    "train",
    "train_classifier",
]
