"""Attention as a page to explore: one HTML file that needs no network."""

from .page import HTMLView, explore
from .record import AttentionLayer, AttentionRecord

__all__ = ["AttentionLayer", "AttentionRecord", "HTMLView", "explore"]
