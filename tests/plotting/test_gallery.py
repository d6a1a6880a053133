import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from keras_attention import plotting
from keras_attention.plotting import gallery


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with plt.rc_context():
        return gallery.write_gallery(tmp_path_factory.mktemp("gallery"))


def test_every_figure_of_the_package_is_in_it(page):
    names = {name for name in plotting.__all__ if name.startswith(("plot_", "animate_"))}
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r'<figure id="(\w+)">', text)) == names
    pictures = re.findall(r'<img src="([^"]+)" alt="([^"]+)"', text)
    assert len(pictures) == len(names)
    for file, alt in pictures:
        assert (page.parent / file).stat().st_size > 1000
        assert len(alt) > 40
    assert (page.parent / "explorer.html").exists()
    assert "://" not in text


def test_its_weights_are_attention():
    source, target = gallery.embeddings(3, 1.5)
    scores = target @ source.swapaxes(1, 2) / 4
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(
        gallery.attend(target, source), powers / powers.sum(-1, keepdims=True), atol=1e-5
    )


def test_no_figure_stays_open(page):
    assert not plt.get_fignums()
