"""Fonts for tokens of any script: Chinese, Japanese and Korean text finds an installed font by itself."""

import logging
import re
import warnings
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module, util
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager

# simplified Chinese first: with a Japanese or Korean font some characters look foreign
CJK_FONTS = [
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "Heiti TC",
    "STHeiti",
    "Songti SC",
    "Arial Unicode MS",
    "Microsoft YaHei",
    "SimHei",
    "SimSun",
    "DengXian",
    "Noto Sans SC",
    "Noto Serif CJK SC",
    "AR PL UMing CN",
    "AR PL UKai CN",
    "Droid Sans Fallback",
    "Noto Sans CJK TC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
]
CJK = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
LAST_RESORT = "Last Resort High-Efficiency"  # comes with matplotlib: a box that names the script


def text_style(texts: Iterable[str]) -> dict[str, Any]:
    """Properties for matplotlib text artists that show `texts` as they are.

    A dollar sign stays a dollar sign, and what the usual font lacks is taken from a CJK font, or else
    drawn as a box. The first time that CJK text finds no font, a warning says what to install.

    >>> ax.set_title("我爱猫", **text_style(["我爱猫"]))  # doctest: +SKIP
    """
    families = [*mpl.rcParams["font.family"]]
    if any(CJK.search(text) for text in texts):
        fonts = cjk_fonts()
        families += fonts
        if not fonts:
            _warn_once()
    return {"fontfamily": [*families, LAST_RESORT], "parse_math": False}


@lru_cache(1)
def cjk_fonts() -> list[str]:
    """Names of the installed fonts that have Chinese characters, the best first."""
    if not _known():
        _register_new_fonts()
    return _known()


def _known() -> list[str]:
    names = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in CJK_FONTS if name in names]


def _register_new_fonts() -> None:
    """Tell matplotlib of fonts installed after it wrote its cache, and of the noto-cjk-sans-otc package's."""
    paths = set(font_manager.findSystemFonts()) - {font.fname for font in font_manager.fontManager.ttflist}
    if util.find_spec("noto_cjk_sans_otc"):
        paths.add(str(import_module("noto_cjk_sans_otc").FONT_PATH))
    for path in sorted(paths):
        try:
            font_manager.fontManager.addfont(path)
        except Exception:  # FreeType raises many kinds; a font that cannot be read is no font of ours
            logging.getLogger(__name__).debug("cannot read the font %s", path, exc_info=True)


HINT = (
    "No installed font has Chinese characters, so they are drawn as boxes: install one with "
    "'pip install keras-attention-course[fonts]' (anywhere) or 'apt-get install fonts-wqy-microhei' "
    "(Debian, Ubuntu), then start Python again."
)


@lru_cache(1)
def _warn_once() -> None:
    warnings.warn(HINT, stacklevel=4)
