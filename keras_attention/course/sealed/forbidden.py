"""Built-in attention, taken away where submissions run: the exercise is to write it."""

import sys
from typing import Any


class Forbidden(Exception):
    """Something that a submission may not use."""


BUILT_IN = (
    "Attention",
    "AdditiveAttention",
    "MultiHeadAttention",
    "GroupQueryAttention",
    "dot_product_attention",
)
HOMES = ("keras.layers", "keras.ops", "keras.ops.nn")
PREFIXES = ("", "keras._tf_keras.")  # the second is `tf.keras`


def take_away() -> None:
    """Replace the built-ins in the Keras that is loaded, and lock keras_attention."""
    sys.modules["keras_attention"] = None  # type: ignore[assignment]  # importing it is an error
    for module in [sys.modules.get(prefix + home) for prefix in PREFIXES for home in HOMES]:
        for name in BUILT_IN:
            if module and hasattr(module, name):
                setattr(module, name, _refusal(name))


def _refusal(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Forbidden(f"{name} is what the exercise asks you to write")

    return refuse
