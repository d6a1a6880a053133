"""Plotting weights · 画出注意力权重

Chapter: ch11_3_visualization.py
Difficulty: 2 of 5
Minutes: 30

The weights of attention say what the model looked at. A heat map shows them: one row for each target token,
the first at the top; one column for each source token; the larger the weight, the darker the cell. A figure
that is easy to misread is worse than none: so each token stands at its own row or column, a colour means the
same in every figure, and a colour bar says what.

注意力权重说明模型看了哪里。画成热力图：每个目标词一行，第一个在最上面；每个源词一列；权重越大，颜色越深。
容易看错的图还不如没有：所以每个词要对准自己的行或列，同样的颜色在每张图里表示同样的数，并用颜色条说明。

Draw with matplotlib, by imshow or pcolormesh. Return the Axes; show nothing, save nothing.
用 matplotlib 的 imshow 或 pcolormesh 来画。返回 Axes；不要显示，也不要保存。

Shapes · 形状: Tq target tokens (queries), Tk source tokens (keys), H heads
"""

import matplotlib.pyplot as plt
import numpy as np


def plot_attention(weights, source_tokens, target_tokens, title="", mask=None, vmax=1.0, ax=None):
    """A heat map with the colours of "Blues", linear from 0 to vmax, and a colour bar.

    The x-axis is called "Source Tokens", the y-axis "Target Tokens". Every token is a tick label at the
    middle of its column or row; a token may occur twice.

    热力图：颜色用 "Blues"，从 0 到 vmax 线性变化，带颜色条。x 轴叫 "Source Tokens"，y 轴叫 "Target Tokens"。
    每个词都是刻度标签，对准自己那一列或那一行的中间；同一个词可以出现两次。

    Args:
        weights: (Tq, Tk), an array of NumPy.
        source_tokens: a list of Tk texts.
        target_tokens: a list of Tq texts.
        title: of the Axes.
        mask: boolean (Tq, Tk), or None. Where it is False the cell has no number and no blue, but is grey:
            nobody may look there, while a weight of 0 means that somebody did not · False 处没有数，是灰色：
            那里不能看，与“权重为 0”不同。
        vmax: the weight of the darkest colour.
        ax: where to draw; None makes a new figure.

    Returns:
        the Axes

    >>> ax = plot_attention(np.array([[0.9, 0.1], [0.2, 0.8]]), ["the", "cat"], ["le", "chat"], "en → fr")
    >>> [label.get_text() for label in ax.get_yticklabels()], ax.get_title()
    (['le', 'chat'], 'en → fr')
    """
    # SOLUTION
    if ax is None:
        _, ax = plt.subplots(layout="compressed")
    if mask is not None:
        weights = np.where(mask, weights, np.nan)  # there the background is seen
        ax.set_facecolor("lightgrey")
    image = ax.imshow(weights, cmap="Blues", vmin=0, vmax=vmax)
    ax.set_xticks(range(len(source_tokens)), labels=source_tokens, rotation="vertical")
    ax.set_yticks(range(len(target_tokens)), labels=target_tokens)
    ax.set(xlabel="Source Tokens", ylabel="Target Tokens", title=title)
    ax.figure.colorbar(image)
    return ax
    # END


def plot_heads(weights, source_tokens, target_tokens):
    """One such heat map for each head, side by side in one figure.

    The titles are "head 1", "head 2", … The darkest colour is the largest weight of all heads: one scale for
    all, or the same blue would mean one number here and another there.

    每个头一张热力图，并排在一张图里。标题是 "head 1"、"head 2"……最深的颜色是所有头中最大的权重：
    所有头共用一个色标，否则同样的蓝色在不同的头里表示不同的数。

    Args:
        weights: (H, Tq, Tk).
        source_tokens: a list of Tk texts.
        target_tokens: a list of Tq texts.

    Returns:
        a list of H Axes

    >>> heads = plot_heads(np.array([[[0.5, 0.5]], [[0.2, 0.8]]]), ["the", "cat"], ["chat"])
    >>> [(ax.get_title(), ax.images[0].get_clim()) for ax in heads]
    [('head 1', (0.0, 0.8)), ('head 2', (0.0, 0.8))]
    """
    # SOLUTION
    width, height = plt.rcParams["figure.figsize"]
    _, axes = plt.subplots(ncols=len(weights), figsize=(width * len(weights), height), layout="compressed")
    axes, vmax = np.ravel(axes), weights.max()
    return [
        plot_attention(head, source_tokens, target_tokens, f"head {i + 1}", vmax=vmax, ax=axes[i])
        for i, head in enumerate(weights)
    ]
    # END
