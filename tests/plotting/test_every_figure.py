"""What holds for every figure: Axes in and out, nothing shown, nothing left, nothing overlapping."""

import doctest
import gc
import importlib
import weakref

import matplotlib.pyplot as plt
import numpy as np
import pytest

from keras_attention import plotting
from keras_attention.plotting import description

WORDS = ["the", "the", "", "$x$", "a b", "😀", "pneumonoultramicroscopic", "。"]
N = len(WORDS)
MASK = np.tri(N, dtype=bool)
WEIGHTS = MASK / MASK.sum(1, keepdims=True)
SCORES = np.random.default_rng(0).normal(size=(N, N))
STEPS = {
    "scores": SCORES,
    "masked": np.where(MASK, SCORES, -np.inf),
    "weights": WEIGHTS,
    "output": SCORES[:, :3],
}

FIGURES = {
    "attention": lambda **ax: plotting.plot_attention(WEIGHTS, WORDS, WORDS, "我 爱 $5", mask=MASK, **ax),
    "difference": lambda **ax: plotting.plot_difference(
        WEIGHTS, np.eye(N), WORDS, WORDS, "我 爱 $5", mask=MASK, **ax
    ),
    "alignment": lambda **ax: plotting.plot_alignment(WEIGHTS, WORDS, WORDS, np.eye(N, dtype=bool), **ax),
    "highlight": lambda **ax: plotting.plot_highlight(WORDS, WEIGHTS[-1], "我 爱 $5", **ax),
    "pattern": lambda **ax: plotting.plot_pattern(MASK, "我 爱 $5", **ax),
    "heads": lambda **ax: plotting.plot_heads([WEIGHTS, np.eye(N)], WORDS, WORDS, "我 爱 $5", **ax),
    "steps": lambda **ax: plotting.plot_steps(STEPS, WORDS, WORDS, "我 爱 $5", **ax),
}
PANELS = {"heads": 2, "steps": 4}
MODULES = [
    "alignment",
    "costs",
    "description",
    "difference",
    "heads",
    "heatmap",
    "highlight",
    "labels",
    "pattern",
    "saving",
    "steps",
]


@pytest.fixture(params=FIGURES)
def name(request):
    return request.param


@pytest.fixture
def plot(name):
    return FIGURES[name]


def figure_of(axes):
    return np.ravel(axes)[0].figure


def test_a_new_figure_comes_back_without_being_shown(plot, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("shown"))
    figure = figure_of(plot())
    assert plt.get_fignums() == [figure.number]


def test_given_axes_come_back_and_no_figure_is_opened(plot, name):
    figure, given = plt.subplots(1, PANELS.get(name, 1))
    axes = plot(axes=given) if name in PANELS else plot(ax=given)
    assert list(np.ravel(axes)) == list(np.ravel(given))
    assert plt.get_fignums() == [figure.number]
    assert figure.axes == list(np.ravel(given))


def test_axes_of_a_subfigure_will_do(plot, name):
    part = plt.figure(figsize=(9, 5)).subfigures(1, 2)[0]
    given = part.subplots(1, PANELS.get(name, 1))
    axes = plot(axes=given, colorbar=True) if name in PANELS else plot(ax=given)
    figure_of(axes).figure.canvas.draw()


def test_texts_stay_apart_and_within_the_figure(plot, overlaps):
    assert not overlaps(figure_of(plot()))


def test_no_text_is_read_as_mathematics(plot):
    figure = figure_of(plot())
    figure.canvas.draw()
    texts = [text for text in figure.findobj(plt.Text) if "$" in text.get_text()]
    assert texts or plot is FIGURES["alignment"]
    assert not any(text.get_parse_math() for text in texts)


def test_a_closed_figure_is_forgotten(plot):
    gc.collect()
    before = len(description._descriptions)
    figure = figure_of(plot())
    figure.canvas.draw()
    forgotten = weakref.ref(figure)
    plt.close(figure)
    del figure
    gc.collect()
    assert forgotten() is None
    assert len(description._descriptions) == before


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_figure_has_alt_text(plot, language):
    text = description.description_of(figure_of(plot()), language)
    assert len(text) > 40
    assert text.endswith("." if language == "en" else "。")


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_the_docstrings_run(module):
    result = doctest.testmod(importlib.import_module(f"keras_attention.plotting.{module}"))
    assert result.attempted > 0
    assert result.failed == 0
