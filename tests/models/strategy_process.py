"""A training as a process of its own: python strategy_process.py KIND STRATEGY OUT [DIES_IN_EPOCH | resume].

STRATEGY is mirrored (on two logical CPU devices), multiworker, or one. The last line is the history as JSON,
and the state of a random generator in every replica of this process.
"""

import json
import os
import signal
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf

from keras_attention.data import Corpus, Pairs, Vocabulary
from keras_attention.models import Seq2SeqTranslator, TransformerTranslator, train
from keras_attention.models.strategies import make_strategy, spread_seeds

SMALL = {
    "recurrent": (Seq2SeqTranslator, {"embedding_dim": 10, "units": 12}),
    "transformer": (TransformerTranslator, {"embedding_dim": 12, "num_layers": 1, "hidden_dim": 20}),
}


class Dies(keras.callbacks.Callback):
    """Killed in the middle of an epoch."""

    def __init__(self, epoch):
        super().__init__()
        self.last = epoch

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == (self.last, 1):
            os.kill(os.getpid(), signal.SIGKILL)


def toy():
    """19 pairs: with 6 a batch the last one has a single row, so that a replica of two gets none."""
    rng = np.random.default_rng(0)
    rows = [rng.integers(1, 9, size=rng.integers(2, 7)) for _ in range(19)]
    source, target = ([" ".join(f"{side}{i}" for i in row) for row in rows] for side in "xy")
    pairs = Pairs(source, target)
    return Corpus("toy", pairs, pairs[:7], pairs[:3], "en", "fr")


def build(kind, strategy, corpus, dropout=0.0):
    model, small = SMALL[kind]
    words = Vocabulary.build(corpus.train.source), Vocabulary.build(corpus.train.target)
    with strategy.scope():
        return model(*words, dropout=dropout, label_smoothing=0.1, seed=1, **small)


def history(kind, strategy, out=None, **options):
    corpus = toy()
    settings = {"epochs": 4, "batch_size": 6, "learning_rate": 0.01, "seed": 3, "verbose": 0}
    return train(build(kind, strategy, corpus), corpus, out=out, **settings | options)


def seeds(strategy):
    """The state of a random generator in every replica of this process."""
    translator = build("recurrent", strategy, toy(), dropout=0.3)
    spread_seeds(translator)
    state = translator.drop.seed_generator.state.value
    return [x.numpy().tolist() for x in strategy.experimental_local_results(state)]


if __name__ == "__main__":
    kind, name, out, *rest = sys.argv[1:]
    if name == "mirrored":
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = make_strategy(None if name == "one" else name)
    resume = rest == ["resume"]
    callbacks = [Dies(int(rest[0]))] if rest and not resume else []
    found = history(kind, strategy, out, resume=resume, callbacks=callbacks)
    print(json.dumps({"history": found, "seeds": seeds(strategy)}))
