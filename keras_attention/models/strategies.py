"""Training on several devices or machines: every replica reads its rows of a batch, and the sums are shared.

    loss = Σᵣ Σ losses of replica r / Σᵣ tokens of replica r, and its gradient likewise

All processes draw the same batches, so a batch means the same on one device and on sixteen.
"""

from __future__ import annotations

import json
import os

import keras
import tensorflow as tf

from keras_attention.models.batches import IDS

STRATEGIES = ("mirrored", "multiworker")


def make_strategy(name):
    """A `tf.distribute.Strategy`, within whose scope a translator is built and trained.

    Args:
        name: None for one device, "mirrored" for all GPUs of this machine (without any, all logical CPUs), or
            "multiworker" for all machines of the cluster that the environment variable TF_CONFIG describes.
            That one has to be made before TensorFlow computes anything.

    Raises:
        ValueError: the name is unknown, or TF_CONFIG describes no cluster.
    """
    if name is None:
        return tf.distribute.get_strategy()
    if name == "mirrored":
        devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
        return tf.distribute.MirroredStrategy([device.name for device in devices])
    if name != "multiworker":
        raise ValueError(f"The strategy is {name!r}, but it must be one of {', '.join(STRATEGIES)}.")
    try:
        config = json.loads(os.environ.get("TF_CONFIG", "{}"))
        config["cluster"], config["task"]["type"], config["task"]["index"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            "The strategy multiworker needs the environment variable TF_CONFIG with another index in every "
            'process, as {"cluster": {"worker": ["host0:12345", "host1:12345"]}, "task": {"type": "worker", '
            '"index": 0}}.'
        ) from None
    return tf.distribute.MultiWorkerMirroredStrategy()


def is_chief(strategy):
    """Whether this process is the one that writes."""
    return strategy.extended.should_checkpoint


def distributed_fit(model, data, *, validation_data, epochs, initial_epoch=0, verbose="auto", callbacks=()):
    """What `fit` does, for a translator that was built within the scope of a strategy.

    The callbacks run in every process and outside the scope, where a file is saved without the others' help.
    The first replica's learning rate and its decision to stop hold for all.

    Args:
        model: a compiled `Translator`, its optimizer built.
        data, validation_data: datasets of global batches, the same ones in every process.
        The others as in `keras.Model.fit`.

    Raises:
        RuntimeError: the chief begins with another epoch.
    """
    steps = int(data.cardinality())
    run = keras.callbacks.CallbackList(
        list(callbacks),
        add_progbar=bool(verbose) and is_chief(model.distribute_strategy),
        verbose=1 if verbose == "auto" else verbose,
        epochs=epochs,
        steps=steps,
        model=model,
    )
    train_step, test_step, agree = steps_of(model)
    spread_seeds(model)
    first = int(agree(float(initial_epoch)))
    if first != initial_epoch:
        raise RuntimeError(
            f"This process begins with epoch {initial_epoch + 1}, but the chief with {first + 1}: start all "
            "processes again, all with --resume or none."
        )
    model.stop_training = False
    run.on_train_begin()
    for epoch in range(initial_epoch, epochs):
        run.on_epoch_begin(epoch)
        total = count = 0.0
        for i, ((source, before), target) in enumerate(data):
            run.on_train_batch_begin(i)
            wish = tf.constant([model.optimizer.learning_rate.numpy(), model.stop_training], tf.float32)
            losses, tokens, stop = train_step(source, before, target, wish)
            total, count = total + float(losses), count + float(tokens)
            model.stop_training = bool(stop)
            run.on_train_batch_end(i, {"loss": total / count, "tokens": count})
            if model.stop_training:
                break
        logs = {"loss": total / count, "tokens": count}
        total = count = 0.0
        for (source, before), target in validation_data:
            losses, tokens = test_step(source, before, target)
            total, count = total + float(losses), count + float(tokens)
        run.on_epoch_end(epoch, logs | {"val_loss": total / count, "val_tokens": count})
        model.stop_training = bool(agree(float(model.stop_training)))
        if model.stop_training:
            break
    run.on_train_end()


def steps_of(model):
    """train_step(source, before, target, wish), test_step(source, before, target) and agree(wish).

    They run every replica on its rows and give the sum of the losses and the number of tokens of the batch.
    `wish` is (learning rate, whether to stop); that of the first replica is obeyed, and the latter returned.
    """
    strategy, optimizer, weights = model.distribute_strategy, model.optimizer, model.trainable_variables

    def sums(*tensors):
        """Σ over the replicas."""
        return tf.distribute.get_replica_context().all_reduce("SUM", tensors)

    def of_first(x):
        return tf.where(tf.equal(tf.distribute.get_replica_context().replica_id_in_sync_group, 0), x, 0.0)

    def share(source, before, target, training=False):
        first = tf.distribute.get_replica_context().replica_id_in_sync_group
        rows = slice(first, None, strategy.num_replicas_in_sync)
        losses = model.token_losses(source[rows], before[rows], target[rows], training)
        return tf.reduce_sum(losses), tf.cast(tf.size(losses), tf.float32)

    def gradients(source, before, target, wish):
        with tf.GradientTape() as tape:
            total, count = share(source, before, target, training=True)
        slopes = [tf.convert_to_tensor(slope) for slope in tape.gradient(total, weights)]
        *slopes, total, count, wish = sums(*slopes, total, count, of_first(wish))
        slopes, _ = tf.clip_by_global_norm([slope / count for slope in slopes], optimizer.global_clipnorm)
        return slopes, total, count, wish

    def update(variable, slope):
        optimizer.update_step(slope, variable, optimizer.learning_rate)

    def local(x):
        return strategy.experimental_local_results(x)[0]

    @tf.function(input_signature=[IDS, IDS, IDS, tf.TensorSpec((2,))], autograph=False)
    def train_step(*batch):
        slopes, total, count, wish = strategy.run(gradients, batch)
        optimizer.learning_rate = local(wish)[0]
        for weight, slope in zip(weights, slopes, strict=True):  # not `apply`, which would sum and clip again
            strategy.extended.update(weight.value, update, (slope,), group=False)
        optimizer.iterations.assign_add(1)
        return local(total), local(count), local(wish)[1]

    @tf.function(input_signature=[IDS, IDS, IDS], autograph=False)
    def test_step(*batch):
        total, count = strategy.run(lambda *batch: sums(*share(*batch)), batch)
        return local(total), local(count)

    @tf.function(input_signature=[tf.TensorSpec(())], autograph=False)
    def agree(wish):
        return local(strategy.run(lambda: sums(of_first(wish)))[0])

    return train_step, test_step, agree


def spread_seeds(model):
    """Another dropout in every replica; the first one keeps its own, which is the one that is saved."""
    weights = {id(weight) for weight in model.weights}
    generators = [state for state in model.variables if id(state) not in weights]

    def spread():
        r = tf.distribute.get_replica_context().replica_id_in_sync_group
        for state in generators:  # (2,): seed and counter
            state.assign(state + tf.cast(tf.stack([r, 0]), state.dtype))

    tf.function(lambda: model.distribute_strategy.run(spread), autograph=False)()
