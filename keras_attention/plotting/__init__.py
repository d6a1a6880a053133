"""Figures of attention: matplotlib Axes in and out, no global setting touched, nothing shown by itself.

`explore` makes a page to look around in instead.
"""

from .alignment import plot_alignment
from .animation import animate_attention
from .costs import plot_costs
from .description import describe_attention
from .difference import plot_difference
from .explorer import AttentionLayer, AttentionRecord, HTMLView, explore
from .fonts import text_style
from .heads import plot_heads
from .heatmap import plot_attention
from .highlight import plot_highlight
from .pattern import plot_pattern
from .saving import save_figure
from .steps import plot_steps

__all__ = [
    "AttentionLayer",
    "AttentionRecord",
    "HTMLView",
    "animate_attention",
    "describe_attention",
    "explore",
    "plot_alignment",
    "plot_attention",
    "plot_costs",
    "plot_difference",
    "plot_heads",
    "plot_highlight",
    "plot_pattern",
    "plot_steps",
    "save_figure",
    "text_style",
]
