"""Look inside a model: the weights of all its attention layers, once or after every epoch of training."""

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
from keras import ops

__all__ = ["AttentionRecorder", "attention_scores"]

ARGUMENT = "return_attention_scores"
MISSING = object()


def attention_scores(model: keras.Model, inputs: Any, **arguments: Any) -> dict[str, np.ndarray]:
    """The attention weights of every layer of a model that has some, in the order of their calls.

    A layer counts if its `call` has an argument `return_attention_scores`: ours, Keras's
    `MultiHeadAttention`, `GroupQueryAttention`, `Attention` and `AdditiveAttention`, and anybody's own. It
    may sit at any depth of a functional, sequential or subclassed model. The model runs once, eagerly and
    without dropout; its variables, its layers and what it returns stay as they were.

    Args:
        model: a Keras model.
        inputs: a batch for it.
        **arguments: others of the model's call.

    Returns:
        arrays by the path of their layer; where a layer is called again, "path:2", "path:3", … Their shapes
        are those of the layers: (B, H, Tq, Tk), (B, Tq, Tk), or (B, Tk) for one query.

    Raises:
        ValueError: no attention layer was called.

    >>> tokens = keras.Input((None, 4))
    >>> output = keras.layers.MultiHeadAttention(2, 3, name="attention")(tokens, tokens)
    >>> scores = attention_scores(keras.Model(tokens, output), np.ones((1, 5, 4)))
    >>> {name: weights.shape for name, weights in scores.items()}
    {'attention': (1, 2, 5, 5)}
    """
    if not model.built:
        model(inputs, training=False, **arguments)
    found: list[tuple[str, Any]] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(_keeping_losses(model))
        for layer in _attention_layers(model):
            stack.enter_context(_recording(layer, found))
        stack.enter_context(_eagerly())
        stack.enter_context(keras.StatelessScope())
        model(inputs, training=False, **arguments)
    if not found:
        raise ValueError(f"{model.name} called no attention layer, so there are no weights to look at.")

    scores: dict[str, np.ndarray] = {}
    calls: dict[str, int] = {}
    for name, weights in found:
        calls[name] = calls.get(name, 0) + 1
        key = name if calls[name] == 1 else f"{name}:{calls[name]}"
        scores[key] = np.asarray(ops.convert_to_numpy(ops.cast(weights, "float32")))
    return scores


class AttentionRecorder(keras.callbacks.Callback):
    """Records what a model attends to in a fixed batch: before training, and after every epoch.

    Args:
        inputs: the batch.
        every: epochs from one record to the next; the last epoch is recorded in any case.
        look: function (model, inputs) that gives arrays by name.

    Attributes:
        epochs: of each record, 0 before training.
        records: what `look` gave.

    Raises:
        ValueError: if every is below 1.

    >>> recorder = AttentionRecorder(inputs)  # doctest: +SKIP
    >>> model.fit(data, callbacks=[recorder])  # doctest: +SKIP
    >>> animate_attention(
    ...     recorder.frames(), source, target, "training.gif", recorder.titles
    ... )  # doctest: +SKIP
    """

    def __init__(
        self,
        inputs: Any,
        every: int = 1,
        look: Callable[[Any, Any], dict[str, np.ndarray]] = attention_scores,
    ) -> None:
        super().__init__()
        if every < 1:
            raise ValueError(
                f"every is {every}, but it counts the epochs between two records: pass 1 or more."
            )
        self.inputs, self.every, self.look = inputs, every, look
        self.epochs: list[int] = []
        self.records: list[dict[str, np.ndarray]] = []

    def on_train_begin(self, logs: Any = None) -> None:
        self.epochs, self.records = [], []
        self._record(0)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._last = epoch + 1
        if self._last % self.every == 0:
            self._record(self._last)

    def on_train_end(self, logs: Any = None) -> None:
        if self._last != self.epochs[-1]:
            self._record(self._last)

    def _record(self, epoch: int) -> None:
        self._last = epoch
        self.epochs.append(epoch)
        self.records.append(self.look(self.model, self.inputs))

    @property
    def titles(self) -> list[str]:
        """One for each record: "epoch 0", "epoch 1", …"""
        return [f"epoch {epoch}" for epoch in self.epochs]

    def frames(self, layer: str | None = None, sample: int = 0, head: int = 0) -> np.ndarray:
        """How one map of weights changed: (records, Tq, Tk).

        Args:
            layer: its name in the records; by default the only one.
            sample: which of the batch.
            head: which head, where there are several.

        Raises:
            ValueError: nothing is recorded yet, or the layer is unknown or to be chosen.
        """
        if not self.records:
            raise ValueError("Nothing is recorded yet: pass the recorder to `fit` among its callbacks.")
        names = list(self.records[0])
        if layer is None and len(names) == 1:
            layer = names[0]
        if layer not in names:
            wrong = "There are several layers" if layer is None else f"There is no layer {layer!r}"
            raise ValueError(f"{wrong}: choose among {', '.join(names)}.")
        maps = np.stack([record[layer][sample] for record in self.records])  # (F, …, Tk)
        if maps.ndim == 4:
            maps = maps[:, head]
        return maps[:, None] if maps.ndim == 2 else maps


