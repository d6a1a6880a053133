"""Attention in Keras: layers to reuse, models to train, a chapter to follow.

The layers, `functional`, `masks` and `load_model` are attributes of the package.
"""

import importlib
import sys
from pathlib import Path

__version__ = "0.1.0"

_LAYERS = (
    "AttentionPooling",
    "BahdanauAttention",
    "BigBirdAttention",
    "CrossAttention",
    "LinearAttention",
    "LongformerAttention",
    "LuongAttention",
    "MultiHeadAttention",
    "PerformerAttention",
    "PositionalEncoding",
    "ReformerAttention",
    "ScaledDotProductAttention",
    "SelfAttention",
    "TransformerDecoderBlock",
    "TransformerEncoderBlock",
)
_MODULES = ("functional", "layers", "masks")
_HOMES = {
    **dict.fromkeys(_LAYERS, "keras_attention.layers"),
    "AttentionRecorder": "keras_attention.inspection",
    "attention_scores": "keras_attention.inspection",
    "exactness_report": "keras_attention.exactness",
    "load_model": "keras_attention.models",
}

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"keras_attention.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'keras_attention' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})


def _register():
    """Give Keras the classes that it must know by name before `keras.saving.load_model` meets them."""
    import keras

    importlib.import_module("keras_attention.layers")
    if keras.backend.backend() == "tensorflow":
        importlib.import_module("keras_attention.models")


# the command line imports Keras where it needs it
if not {Path(argument).stem for argument in sys.orig_argv[:3]} & {"keras-attention", "keras_attention"}:
    _register()
