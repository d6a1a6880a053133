import contextlib
import shutil
import signal
import zlib

import keras
import numpy as np
import pytest
from keras import ops

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items):
    """`@pytest.mark.tensorflow` is for what only TensorFlow has."""
    if keras.backend.backend() != "tensorflow":
        for item in items:
            if item.get_closest_marker("tensorflow"):
                item.add_marker(pytest.mark.skip(reason="only for TensorFlow"))


@pytest.fixture(autouse=True)
def _seeded(request):
    """What a test draws at random is the same in every run, and another than that of any other test."""
    keras.utils.set_random_seed(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture
def interruptible():
    """Ctrl-C interrupts this process and those that it starts, also where the shell has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _tensorflow(function, tensors, weights):
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(tensors)
        loss = function(*tensors)
    return tape.gradient(loss, [*(weight.value for weight in weights), *tensors])


def _jax(function, tensors, weights):
    import jax

    def loss(values, tensors):
        with keras.StatelessScope(state_mapping=list(zip(weights, values, strict=True))):
            return function(*tensors)

    of_weights, of_tensors = jax.grad(loss, argnums=(0, 1))([weight.value for weight in weights], tensors)
    return [*of_weights, *of_tensors]


def _torch(function, tensors, weights):
    if not weights and not tensors:
        return []
    leaves = [*(weight.value for weight in weights), *(x.requires_grad_() for x in tensors)]
    for leaf in leaves:
        leaf.grad = None
    function(*tensors).backward()
    return [leaf.grad for leaf in leaves]


@pytest.fixture
def gradients():
    """gradients(function, tensors, weights): of the number function(*tensors), by weights and tensors."""

    def gradients(function, tensors, weights=()):
        tensors = [ops.convert_to_tensor(x) for x in tensors]
        found = {"tensorflow": _tensorflow, "jax": _jax, "torch": _torch}[keras.backend.backend()](
            function, tensors, list(weights)
        )
        return [
            np.zeros(tuple(x.shape), "float32") if gradient is None else ops.convert_to_numpy(gradient)
            for gradient, x in zip(found, [*weights, *tensors], strict=True)
        ]

    return gradients


@pytest.fixture
def jit():
    """jit(function): compiled by XLA."""
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        return lambda function: tf.function(function, jit_compile=True)
    if backend == "jax":
        import jax

        return jax.jit
    pytest.skip(f"{backend} has no XLA")


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
def open_page(browser):
    """open_page(path, within, …) opens a page from disk. It may load what is within; it must not complain."""
    with contextlib.ExitStack() as stack:
        noticed = []

        def open_page(path, within, width=1200, height=900, **options):
            def ask(request):
                if not request.url.startswith((within.as_uri(), "data:")):
                    noticed.append(f"{path.name} asks for {request.url}")

            context = browser.new_context(viewport={"width": width, "height": height}, **options)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.on("console", lambda message: noticed.append(f"{path.name}: {message.text}"))
            page.on("pageerror", lambda error: noticed.append(f"{path.name}: {error}"))
            page.on("request", ask)
            page.goto(path.as_uri())
            return page

        yield open_page
        assert noticed == []
