"""Models from strings to strings and to classes, on TensorFlow."""

from keras_attention.models.classifier import AttentionClassifier, Prediction
from keras_attention.models.classifier_evaluation import evaluate_classifier
from keras_attention.models.classifier_training import train_classifier
from keras_attention.models.evaluation import evaluate
from keras_attention.models.loading import load_model
from keras_attention.models.presets import CLASSIFIER_PRESETS, PRESETS, TRANSFORMER_PRESETS
from keras_attention.models.training import train
from keras_attention.models.transformer import TransformerTranslator
from keras_attention.models.translation import Translation, Translator
from keras_attention.models.translator import Seq2SeqTranslator

__all__ = [
    "CLASSIFIER_PRESETS",
    "PRESETS",
    "TRANSFORMER_PRESETS",
    "AttentionClassifier",
    "Prediction",
    "Seq2SeqTranslator",
    "TransformerTranslator",
    "Translation",
    "Translator",
    "evaluate",
    "evaluate_classifier",
    "load_model",
    "train",
    "train_classifier",
]
