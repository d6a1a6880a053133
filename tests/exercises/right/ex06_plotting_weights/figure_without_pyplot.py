from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator
from numpy import ma


def label(axis, tokens, name):
    axis.set_major_locator(FixedLocator(range(len(tokens))))
    axis.set_major_formatter(FixedFormatter(tokens))
    axis.set_label_text(name)


def plot_attention(weights, source_tokens, target_tokens, title="", mask=None, vmax=1.0, ax=None):
    ax = ax or Figure().subplots()
    if mask is not None:
        weights = ma.masked_where(~mask, weights)
        ax.patch.set_color("0.8")
    image = ax.matshow(weights, cmap="Blues", vmin=0.0, vmax=vmax, aspect="auto")
    label(ax.xaxis, source_tokens, "Source Tokens")
    label(ax.yaxis, target_tokens, "Target Tokens")
    ax.set_title(title, loc="left")
    ax.get_figure().colorbar(image, ax=ax, orientation="horizontal", label="weight")
    return ax


def plot_heads(weights, source_tokens, target_tokens):
    panels = Figure().subfigures(1, len(weights))
    return [
        plot_attention(
            weights[h], source_tokens, target_tokens, f"head {h + 1}", vmax=weights.max(), ax=panel.subplots()
        )
        for h, panel in enumerate(panels)
    ]
