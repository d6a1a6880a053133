"""How sphinx-gallery runs a chapter: without a network, after no other, its figures in a folder."""

import socket
from pathlib import Path


def figures_to(gallery_conf, script_vars):
    """The chapter's arguments: its own copies of the figures go where no page looks."""
    return ["--figures", str(Path(gallery_conf["src_dir"]).parent / "build" / "figures")]


def refuse(*args, **kwargs):
    raise OSError("a chapter asked for the network")


def fresh_start(gallery_conf, file_name):
    """Chapters share a process; none shall see what another did, or the network."""
    import keras

    socket.socket.connect = socket.getaddrinfo = refuse
    keras.backend.clear_session()
    keras.utils.set_random_seed(0)
