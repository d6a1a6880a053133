import pytest

from keras_attention.data import DataError, load, load_texts, tfds
from keras_attention.data.tfds import load_tfds, load_tfds_texts


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


@pytest.mark.parametrize("language", ["en", "zh"])
def test_builder_gives_the_reviews_of_the_generator(language, tmp_path):
    built = load_tfds_texts(f"toy_reviews/{language}", data_dir=tmp_path)
    assert built.splits == load_texts(f"toy:reviews-{language}").splits
    assert built.notes == ()


@pytest.fixture
def builder(tmp_path, monkeypatch):
    """builder(features, splits): a name under which these rows are found."""
    import tensorflow_datasets as ds

    def builder(features, splits):
        class Rows(ds.core.GeneratorBasedBuilder, skip_registration=True):
            VERSION = ds.core.Version("1.0.0")
            name = "rows"

            def _info(self):
                return ds.core.DatasetInfo(builder=self, features=ds.features.FeaturesDict(features))

            def _split_generators(self, dl_manager):
                return {split: iter(enumerate(rows)) for split, rows in splits.items()}

            def _generate_examples(self):
                raise NotImplementedError

        monkeypatch.setattr(tfds, "find_builder", lambda *_: Rows(data_dir=tmp_path))
        return "rows"

    return builder


def features(**more):
    import tensorflow_datasets as ds

    return {"sentence": ds.features.Text(), "label": ds.features.ClassLabel(names=["bad", "good"]), **more}


def rows(*labels):
    return [{"sentence": f"text {i} {len(labels)}", "label": label} for i, label in enumerate(labels)]


def test_a_test_split_without_labels_is_noticed(builder):
    splits = {"train": rows(*[0, 1] * 20), "validation": rows(1, 0, 1), "test": rows(-1, -1)}
    corpus = load_tfds_texts(builder(features(), splits))
    assert sorted(corpus.test.labels) == ["bad", "good", "good"]
    assert [len(corpus.train), len(corpus.validation)] == [36, 4]
    assert "no labels in its split test, which is left out" in corpus.notes[0]
    assert "validation split serves as the test" in corpus.notes[1]


def test_some_texts_without_labels(builder):
    name = builder(features(), {"train": rows(0, 1, -1)})
    with pytest.raises(DataError, match="tfds:rows, split train: 1 of 3 texts have no label"):
        load_tfds_texts(name)


def test_columns_of_a_data_set(builder):
    import tensorflow_datasets as ds

    more = {"title": ds.features.Text(), "stars": ds.features.ClassLabel(names=["one", "two"])}
    data = [row | {"title": f"title {i}", "stars": 1 - row["label"]} for i, row in enumerate(rows(0, 1))]
    name = builder(features(**more), {"train": data, "validation": data, "test": data})
    assert load_tfds_texts(name).train.labels == ["bad", "good"]
    corpus = load_tfds_texts(name, label_column="stars", text_column="title")
    assert corpus.train.texts == ["title 0", "title 1"]
    assert corpus.train.labels == ["two", "one"]
    with pytest.raises(DataError, match=r"tfds:rows has no text 'body', only sentence, title"):
        load_tfds_texts(name, text_column="body")


def test_no_labelled_texts(tmp_path):
    with pytest.raises(DataError, match="tfds:toy_translation/en-fr has no class, only en, fr; choose"):
        load_tfds_texts("toy_translation/en-fr", data_dir=tmp_path)
