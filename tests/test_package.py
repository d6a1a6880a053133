import ast
import doctest
import importlib
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import keras_attention

PACKAGE = Path(keras_attention.__file__).parent

MODULES = [
    "blocks",
    "by_heads",
    "chunked",
    "cost",
    "exactness",
    "functional",
    "kernels",
    "masks",
    "layers.attention_pooling",
    "layers.bahdanau_attention",
    "layers.base",
    "layers.big_bird_attention",
    "layers.cross_attention",
    "layers.linear_attention",
    "layers.longformer_attention",
    "layers.luong_attention",
    "layers.multi_head_attention",
    "layers.performer_attention",
    "layers.positional_encoding",
    "layers.reformer_attention",
    "layers.scaled_dot_product_attention",
    "layers.self_attention",
    "layers.transformer_decoder_block",
    "layers.transformer_encoder_block",
    "models.heads",
    "models.long_text",
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_run(name):
    module = importlib.import_module(f"keras_attention.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_importing_the_package_loads_no_figures_no_data_sets_and_no_command_line():
    code = """
import sys
import keras
before = set(sys.modules)
import keras_attention
added = set(sys.modules) - before
heavy = {"matplotlib.pyplot", "tensorflow_datasets", "sacrebleu", "sentencepiece", "typer", "pytest"}
assert not heavy & added, heavy & added
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_line_starts_without_keras():
    code = "import sys, keras_attention.cli; assert 'keras' not in sys.modules"
    started = f"import sys; sys.orig_argv = ['python', 'keras-attention', '--help']; {code}"
    subprocess.run([sys.executable, "-c", started], check=True)


def test_every_layer_is_an_attribute_of_the_package():
    from keras_attention import layers

    for name in layers.__all__:
        assert getattr(keras_attention, name) is getattr(layers, name)
    assert set(layers.__all__) <= set(dir(keras_attention))


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Attentoin'"):
        keras_attention.Attentoin  # noqa: B018


def test_what_is_imported_is_declared():
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    imported = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.partition(".")[0])
    optional = {"copydetect", "torch"}
    providers = metadata.packages_distributions()
    for name in imported - sys.stdlib_module_names - optional - {"keras_attention"}:
        assert declared & set(map(canonicalize_name, providers[name])), f"{name} is not declared"
