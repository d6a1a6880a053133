import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize


def plot_attention(weights, source_tokens, target_tokens, title="", mask=None, vmax=1.0, ax=None):
    figure = plt.figure() if ax is None else ax.figure
    ax = figure.add_subplot() if ax is None else ax
    hidden = np.zeros(weights.shape, bool) if mask is None else ~mask
    colours = mpl.colormaps["Blues"].with_extremes(bad="lightgrey")
    mesh = ax.pcolormesh(np.ma.array(weights, mask=hidden), norm=Normalize(0, vmax), cmap=colours)
    ax.invert_yaxis()
    ax.set_xticks(np.arange(len(source_tokens)) + 0.5)
    ax.set_xticklabels(source_tokens)
    ax.set_yticks(np.arange(len(target_tokens)) + 0.5)
    ax.set_yticklabels(target_tokens)
    ax.set_xlabel("Source Tokens")
    ax.set_ylabel("Target Tokens")
    ax.set_title(title)
    figure.colorbar(mesh)
    return ax


def plot_heads(weights, source_tokens, target_tokens):
    figure = plt.figure(figsize=(12, 4))
    heads = []
    for number, head in enumerate(weights, start=1):
        ax = figure.add_subplot(1, len(weights), number)
        title = f"head {number}"
        heads.append(plot_attention(head, source_tokens, target_tokens, title, vmax=np.max(weights), ax=ax))
    return heads
