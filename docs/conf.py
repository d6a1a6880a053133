"""The pages: the chapters, executed; the glossary, the exercises, the API. `docs/README.md` tells how."""

import os
import sys
import warnings
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS.parent)]
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras_attention  # noqa: E402

project = "keras_attention"
author = "the keras_attention authors"
release = keras_attention.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "api",
    "exercises",
    "languages",
    "mathml",
]
exclude_patterns = ["README.md", "chapters/*.py", "chapters/*.ipynb", "chapters/*.md5"]
default_role = "literal"
smartquotes = False  # it takes "前" for two closing quotes
nitpicky = False  # types in signatures are those of Keras and NumPy, which these pages do not link to

html_theme = "furo"
html_title = "keras_attention"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_js_files = [("language.js", {"priority": 1})]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_inherit_docstrings = False  # those of Keras are Keras's
autodoc_default_options = {
    "exclude-members": "build, compute_output_shape, compute_output_spec, from_config, get_config"
}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Call arguments", "params_style")]

# a font that lacks Chinese characters would draw boxes; better no page than such a one
warnings.filterwarnings("error", message="Glyph .* missing|No installed font has Chinese")

FIRST_CELL = """\
# Where the package is missing, as in Colab, this installs it. · 没有安装时（例如在 Colab 里）先安装。
import importlib.util
import sys

sys.argv = ["chapter"]  # without Jupyter's own arguments
if importlib.util.find_spec("keras_attention") is None:
    %pip install --quiet "keras-attention-course[fonts]"
%matplotlib inline"""


sphinx_gallery_conf = {
    "examples_dirs": str(DOCS.parent / "chapters"),
    "gallery_dirs": "chapters",
    "filename_pattern": r"/ch\d",
    "ignore_pattern": r"__init__|/_",
    "within_subsection_order": "FileNameSortKey",
    "reset_argv": "gallery.figures_to",
    "reset_modules": ("matplotlib", "gallery.fresh_start"),
    "capture_repr": (),
    "first_notebook_cell": FIRST_CELL,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 0,
}
