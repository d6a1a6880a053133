"""Attention in Keras: layers to reuse, models to train, a chapter to follow.

The layers, `functional`, `masks` and `load_model` are attributes of the package that are imported at their
first use, so that importing the package costs nothing.
"""

import importlib
import sys

__version__ = "0.1.0"

_LAYERS = (
    "AttentionPooling",
    "BahdanauAttention",
    "CrossAttention",
    "LuongAttention",
    "MultiHeadAttention",
    "ScaledDotProductAttention",
    "SelfAttention",
)
_MODULES = ("functional", "layers", "masks")
_HOMES = {**dict.fromkeys(_LAYERS, "keras_attention.layers"), "load_model": "keras_attention.models"}

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"keras_attention.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'keras_attention' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})


if "keras" in sys.modules:  # who has Keras may load a saved model next: its layers must be registered by then
    importlib.import_module("keras_attention.layers")
