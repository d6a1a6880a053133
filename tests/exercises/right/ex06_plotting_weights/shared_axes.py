import matplotlib.pyplot as plt
import numpy as np


def draw(ax, weights, title, vmax):
    ax.set_title(title)
    ax.set_facecolor("orange")
    return ax.imshow(weights[::-1], cmap=plt.cm.Blues, vmin=0, vmax=vmax, origin="lower")


def label(ax, source_tokens, target_tokens):
    ax.set_xticks(range(len(source_tokens)), source_tokens)
    ax.set_yticks(range(len(target_tokens)), target_tokens[::-1])
    ax.set(xlabel="Source Tokens", ylabel="Target Tokens")


def plot_attention(weights, source_tokens, target_tokens, title="", mask=None, vmax=1.0, ax=None):
    if ax is None:
        ax = plt.subplots()[1]
    image = draw(ax, weights if mask is None else weights + np.where(mask, 0, np.nan), title, vmax)
    label(ax, source_tokens, target_tokens)
    plt.colorbar(image, ax=ax)
    return ax


def plot_heads(weights, source_tokens, target_tokens):
    figure, axes = plt.subplots(1, len(weights), sharex=True, sharey=True)
    for h, ax in enumerate(axes):
        image = draw(ax, weights[h], f"head {h + 1}", np.max(weights))
        label(ax, source_tokens, target_tokens)
    figure.colorbar(image, ax=axes)
    return axes
