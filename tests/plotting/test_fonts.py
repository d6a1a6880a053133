import shutil
import sys
import types
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib import font_manager

from keras_attention.plotting import fonts, plot_attention


@pytest.fixture
def fresh(monkeypatch):
    """As in a new process: nothing searched, nothing warned of yet."""
    fonts.cjk_fonts.cache_clear()
    fonts._warn_once.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    fonts.cjk_fonts.cache_clear()
    fonts._warn_once.cache_clear()
    plt.close("all")


@pytest.fixture
def no_font(fresh):
    latin = [font for font in font_manager.fontManager.ttflist if font.name not in fonts.CJK_FONTS]
    fresh.setattr(font_manager.fontManager, "ttflist", latin)
    fresh.setattr(fonts, "_register_new_fonts", lambda: None)


def draw_chinese():
    tokens = list("我爱小猫，")
    ax = plot_attention(np.eye(5), tokens, tokens, "我 loves 小猫")
    ax.figure.canvas.draw()
    return ax


def test_latin_text_keeps_the_usual_font():
    style = fonts.text_style(["le chat", "été", "▁the"])
    assert style["fontfamily"] == [*mpl.rcParams["font.family"], fonts.LAST_RESORT]


@pytest.mark.usefixtures("no_font")
def test_without_a_font_there_is_one_hint_and_no_flood():
    with pytest.warns(UserWarning, match=r"keras-attention-course\[fonts\].*fonts-wqy-microhei") as caught:
        draw_chinese()
    assert len(caught) == 1
    draw_chinese()  # another warning would be an error


@pytest.mark.usefixtures("no_font")
def test_latin_text_gives_no_hint():
    fonts.text_style(["le chat", "😀", "été"])


@pytest.mark.parametrize("text", ["我", "，", "ひ", "カ", "한", "𠮷", "the 猫"])
@pytest.mark.usefixtures("no_font")
def test_every_cjk_script_asks_for_a_font(text):
    with pytest.warns(UserWarning, match="No installed font"):
        fonts.text_style([text])


def test_an_installed_font_is_found_and_draws_the_characters():
    if not fonts.cjk_fonts():
        pytest.skip("no CJK font is installed here")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = draw_chinese()
    family = ax.get_xticklabels()[0].get_fontfamily()
    assert family[-2:] == [fonts.cjk_fonts()[-1], fonts.LAST_RESORT]
    path = font_manager.findfont(fonts.cjk_fonts()[0])
    assert font_manager.get_font(path).get_char_index(ord("猫"))


def test_a_font_installed_after_the_cache_was_written_is_found(fresh):
    found = fonts.cjk_fonts()
    if not found:
        pytest.skip("no CJK font is installed here")
    fonts.cjk_fonts.cache_clear()
    installed = font_manager.fontManager.ttflist
    new = {font.fname for font in installed if font.name in fonts.CJK_FONTS}
    stale = [font for font in installed if font.fname not in new]
    fresh.setattr(font_manager.fontManager, "ttflist", stale)
    assert set(fonts.cjk_fonts()) == set(found)


def test_an_unreadable_font_does_not_hide_the_others(fresh, tmp_path):
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"no font")
    good = font_manager.findfont("DejaVu Sans")
    fresh.setattr(font_manager.fontManager, "ttflist", [])
    fresh.setattr(font_manager, "findSystemFonts", lambda: [str(broken), str(good)])
    fonts._register_new_fonts()
    assert "DejaVu Sans" in {font.name for font in font_manager.fontManager.ttflist}


def test_the_font_of_the_extra_is_found(fresh, tmp_path):
    """A package of the extra's name, whose FONT_PATH is no string but has one."""
    extra = types.ModuleType("noto_cjk_sans_otc")
    extra.FONT_PATH = tmp_path / "extra.ttf"
    shutil.copy(font_manager.findfont("DejaVu Sans Mono"), extra.FONT_PATH)
    extra.__spec__ = types.SimpleNamespace(name=extra.__name__)
    fresh.setitem(sys.modules, extra.__name__, extra)
    fresh.setattr(font_manager.fontManager, "ttflist", [])
    fresh.setattr(font_manager, "findSystemFonts", lambda: [])
    fresh.setattr(fonts, "CJK_FONTS", ["DejaVu Sans Mono"])
    assert fonts.cjk_fonts() == ["DejaVu Sans Mono"]
    assert {font.fname for font in font_manager.fontManager.ttflist} == {str(extra.FONT_PATH)}
