import json
import re
import shutil
import zipfile

import keras
import numpy as np
import pytest

from keras_attention.models import load_model


def refuse(path, match, error=ValueError):
    with pytest.raises(error, match=match) as caught:
        load_model(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message


def change(saved, path, name, edit):
    """Copy a .keras file, one of its members edited."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.namelist():
            data = old.read(member)
            new.writestr(member, edit(data) if member == name else data)
    return path


@pytest.fixture
def edit_config(saved, tmp_path):
    """edit_config(function): the saved file, its config changed in place by the function."""

    def edit_config(function):
        def edit(data):
            config = json.loads(data)
            function(config)
            return json.dumps(config)

        return change(saved, tmp_path / "changed.keras", "config.json", edit)

    return edit_config


@pytest.fixture
def trap(tmp_path):
    """The config of a layer that makes a file when it is built, and that file."""
    made = tmp_path / "made"
    layer = keras.layers.Lambda(eval(f"lambda x: open({str(made)!r}, 'w') and x"))
    return keras.saving.serialize_keras_object(layer), made


def test_a_saved_model_comes_back_compiled_or_not(trained, saved, tmp_path):
    again = load_model(str(saved))
    for a, b in zip(again.get_weights(), trained.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not again.compiled
    again.save(tmp_path / "again.keras")
    assert load_model(tmp_path / "again.keras").options == trained.options


def test_an_unchanged_copy_loads(edit_config, trained):
    """Else the refusals below would prove nothing."""
    assert load_model(edit_config(lambda config: None)).options == trained.options


def test_missing(tmp_path):
    refuse(tmp_path / "no.keras", "There is no model .* train one with", FileNotFoundError)
    refuse(tmp_path, "There is no model", FileNotFoundError)


@pytest.mark.parametrize("content", [b"", b"the cat sees\n", b"PK\x03\x04 half"])
def test_no_zip(tmp_path, content):
    path = tmp_path / "text.keras"
    path.write_bytes(content)
    refuse(path, "is not a .keras file, or it is damaged")


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_truncated(saved, tmp_path, share):
    data = saved.read_bytes()
    path = tmp_path / "half.keras"
    path.write_bytes(data[: int(share * len(data))])
    refuse(path, "is not a .keras file, or it is damaged")


def test_flipped_bytes(saved, tmp_path):
    data = bytearray(saved.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 20] = bytes(255 - byte for byte in data[middle : middle + 20])
    path = tmp_path / "flipped.keras"
    path.write_bytes(data)
    refuse(path, "damaged")


@pytest.mark.parametrize(("place", "value"), [(6, 1), (8, 97)], ids=["encrypted", "unknown compression"])
def test_members_that_zipfile_does_not_read(saved, tmp_path, place, value):
    data = bytearray(saved.read_bytes())
    for signature, further in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        for header in re.finditer(signature, saved.read_bytes()):
            data[header.start() + place + further] = value
    path = tmp_path / "odd.keras"
    path.write_bytes(data)
    refuse(path, "is not a .keras file, or it is damaged")


def test_a_damaged_deflated_member(tmp_path):
    path = tmp_path / "deflated.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", json.dumps(list(range(1000))))
    data = bytearray(path.read_bytes())
    data[45:50] = b"\xff" * 5  # behind the header of 30 bytes and the name of 11
    path.write_bytes(data)
    refuse(path, "is not a .keras file, or it is damaged")


@pytest.mark.parametrize("depth", [3_000, 200_000])
def test_settings_too_deep_to_read(saved, tmp_path, depth):
    deep = b'"config": {"deep": ' + b"[" * depth + b"]" * depth + b", "
    path = change(
        saved, tmp_path / "deep.keras", "config.json", lambda data: data.replace(b'"config": {', deep, 1)
    )
    refuse(path, "is not a .keras file, or it is damaged")


def test_a_file_that_is_two_things(saved, tmp_path):
    """By its end it is ours, by its name another model, which Keras would build."""
    path = tmp_path / "two.h5"
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).save(path)
    path.write_bytes(path.read_bytes() + saved.read_bytes())
    refuse(path, "is not a .keras file by its name")


def test_another_model(tmp_path, trap):
    path = tmp_path / "plain.keras"
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).save(path)
    refuse(path, "holds a Sequential, but a translator of keras_attention is needed")


@pytest.mark.parametrize("content", ["", "[]", "3", "{}", '{"class_name": "Seq2SeqTranslator"}'])
def test_no_config(saved, tmp_path, content):
    path = change(saved, tmp_path / "none.keras", "config.json", lambda _: content)
    refuse(path, "is not a .keras file, or it is damaged")


def test_a_config_without_settings(edit_config):
    refuse(edit_config(lambda config: config.pop("config")), "is not a .keras file, or it is damaged")


@pytest.mark.parametrize("key", ["class_name", "registered_name"])
def test_a_class_of_another_package(edit_config, key):
    refuse(edit_config(lambda config: config.update({key: "os>system"})), "a translator of keras_attention")


@pytest.mark.parametrize("place", ["dtype", "units", "source_vocabulary", "in a list", "new"])
def test_objects_among_the_settings_are_refused_unbuilt(edit_config, trap, place):
    layer, made = trap

    def plant(config):
        settings = config["config"]
        if place == "in a list":
            settings["target_vocabulary"]["tokens"][0] = layer
        elif place == "source_vocabulary":
            settings[place]["lexicon"] = {"deep": [layer]}
        else:
            settings[place] = layer

    refuse(edit_config(plant), "names classes among its settings")
    assert not made.exists()


@pytest.mark.parametrize("place", ["compile_config", "build_config", "module"])
def test_objects_beside_the_settings_are_not_built(edit_config, trap, trained, place):
    layer, made = trap
    value = "os" if place == "module" else {"optimizer": layer, "input_shape": layer}
    path = edit_config(lambda config: config.update({place: value}))
    assert load_model(path).options == trained.options
    assert not made.exists()


@pytest.mark.parametrize(
    "settings",
    [{"units": 13}, {"units": "many"}, {"attention": "other"}, {"more": 1}, {"source_vocabulary": 3}],
)
def test_settings_that_do_not_fit_the_weights(edit_config, settings):
    refuse(edit_config(lambda config: config["config"].update(settings)), "is damaged, or of another version")


def test_weights_of_another_model(saved, build, tmp_path):
    other = tmp_path / "other.keras"
    build(units=7).save(other)
    weights = zipfile.ZipFile(other).read("model.weights.h5")
    path = change(saved, tmp_path / "mixed.keras", "model.weights.h5", lambda _: weights)
    refuse(path, "is damaged, or of another version")


def test_weights_that_are_none(saved, tmp_path):
    path = change(saved, tmp_path / "none.keras", "model.weights.h5", lambda _: b"nothing")
    refuse(path, "is damaged, or of another version")


def test_a_renamed_file_loads(saved, tmp_path, trained):
    path = tmp_path / "ümläut 翻译.keras"
    shutil.copy(saved, path)
    assert load_model(path).options == trained.options
