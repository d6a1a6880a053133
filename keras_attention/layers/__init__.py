"""Attention as Keras layers, one a file."""

from keras_attention.layers.bahdanau_attention import BahdanauAttention
from keras_attention.layers.luong_attention import LuongAttention
from keras_attention.layers.scaled_dot_product_attention import ScaledDotProductAttention

__all__ = ["BahdanauAttention", "LuongAttention", "ScaledDotProductAttention"]
