import os
import tempfile

import pytest

from keras_attention.course.forked import Zygote
from keras_attention.course.fresh import Fresh
from keras_attention.course.sealed.sandbox import Limits


@pytest.fixture(scope="session")
def zygote():
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork here")
    with Zygote() as zygote:
        yield zygote


@pytest.fixture(params=["forked", "fresh"])
def open_channel(request):
    """Opens a line to a child that may use some seconds, by fork or by a new process."""
    if request.param == "fresh":
        return lambda seconds=60.0, memory=2**29: Fresh(Limits(seconds, memory))
    zygote = request.getfixturevalue("zygote")
    return lambda seconds=60.0, memory=2**29: zygote.open(Limits(seconds, memory))


@pytest.fixture(autouse=True)
def _no_file_is_left(request):
    """No child leaves a file behind where temporary files go."""
    if "open_channel" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("open_channel")
    before = set(os.listdir(tempfile.gettempdir()))
    yield
    assert {name for name in os.listdir(tempfile.gettempdir()) if "keras-attention" in name} <= before
