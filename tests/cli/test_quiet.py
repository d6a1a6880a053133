import os

import pytest

from keras_attention.cli._quiet import quiet_stderr


def test_holds_back_what_any_library_writes_and_nothing_after(capfd):
    with quiet_stderr():
        os.write(2, b"I0000 oneDNN\n")
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "after\n"


def test_shows_it_when_the_block_fails(capfd):
    def fail():
        with quiet_stderr():
            os.write(2, b"cannot find libcudart\n")
            raise ImportError

    with pytest.raises(ImportError):
        fail()
    assert capfd.readouterr().err == "cannot find libcudart\n"
