"""Weights that depend on a seed, whatever the program drew before."""

import contextlib
import random


@contextlib.contextmanager
def seeded(seed):
    """Keras seeds its initialisers from Python's generator: seed that one, and leave it as it was."""
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)
