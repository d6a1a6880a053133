import pytest

from keras_attention.data import DataError, load, tfds
from keras_attention.data.tfds import load_tfds


@pytest.mark.parametrize("name", ["en-fr", "en-zh"])
def test_builder_gives_the_pairs_of_the_generator(name, tmp_path):
    built, direct = load_tfds(f"toy_translation/{name}", data_dir=tmp_path), load(f"toy:{name}")
    for split in ("train", "validation", "test"):
        assert built.split(split).source == direct.split(split).source
        assert built.split(split).target == direct.split(split).target
    assert (built.source_language, built.target_language) == tuple(name.split("-"))


def test_direction(tmp_path):
    corpus = load_tfds("toy_translation/en-fr", source_language="fr", data_dir=tmp_path)
    direct = load("toy:en-fr")
    assert (corpus.test.source, corpus.test.target) == (direct.test.target, direct.test.source)
    assert (corpus.source_language, corpus.target_language) == ("fr", "en")


def test_no_network(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(tfds, "reachable", lambda host: bool(asked.append(host)))
    with pytest.raises(
        DataError,
        match=r"tfds:ted_hrlr_translate/pt_to_en is not on this machine, and www\.phontron\.com "
        r"cannot be reached; "
        r"connect to a network, or use local data: toy:en-fr",
    ):
        load_tfds("ted_hrlr_translate/pt_to_en", data_dir=tmp_path)
    assert asked == ["www.phontron.com"]


def test_unreachable_host():
    assert not tfds.reachable("no-such-host.invalid")


def test_failed_download(monkeypatch, tmp_path):
    import tensorflow_datasets

    def fail(self, **_):
        raise OSError("Disk full.\nmore")

    monkeypatch.setattr(tfds, "reachable", lambda host: True)
    monkeypatch.setattr(tensorflow_datasets.core.DatasetBuilder, "download_and_prepare", fail)
    with pytest.raises(DataError, match=r"pt_to_en could not be prepared \(Disk full\); try again later"):
        load_tfds("ted_hrlr_translate/pt_to_en", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_set", r"tensorflow-datasets has no 'no_such_set' \(.*not found\); correct the name"),
        (
            "ted_hrlr_translate/xx",
            r"tensorflow-datasets has no 'ted_hrlr_translate/xx' \(.*\); correct the name",
        ),
        ("imdb_reviews", r"tfds:imdb_reviews is no set of translations"),
    ],
)
def test_wrong_data_set(name, message, tmp_path):
    with pytest.raises(DataError, match=message) as error:
        load_tfds(name, data_dir=tmp_path)
    assert "\n" not in str(error.value)
