"""Attention in Keras: layers to reuse, models to train, a chapter to follow."""

__version__ = "0.1.0"
