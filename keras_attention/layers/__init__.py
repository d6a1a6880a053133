"""Attention as Keras layers, one a file."""

from keras_attention.layers.attention_pooling import AttentionPooling
from keras_attention.layers.bahdanau_attention import BahdanauAttention
from keras_attention.layers.big_bird_attention import BigBirdAttention
from keras_attention.layers.cross_attention import CrossAttention
from keras_attention.layers.linear_attention import LinearAttention
from keras_attention.layers.longformer_attention import LongformerAttention
from keras_attention.layers.luong_attention import LuongAttention
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.layers.performer_attention import PerformerAttention
from keras_attention.layers.positional_encoding import PositionalEncoding
from keras_attention.layers.reformer_attention import ReformerAttention
from keras_attention.layers.scaled_dot_product_attention import ScaledDotProductAttention
from keras_attention.layers.self_attention import SelfAttention
from keras_attention.layers.transformer_decoder_block import TransformerDecoderBlock
from keras_attention.layers.transformer_encoder_block import TransformerEncoderBlock

__all__ = [
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
]
