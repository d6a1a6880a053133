"""What a figure shows, in words: alt text for those who cannot see it, in English or Chinese."""

import functools
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .cells import as_array, as_boolean, check_shape, number
from .labels import visible

MOST_ROWS = 12  # that are told one by one
LANGUAGES = ("en", "zh")

_descriptions: weakref.WeakKeyDictionary[Axes, Callable[[str], str]] = weakref.WeakKeyDictionary()


def describe_attention(
    weights: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    *,
    title: str | None = None,
    gold: Any = None,
    mask: Any = None,
    language: str = "en",
) -> str:
    """Alt text of a heat map: its size, where each row looks most, what is masked, how it fits the gold.

    Tokens that occur more than once are followed by their position, counted from 1.

    Args:
        weights: array of shape (Tq, Tk), for one sentence and one head.
        source_tokens, target_tokens, title, gold, mask: as in `plot_attention`.
        language: "en" or "zh".

    Raises:
        ValueError: if a shape does not fit the tokens, or the language is another.

    >>> describe_attention([[0.9, 0.1]], ["the", "cat"], ["le"])  # doctest: +NORMALIZE_WHITESPACE
    'Heat map of attention weights, 1 target token (row) by 2 source tokens (columns). The largest weight of
    each row: le – the (0.90).'
    """
    say = _language(language)
    weights = as_array(weights)
    check_shape(weights, source_tokens, target_tokens)
    rows, columns = weights.shape
    allowed = as_boolean("mask", True if mask is None else mask, weights.shape)
    targets, sources = _names(target_tokens), _names(source_tokens)

    looks = []
    for name, row, seen in zip(targets, weights, allowed, strict=True):
        row = np.where(seen & np.isfinite(row), row, 0)
        best = row.argmax()
        look = f"{sources[best]} ({row[best]:.2f})" if row[best] > 0 else say("nothing", "无")
        looks.append(f"{name} – {look}")
    parts = [
        _kind(say, title, "Heat map of attention weights", "注意力权重热力图")
        + say(
            f", {_count(rows, 'target token')} ({'rows' if rows > 1 else 'row'}) by "
            f"{_count(columns, 'source token')} ({'columns' if columns > 1 else 'column'}).",
            f"，{rows} 个目标词元（行）× {columns} 个源词元（列）。",
        ),
        say("The largest weight of each row: ", "每行权重最大处：") + _listed(say, looks, "row", "行"),
    ]
    hidden = int((~allowed).sum())
    if hidden:
        parts.append(
            say(
                f"{hidden} of {weights.size} cells are masked.",
                f"{weights.size} 格中有 {hidden} 格被掩码遮住。",
            )
        )
    broken = int((~np.isfinite(weights)).sum())
    if broken:
        parts.append(say(f"{broken} weights are not a number.", f"有 {broken} 个权重不是数。"))
    if gold is not None:
        parts.append(_against_gold(say, weights, as_boolean("gold", gold, weights.shape)))
    return say(" ", "").join(parts)


def describe_difference(
    before: Any,
    after: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    *,
    title: str | None = None,
    names: tuple[str, str] = ("before", "after"),
    mask: Any = None,
    language: str = "en",
) -> str:
    """Alt text of `plot_difference`: its size, and where attention grew and fell most."""
    say = _language(language)
    change = as_array(after) - as_array(before)
    allowed = as_boolean("mask", True if mask is None else mask, change.shape)
    change = np.where(allowed & np.isfinite(change), change, 0)
    targets, sources = _names(target_tokens), _names(source_tokens)
    order = np.argsort(-np.abs(change), axis=None, kind="stable")[:5]
    largest = [
        f"{targets[row]} – {sources[column]} ({number(change[row, column], '+.2f')})"
        for row, column in zip(*np.unravel_index(order, change.shape), strict=True)
        if abs(change[row, column]) >= 0.005
    ]
    return (
        _kind(say, title, "Difference of attention weights", "注意力权重之差")
        + say(f", {names[1]} minus {names[0]}, ", f"，{names[1]} 减 {names[0]}，")
        + say(
            f"{_count(len(targets), 'target token')} by {_count(len(sources), 'source token')}. ",
            f"{len(targets)} 个目标词元 × {len(sources)} 个源词元。",
        )
        + say("The largest changes: ", "变化最大处：")
        + (say(", ", "，").join(largest) or say("none", "无"))
        + say(".", "。")
    )


def describe_highlight(
    tokens: Sequence[str],
    weights: Any,
    *,
    title: str | None = None,
    gold: Any = None,
    mask: Any = None,
    language: str = "en",
) -> str:
    """Alt text of `plot_highlight`: the text, its weightiest tokens, and how many of those are gold."""
    say = _language(language)
    weights = as_array(weights)
    allowed = as_boolean("mask", True if mask is None else mask, weights.shape)
    usable = np.where(allowed & np.isfinite(weights), weights, 0)
    names = _names(tokens)
    order = [i for i in np.argsort(-usable, kind="stable")[:5] if usable[i] > 0]
    text = _kind(say, title, "Text highlighted by attention weights", "按注意力权重着色的文本")
    text += say(
        f", {_count(len(names), 'token')}. The largest weights: ", f"，{len(names)} 个词元。权重最大的词元："
    )
    text += say(", ", "，").join(f"{names[i]} ({usable[i]:.2f})" for i in order) or say("none", "无")
    text += say(".", "。")
    if gold is not None:
        marked = as_boolean("gold", gold, weights.shape)
        found = sum(bool(marked[i]) for i in order)
        text += say(
            f" {found} of these {len(order)} are underlined as gold.",
            f"其中 {found} 个是加下划线的标准依据词元。",
        )
    return text


