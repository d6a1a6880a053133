"""How sphinx-gallery runs a chapter."""

from pathlib import Path


def figures_to(gallery_conf, script_vars):
    """The chapter's arguments: its own copies of the figures go where no page looks."""
    return ["--figures", str(Path(gallery_conf["src_dir"]).parent / "build" / "figures")]


def fresh_start(gallery_conf, file_name):
    """Chapters share a process; none shall see what another did."""
    import keras

    keras.backend.clear_session()
    keras.utils.set_random_seed(0)
