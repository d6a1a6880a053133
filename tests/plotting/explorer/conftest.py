import base64
import gzip
import json
from html.parser import HTMLParser

import numpy as np
import pytest

from keras_attention.plotting import AttentionLayer, AttentionRecord

SOURCE = ["the", "black", "cat", "sleeps", "."]
TARGET = ["le", "chat", "noir", "dort"]


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


@pytest.fixture
def show(open_page, tmp_path):
    """show(view, …) opens an explorer's page, which may load nothing but itself."""

    def show(view, **options):
        path = view.save(tmp_path / "page.html")
        page = open_page(path, within=path, **options)
        page.wait_for_selector("#panels > section")
        return page

    return show
