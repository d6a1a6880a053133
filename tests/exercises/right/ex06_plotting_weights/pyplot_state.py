import matplotlib.pyplot as plt
import numpy as np


def plot_attention(weights, source_tokens, target_tokens, title="", mask=None, vmax=1.0, ax=None):
    if ax is None:
        plt.figure()
    else:
        plt.sca(ax)
    weights = np.array(weights, dtype="float64")
    if mask is not None:
        weights[~mask] = np.nan
    plt.gca().set_facecolor("silver")
    plt.imshow(weights, "Blues", extent=(0, len(source_tokens), len(target_tokens), 0))
    plt.clim(0, vmax)
    plt.xticks([j + 0.5 for j in range(len(source_tokens))], source_tokens, rotation=45)
    plt.yticks([i + 0.5 for i in range(len(target_tokens))], target_tokens)
    plt.xlabel("Source Tokens")
    plt.ylabel("Target Tokens")
    plt.title(title)
    plt.colorbar()
    plt.show()
    return plt.gca()


def plot_heads(weights, source_tokens, target_tokens):
    axes = []
    for h in range(weights.shape[0]):
        ax = plt.subplot(1, weights.shape[0], h + 1)
        axes.append(
            plot_attention(weights[h], source_tokens, target_tokens, f"head {h + 1}", None, weights.max(), ax)
        )
    return axes
