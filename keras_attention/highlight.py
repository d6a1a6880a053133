"""A text whose words are shaded by their weight, in the terminal and as HTML.

The shades are one blue from light to dark, so that they differ in brightness and not in hue: they can be told
apart with any colour vision, and in print. The weight stands beside its word as a number, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Protocol

from keras_attention.data.vocabulary import IS_HAN, Span

if TYPE_CHECKING:
    from rich.text import Text

LIGHT, DARK = (255, 255, 255), (8, 48, 107)
SHOWN = 0.05  # a smaller weight has no number in the terminal


class Classified(Protocol):
    """What a text needs to be highlighted; `AttentionClassifier.predict_text` gives it."""

    text: str
    label: str
    probability: float
    spans: list[Span]
    weights: Sequence[float]


def shade(weight: float, most: float) -> tuple[int, int, int]:
    """The colour of a weight, from white at 0 to dark blue at `most`, as red, green, blue."""
    share = min(1.0, max(0.0, weight / most)) if most > 0 else 0.0
    red, green, blue = (round(a + share * (b - a)) for a, b in zip(LIGHT, DARK, strict=True))
    return red, green, blue


def ink(background: Iterable[int]) -> str:
    """Black or white, whichever has more contrast (WCAG 2.2) on a background.

    >>> ink((255, 255, 255)), ink((8, 48, 107))
    ('#000000', '#ffffff')
    """
    light = luminance(background)
    return "#000000" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "#ffffff"


def luminance(colour: Iterable[int]) -> float:
    """Relative luminance of an sRGB colour, 0 to 1 (WCAG 2.2)."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in (c / 255 for c in colour)]
    return sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def pieces(text: str, spans: Sequence[Span], weights: Sequence[float]) -> Iterator[tuple[str, float | None]]:
    """The text in order: its tokens with their weights, and what stands between them with None.

    Raises:
        ValueError: there is not one weight for each token.
    """
    if len(spans) != len(weights):
        raise ValueError(f"There are {len(spans)} tokens but {len(weights)} weights.")
    end = 0
    for (start, stop), weight in zip(spans, weights, strict=True):
        if text[end:start]:
            yield text[end:start], None
        yield text[start:stop], float(weight)
        end = stop
    if text[end:]:
        yield text[end:], None


def highlight_text(text: str, spans: Sequence[Span], weights: Sequence[float]) -> Text:
    """The text for `rich`, its tokens shaded; a weight of 0.05 or more follows its token as a number.

    Args:
        text: as it was classified.
        spans: the character range of each token.
        weights: one for each token.

    Raises:
        ValueError: there is not one weight for each token.
    """
    from rich.text import Text

    shaded, most = Text(), max(map(float, weights), default=0.0)
    for piece, weight in pieces(text, spans, weights):
        if weight is None or weight < SHOWN:
            shaded.append(piece)
        else:
            colour = shade(weight, most)
            shaded.append(piece, style=f"{ink(colour)} on #{bytes(colour).hex()}")
            shaded.append(f"({weight:.2f})", style="dim")
    return shaded


def highlight_html(predictions: Iterable[Classified], title: str = "What the classifier looked at") -> str:
    """A page of its own, without a script or a remote file: each text with its class and its shaded words.

    Under each word stands its weight in per cent, for who cannot see the colour; below 0.5 it is left out.

    Raises:
        ValueError: there is not one weight for each token.
    """
    articles = "\n".join(_article(prediction) for prediction in predictions)
    return PAGE.format(title=escape(title), style=STYLE, articles=articles)


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p>The darker a word, the more the classifier looked at it; the number under it is its weight in per cent.</p>
{articles}
</body>
</html>
"""

STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.4 system-ui, sans-serif;
       color: #000; background: #fff; }
article { margin: 2rem 0; border-top: 1px solid #767676; }
p { white-space: pre-wrap; }
ruby { ruby-position: under; line-height: 2.4; }
ruby span { padding: .1em; border-radius: .2em; }
rt { font-size: .65em; }
"""


def _article(prediction: Classified) -> str:
    most = max(map(float, prediction.weights), default=0.0)
    words = []
    for piece, weight in pieces(prediction.text, prediction.spans, prediction.weights):
        if weight is None:
            words.append(escape(piece))
        else:
            colour = shade(weight, most)
            style = f"color:{ink(colour)};background:#{bytes(colour).hex()}"
            number = f"{100 * weight:.0f}" if weight >= 0.005 else ""
            words.append(f'<ruby><span style="{style}">{escape(piece)}</span><rt>{number}</rt></ruby>')
    language = ' lang="zh"' if IS_HAN.search(prediction.text) else ""
    return (
        f"<article>\n<h2>{escape(prediction.label)} · {100 * prediction.probability:.1f} %</h2>\n"
        f"<p{language}>{''.join(words)}</p>\n</article>"
    )
