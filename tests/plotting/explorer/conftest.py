import base64
import contextlib
import gzip
import json
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

from keras_attention.plotting import AttentionLayer, AttentionRecord

SOURCE = ["the", "black", "cat", "sleeps", "."]
TARGET = ["le", "chat", "noir", "dort"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Parsed(HTMLParser):
    """The tags of a page, and the text of its style, its script and its data."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.within = [], {}, None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.within = dict(attributes).get("type", tag) if tag in ("style", "script", "title") else None

    def handle_data(self, text):
        if self.within:
            self.texts[self.within] = self.texts.get(self.within, "") + text

    def handle_endtag(self, tag):
        self.within = None

    @property
    def data(self):
        return json.loads(self.texts["application/json"])

    def weights(self):
        """All weights as the script decodes them, and which cells are masked."""
        planes = np.frombuffer(gzip.decompress(base64.b64decode(self.data["weights"])), np.uint8)
        halves = np.ascontiguousarray(planes.reshape(2, -1).T).view(">f2").ravel()
        return np.abs(halves), np.signbit(halves)


@pytest.fixture
def parsed():
    return Parsed


@pytest.fixture
def record(softmax):
    """Makes a record of one or more layers named a, b, … of these heads."""

    def record(*heads, title="", gold=None, mask=None, seed=0, **options):
        layers = [
            AttentionLayer(
                "abc"[i],
                softmax(h, 4, 5, mask=True if mask is None else mask, seed=seed + i),
                TARGET,
                SOURCE,
                mask,
                gold,
            )
            for i, h in enumerate(heads or [1])
        ]
        return AttentionRecord(layers, title, **options)

    return record


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium; the tests that need one are skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def show(browser, tmp_path):
    """show(view, …) opens a page from disk. It may ask for nothing else, and must not complain."""
    with contextlib.ExitStack() as stack:
        noticed = []

        def show(view, width=1200, height=900, **options):
            path = view.save(tmp_path / "page.html")
            context = browser.new_context(viewport={"width": width, "height": height}, **options)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.on("console", lambda message: noticed.append(message.text))
            page.on("pageerror", lambda error: noticed.append(str(error)))
            page.on("request", lambda request: noticed.append(request.url))
            page.goto(path.as_uri())
            page.wait_for_selector("#panels > section")
            assert noticed.pop(0) == path.as_uri()
            return page

        yield show
        assert noticed == []
