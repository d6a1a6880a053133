"""keras-attention doctor: is this machine ready, and if not, what to do."""

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import typer

from keras_attention import __version__
from keras_attention.cli._json import Json, print_json
from keras_attention.cli._quiet import quiet_stderr, start_keras

DISTRIBUTION = "keras-attention-course"
PACKAGES = ["tensorflow", "keras", "tensorflow-datasets", "matplotlib", "sacrebleu", "sentencepiece"]

app = typer.Typer(add_completion=False)


@dataclass
class Finding:
    """One line of the report: "ok", "warning" (something is missing that not all need), or "broken"."""

    name: str
    value: str
    status: str = "ok"
    advice: str | None = None


@app.command()
def doctor(json: Json = False) -> None:
    """Check versions, backend, devices, fonts, isolation and data, and say what to do about each problem."""
    findings = list(examine())
    print_table(findings)
    broken = any(finding.status == "broken" for finding in findings)
    if json:
        print_json({"ok": not broken, "findings": findings})
    if broken:
        raise typer.Exit(1)


def examine() -> Iterator[Finding]:
    """All checks; one that fails is a finding, too."""
    yield Finding("keras-attention", __version__)
    yield Finding("python", platform.python_version())
    # forks, and so comes before TensorFlow starts its threads
    yield _try("isolation", check_isolation, reinstall(DISTRIBUTION))
    try:
        start_keras()
    except Exception as error:
        yield Finding("keras", _one_line(error), "broken", reinstall("keras", "tensorflow"))
        return
    for package in PACKAGES:
        yield _try(package, partial(check_package, package), reinstall(package))
    yield _try("backend", check_backend, "set KERAS_BACKEND to tensorflow, or unset it")
    yield _try("devices", check_devices, reinstall("tensorflow"))
    yield Finding("processor cores", str(_cores()))
    yield _try("memory", check_memory, reinstall("psutil"))
    yield _try("Chinese fonts", check_fonts, reinstall("matplotlib"))
    for corpus in ("toy:en-fr", "toy:en-zh"):
        yield _try(corpus, partial(check_corpus, corpus), reinstall(DISTRIBUTION))
    yield _try("tensorflow-datasets folder", check_data_folder, "set TFDS_DATA_DIR to a folder of yours")


def check_isolation() -> Finding:
    from keras_attention.course.sealed.sandbox import isolation, probe

    layers = probe()
    name = isolation(layers)
    value = f"{name} ({', '.join(layers) or 'limits only'})"
    if name != "full":
        advice = "grade what you do not trust on a Linux that allows user namespaces and Landlock"
        return Finding("isolation", value, "warning", advice)
    return Finding("isolation", value)


def check_package(package: str) -> Finding:
    version = metadata.version(package)
    with quiet_stderr():
        import_module(package.replace("-", "_"))
    wanted = _requirements().get(package)
    if wanted and version not in wanted:
        return Finding(package, f"{version}, not {wanted}", "broken", reinstall(f'"{package}{wanted}"'))
    return Finding(package, version)


def check_backend() -> Finding:
    import keras

    name = keras.backend.backend()
    if name != "tensorflow":
        advice = "translators need TensorFlow: unset KERAS_BACKEND"
        return Finding("backend", name, "warning", advice)
    return Finding("backend", name)


def check_devices() -> Finding:
    import keras

    return Finding("devices", ", ".join(keras.distribution.list_devices()))


def check_memory() -> Finding:
    import psutil

    memory = psutil.virtual_memory()
    value = f"{memory.available / 2**30:.1f} GiB free of {memory.total / 2**30:.1f} GiB"
    if memory.available < 2**31:
        return Finding("memory", value, "warning", "close other programs: training wants 2 GiB")
    return Finding("memory", value)


def check_fonts() -> Finding:
    from keras_attention.plotting.fonts import cjk_fonts

    if not cjk_fonts():
        advice = f"apt-get install fonts-wqy-microhei, or pip install '{DISTRIBUTION}[fonts]'"
        return Finding("Chinese fonts", "none, plots show boxes", "warning", advice)
    return Finding("Chinese fonts", ", ".join(cjk_fonts()))


def check_corpus(source: str) -> Finding:
    from keras_attention.data import load

    corpus = load(source)
    return Finding(source, f"{len(corpus.train)} training pairs")


def check_data_folder() -> Finding:
    from tensorflow_datasets.core import constants

    folder = Path(constants.DATA_DIR).expanduser()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(existing, os.W_OK):
        advice = "set TFDS_DATA_DIR to a folder that you may write to"
        return Finding("tensorflow-datasets folder", f"{folder}, not writable", "warning", advice)
    return Finding("tensorflow-datasets folder", str(folder))


def print_table(findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    signs = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "broken": ("✗", "red")}
    table = Table(box=None, show_header=False)
    for finding in findings:
        table.add_row(Text(*signs[finding.status]), Text(finding.name), Text(finding.value))
        if finding.advice:
            table.add_row("", "", Text(f"→ {finding.advice}", style="bold"))
    Console().print(table)


def reinstall(*packages: str) -> str:
    return f"pip install --force-reinstall {' '.join(packages)}"


def _try(name: str, check: Callable[[], Finding], advice: str) -> Finding:
    try:
        return check()
    except Exception as error:
        return Finding(name, _one_line(error), "broken", advice)


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _requirements() -> dict[str, Any]:
    """The versions that this package asks for, unless it runs from its sources without being installed."""
    from packaging.requirements import Requirement

    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    return {r.name: r.specifier for r in map(Requirement, lines)}


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))  # those that this process may use
    return os.cpu_count() or 1
