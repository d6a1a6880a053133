"""Figures of attention: matplotlib Axes in and out, no global setting touched, nothing shown by itself."""

from .heatmap import plot_attention

__all__ = ["plot_attention"]
