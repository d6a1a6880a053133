"""Starting Keras without the messages of TensorFlow's C++ libraries about processors and drivers."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


def start_keras() -> None:
    """Import Keras and its backend, which takes seconds; to be called first by a command that needs them.

    Some of TensorFlow's messages precede the set-up of its log and heed no setting.
    """
    with quiet_stderr():
        import keras

        if keras.backend.backend() == "tensorflow":
            import tensorflow as tf

            tf.config.list_physical_devices()  # looks for drivers, and reports that at once


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Hold back what is written to file descriptor 2, by C++ too; show it if the block fails."""
    sys.stderr.flush()
    terminal = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except Exception:
            held.seek(0)
            os.write(terminal, held.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            os.close(terminal)