def describe_pattern(mask: Any, *, title: str | None = None, language: str = "en") -> str:
    """Alt text of `plot_pattern`: how much of the matrix may be attended to."""
    say = _language(language)
    mask = np.asarray(mask)
    each = mask.sum(axis=1)
    return _kind(say, title, "Attention pattern", "注意力模式") + say(
        f", {mask.shape[0]} queries by {mask.shape[1]} keys. {mask.sum()} of {mask.size} cells "
        f"({mask.mean():.0%}) may be attended to, from {each.min()} to {each.max()} in a row.",
        f"，{mask.shape[0]} 个查询 × {mask.shape[1]} 个键。{mask.size} 格中有 {mask.sum()} 格"
        f"（{mask.mean():.0%}）可被关注，每行 {each.min()} 到 {each.max()} 格。",
    )


def describe_step(values: Any, target_tokens: Sequence[str], *, title: str, language: str = "en") -> str:
    """Alt text of one panel of `plot_steps`: its numbers, where they are few."""
    say = _language(language)
    values = as_array(values)
    rows = [
        f"{name}: " + " ".join(number(value) for value in row)
        for name, row in zip(_names(target_tokens), values, strict=True)
    ]
    size = f"{values.shape[0]} × {values.shape[1]}"
    few = values.size <= MOST_ROWS**2
    return f"{title}, {size}" + (". " + "; ".join(rows) if few else "") + say(".", "。")


def describe_costs(
    lengths: Sequence[int],
    costs: Mapping[str, Sequence[Any]],
    *,
    title: str | None = None,
    language: str = "en",
) -> str:
    """Alt text of `plot_costs`: what each layer takes at the first and the last length."""
    say = _language(language)
    kind = _kind(say, title, "Time and memory against the length", "时间和内存随长度的变化")
    ends = say(f", from {lengths[0]} to {lengths[-1]}: ", f"，长度从 {lengths[0]} 到 {lengths[-1]}：")
    rows = [
        f"{name} {row[0].milliseconds:.3g}–{row[-1].milliseconds:.3g} ms, "
        f"{row[0].megabytes:.3g}–{row[-1].megabytes:.3g} MB"
        for name, row in costs.items()
    ]
    return kind + ends + say("; ", "；").join(rows) + say(".", "。")


def remember(ax: Axes, describe: Callable[..., str], *args: Any, **options: Any) -> None:
    """Keep how to describe what is drawn on `ax`; the words are made when somebody asks."""
    _descriptions[ax] = functools.partial(_in_language, describe, args, options)


def _in_language(describe: Callable[..., str], args: Any, options: Any, language: str) -> str:
    return describe(*args, **options, language=language)


def description_of(figure: Figure, language: str = "en") -> str:
    """The descriptions of all Axes of a figure that this package drew on."""
    say = _language(language)
    texts = [_descriptions[ax](language) for ax in figure.axes if ax in _descriptions]
    return say(" ", "").join(texts)


def _language(language: str) -> Callable[[str, str], str]:
    if language not in LANGUAGES:
        raise ValueError(f'language is {language!r}, but alt text is in "en" or "zh".')
    return lambda english, chinese: english if language == "en" else chinese


def _kind(say: Callable[[str, str], str], title: str | None, english: str, chinese: str) -> str:
    if title is None:
        return say(english, chinese)
    title = " ".join(title.split())
    return say(f"{english}, “{title}”", f"{chinese}“{title}”")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _names(tokens: Sequence[str]) -> list[str]:
    """Tokens that can be seen and told apart."""
    shown = [visible(token) for token in tokens]
    count = Counter(shown)
    return [f"{name}[{i}]" if count[name] > 1 else name for i, name in enumerate(shown, 1)]


def _listed(say: Callable[[str, str], str], items: list[str], noun: str, chinese_noun: str) -> str:
    text = say(", ", "，").join(items[:MOST_ROWS])
    more = len(items) - MOST_ROWS
    if more > 0:
        text += say(f", and {_count(more, 'more ' + noun)}", f"，另有 {more} {chinese_noun}")
    return text + say(".", "。")


def _against_gold(say: Callable[[str, str], str], weights: np.ndarray, gold: np.ndarray) -> str:
    rows = gold.any(axis=1)
    best = np.where(np.isfinite(weights), weights, 0).argmax(axis=1)
    hits = int(gold[np.arange(len(gold)), best].sum())
    return say(
        f"{hits} of {int(rows.sum())} rows with a gold pair have their largest weight on one.",
        f"有标准词对齐的 {int(rows.sum())} 行中，{hits} 行的最大权重落在标准词对齐上。",
    )