def _attention_layers(model: keras.Model) -> list[keras.layers.Layer]:
    """The layers that can return their weights, without those that only hand the wish down to others."""
    able = [layer for layer in model._flatten_layers() if _can_return(layer) or _always_returns(layer)]
    known = {id(layer) for layer in able}

    def holds_another(layer: keras.layers.Layer) -> bool:
        return any(id(other) in known for other in layer._flatten_layers(include_self=False))

    return [layer for layer in able if _always_returns(layer) or not holds_another(layer)]


def _can_return(layer: keras.layers.Layer) -> bool:
    return ARGUMENT in inspect.signature(layer.call).parameters


def _always_returns(layer: keras.layers.Layer) -> bool:
    """Whether it is the translator's decoder, whose recurrence attends by itself."""
    return keras.saving.get_registered_name(type(layer)) == "keras_attention>AttentionDecoder"


@contextlib.contextmanager
def _recording(layer: keras.layers.Layer, found: list[tuple[str, Any]]) -> Iterator[None]:
    """Let a layer note its weights at each call, and be as it was afterwards."""
    call = layer.call
    signature = inspect.signature(call)
    name = getattr(layer, "path", None) or layer.name

    def noting(*args: Any, **kwargs: Any) -> Any:
        if _always_returns(layer):
            output, weights = call(*args, **kwargs)
            found.append((name, weights))
            return output, weights
        bound = signature.bind(*args, **kwargs)
        wanted = bound.arguments.get(ARGUMENT, False)
        bound.arguments[ARGUMENT] = True
        output, weights, *cache = call(*bound.args, **bound.kwargs)
        found.append((name, weights))
        results = (output, weights, *cache) if wanted else (output, *cache)
        return results[0] if len(results) == 1 else results

    attributes = vars(layer)
    # Keras's layers refuse to show weights under flash attention, and one remembers that it was asked
    changes = {"call": noting, "_flash_attention": False, "_return_attention_scores": False}
    before = {key: attributes.get(key, MISSING) for key in changes}
    attributes.update({key: value for key, value in changes.items() if key == "call" or key in attributes})
    try:
        yield
    finally:
        for key, value in before.items():
            if value is MISSING:
                attributes.pop(key, None)
            else:
                attributes[key] = value


@contextlib.contextmanager
def _keeping_losses(model: keras.Model) -> Iterator[None]:
    """Each call of a model throws away the losses that its layers added in the call before."""
    before = [(layer._losses, list(layer._losses)) for layer in model._flatten_layers()]
    try:
        yield
    finally:
        for losses, added in before:
            losses[:] = added


@contextlib.contextmanager
def _eagerly() -> Iterator[None]:
    """Run what TensorFlow has compiled step by step: a graph traced before would pass our notes by."""
    if keras.backend.backend() != "tensorflow":
        yield
        return
    import tensorflow as tf

    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)
