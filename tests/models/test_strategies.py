import json
import os
import runpy
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

import keras_attention
from keras_attention.models.loss import linear_cross_entropy
from keras_attention.models.strategies import is_chief, make_strategy

SCRIPT = Path(__file__).with_name("strategy_process.py")
strategy_process = SimpleNamespace(**runpy.run_path(str(SCRIPT)))
MEASURES = ("loss", "val_loss", "val_bleu")


def start(command, config=()):
    own = {"PYTHONPATH": str(Path(keras_attention.__file__).parents[1]), "TF_CONFIG": json.dumps(config)}
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process):
    """Exit status, output and errors."""
    try:
        output, errors = process.communicate(timeout=1200)
    finally:
        process.kill()
    return process.returncode, output, errors


def cluster(commands):
    """Exit status, output and errors of each command, run as the workers of a cluster on this machine."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in commands]
    workers = [f"127.0.0.1:{s.getsockname()[1]}" for s in sockets]
    for s in sockets:
        s.close()
    processes = [
        start(command, {"cluster": {"worker": workers}, "task": {"type": "worker", "index": i}})
        for i, command in enumerate(commands)
    ]
    return [end(process) for process in processes]


def last_line(status, output, errors):
    assert status == 0, errors[-3000:]
    return json.loads(output.splitlines()[-1])


def same_curve(ours, expected):
    for name in MEASURES:
        np.testing.assert_allclose(ours[name], expected[name], atol=1e-4, err_msg=name)
    assert expected["loss"][-1] < expected["loss"][0] - 0.2  # it learned


@pytest.fixture(scope="module")
def expected():
    """expected(kind): the history of one process without a strategy."""
    found = {}

    def expected(kind):
        if kind not in found:
            found[kind] = strategy_process.history(kind, make_strategy(None))
        return found[kind]

    return expected


def test_one_replica_does_what_fit_does(expected, tmp_path):
    strategy, out = tf.distribute.MirroredStrategy(["CPU:0"]), tmp_path / "model.keras"
    same_curve(strategy_process.history("recurrent", strategy, out), expected("recurrent"))
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]


def test_patience_and_minutes_end_training():
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    assert len(strategy_process.history("recurrent", strategy, minutes=1e-9)["loss"]) == 1
    bleu = strategy_process.history("recurrent", strategy, patience=1, learning_rate=0.0)["val_bleu"]
    assert len(bleu) == 2  # the weights do not move, so that the second epoch is no better


def test_no_rows_have_no_loss_and_no_slope():
    features, embedding = tf.zeros((0, 3)), tf.random.normal((5, 3))
    bias, labels = tf.zeros(5), tf.zeros((0,), tf.int32)

    @tf.function
    def run():
        with tf.GradientTape() as tape:
            tape.watch([features, embedding, bias])
            losses = linear_cross_entropy(features, embedding, bias, labels, label_smoothing=0.1)
            total = tf.reduce_sum(losses)
        return losses, tape.gradient(total, [features, embedding, bias])

    losses, slopes = run()
    assert losses.shape == (0,)
    assert [tuple(slope.shape) for slope in slopes] == [(0, 3), (5, 3), (5,)]
    assert all(np.all(slope.numpy() == 0) for slope in slopes)


@pytest.mark.parametrize("config", [None, "{", "[]", '{"cluster": {"worker": ["a:1"]}}'])
def test_without_a_cluster_multiworker_is_an_error(config, monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if config is not None:
        monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(ValueError, match="needs the environment variable TF_CONFIG"):
        make_strategy("multiworker")


def test_the_names_of_strategies():
    with pytest.raises(ValueError, match="'gpu', but it must be one of mirrored, multiworker"):
        make_strategy("gpu")
    assert make_strategy(None) is tf.distribute.get_strategy()
    assert is_chief(make_strategy(None))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_two_devices_train_as_one(kind, expected, tmp_path):
    ours = last_line(*end(start([SCRIPT, kind, "mirrored", tmp_path / "model.keras"])))
    same_curve(ours["history"], expected(kind))
    assert len(ours["seeds"]) == 2  # replicas
    assert ours["seeds"][0] != ours["seeds"][1]  # they drop different things


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_two_processes_train_as_one_and_the_chief_writes(kind, expected, tmp_path):
    folders = [tmp_path / "chief", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    runs = cluster([[SCRIPT, kind, "multiworker", folder / "model.keras"] for folder in folders])
    for run in runs:
        same_curve(last_line(*run)["history"], expected(kind))
    assert [[path.name for path in folder.iterdir()] for folder in folders] == [["model.keras"], []]


@pytest.mark.slow
def test_a_training_of_which_one_process_was_killed_goes_on(expected, tmp_path):
    command = [SCRIPT, "transformer", "multiworker", tmp_path / "model.keras"]
    chief, killed = cluster([command, [*command, "2"]])
    assert chief[0] != 0  # it does not wait for ever
    assert killed[0] == -9
    assert {path.name for path in tmp_path.iterdir()} == {"model.keras", "model.keras.checkpoint"}
    for run in cluster([[*command, "resume"]] * 2):
        same_curve(last_line(*run)["history"], expected("transformer"))
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]


@pytest.mark.slow
def test_the_command_on_two_processes(tmp_path):
    command = [
        "-m",
        "keras_attention",
        "translate",
        "train",
        "--data",
        "toy:en-fr",
        "--units",
        8,
        "--epochs",
        1,
    ]
    command += ["--embedding", 6, "--beam", 1, "--strategy", "multiworker", "--json"]
    chief, other = cluster([[*command, "--out", tmp_path / "model.keras"]] * 2)
    assert last_line(*chief)["epochs"] == 1
    assert other[:2] == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]
