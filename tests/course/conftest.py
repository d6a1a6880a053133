import ctypes
import os
import sys
import tempfile

import psutil
import pytest

from keras_attention.course.forked import Zygote
from keras_attention.course.fresh import Fresh
from keras_attention.course.sealed.sandbox import Limits

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@pytest.fixture(scope="session", autouse=True)
def _what_is_left_is_seen_here(tmp_path_factory):
    """Orphans of submissions become children of this process, and temporary files get a folder."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("temporary"))
    yield
    tempfile.tempdir = before


@pytest.fixture(scope="session")
def alive():
    """alive(): the processes below this one that have not ended."""
    me = psutil.Process()

    def alive():
        found = set()
        for process in me.children(recursive=True):
            try:
                if process.status() != psutil.STATUS_ZOMBIE:
                    found.add(process)
            except psutil.NoSuchProcess:
                continue
        return found

    return alive


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
