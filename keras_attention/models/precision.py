"""The precision in which a model computes, passed on to its layers."""

import contextlib

import keras


def precision_of(model, wanted):
    """The policy of a model: what it is given, else the program's if it can follow it, else float32.

    Args:
        model: its class, whose `precisions` are the names of the policies that it can follow.
        wanted: its argument `dtype`.

    Raises:
        ValueError: it cannot follow the policy that it is given.
    """
    name = keras.dtype_policies.get(wanted).name
    if name in model.precisions:
        return name
    if wanted is None:
        return "float32"
    known = " or ".join(model.precisions)
    raise ValueError(f"{model.__name__} computes in {known}, not in {name}: give that as dtype, or none.")


@contextlib.contextmanager
def precision(policy):
    """Layers that are made within follow this policy."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)
