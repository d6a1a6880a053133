"""What only the Transformer has; what it shares with the other translator is in test_translator.py."""

import json
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.data import Vocabulary
from keras_attention.inspection import attention_scores
from keras_attention.models import TRANSFORMER_PRESETS, TransformerTranslator, evaluate, load_model, train
from keras_attention.models.training import build_vocabularies
from keras_attention.models.transformer import POSITIONS

SENTENCES = ["the cat sees", "a big red dog likes the bird and", "eats"]


@pytest.fixture(scope="module")
def trained(toy, build_transformer):
    """A Transformer that knows the toy pairs."""
    translator = build_transformer(seed=1)
    translator.compile(keras.optimizers.Adam(0.01))
    translator.fit(translator.dataset(toy.train, 10, seed=0), epochs=60, shuffle=False, verbose=0)
    translator.alignment_head.assign([1, 2])
    return translator


@pytest.mark.parametrize("positions", POSITIONS)
def test_with_the_cache_each_step_is_the_uncached_one(build_transformer, positions):
    """For beams that are exchanged on the way, too."""
    translator = build_transformer(positions=positions, seed=3)
    K, steps = 2, 6
    source = np.array([[4, 9, 5, 0], [6, 7, 8, 11], [12, 0, 0, 0]], "int32")
    rng = np.random.default_rng(0)
    prefix = np.full((3 * K, 1), Vocabulary.START)
    step, caches = translator.decoding(source, K, limit=tf.constant([steps, 4, 5]))
    caches = tf.nest.map_structure(lambda x: tf.repeat(x, K, axis=0), caches)
    for _ in range(steps):
        logits, caches, weights = step(tf.constant(prefix[:, -1], tf.int32), caches)
        rows = np.repeat(source, K, axis=0)
        readout, attention = translator.readout(rows, prefix)
        np.testing.assert_allclose(logits, translator.logits(readout)[:, -1], atol=1e-5)
        np.testing.assert_allclose(weights, attention[:, -1], atol=1e-5)
        parents = (np.arange(3)[:, None] * K + rng.integers(0, K, (3, K))).ravel()
        caches = tf.nest.map_structure(lambda x, rows=parents: tf.gather(x, rows), caches)
        prefix = np.concatenate([prefix[parents], rng.integers(4, 15, (3 * K, 1))], axis=1)


@pytest.mark.parametrize("beam_width", [1, 3])
def test_every_head_of_every_layer_can_be_had(trained, beam_width):
    plain = trained.translate(SENTENCES, beam_width)
    for translation, other in zip(
        trained.translate(SENTENCES, beam_width, all_heads=True), plain, strict=True
    ):
        T, n = len(translation.tokens), len(translation.source_tokens)
        heads = translation.heads
        shapes = {"encoder": (2, 3, n, n), "decoder": (2, 3, T, T), "cross": (2, 3, T, n)}
        assert {name: weights.shape for name, weights in heads.items()} == shapes
        for weights in heads.values():
            np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        assert not np.triu(heads["decoder"], 1).any()
        np.testing.assert_allclose(translation.attention, heads["cross"][1, 2], atol=1e-5)
        assert other.heads is None
        assert other.text == translation.text


def test_the_heads_are_those_that_the_layers_return(trained):
    source, target = "a big red dog", "un chien"
    (read,) = trained.force([source], [target], all_heads=True)
    x = np.array([trained.source_vocabulary.encode(source)])
    before = np.array([[Vocabulary.START, *trained.target_vocabulary.encode(target)]])
    found = attention_scores(trained, (x, before))
    names = {"encoder": "encoder_{}/self_attention", "decoder": "decoder_{}/self_attention"}
    names["cross"] = "decoder_{}/cross_attention"
    for name, path in names.items():
        for layer in range(2):
            (weights,) = (w for key, w in found.items() if key.endswith(path.format(layer + 1)))
            rows, columns = read.heads[name].shape[2:]
            np.testing.assert_allclose(read.heads[name][layer], weights[0, :, :rows, :columns], atol=1e-6)


def test_it_learns_and_chooses_a_head_that_aligns(trained, toy):
    results, _ = evaluate(trained, toy.train)
    assert results["bleu"] > 80
    trained.choose_alignment_head(toy.train)
    results, _ = evaluate(trained, toy.train)
    cross = [row for row in results["heads"] if row["attention"] == "cross"]
    assert len(results["heads"]) == 18
    layer, head = trained.alignment_head.numpy()
    chosen = next(row for row in cross if (row["layer"], row["head"]) == (layer + 1, head + 1))
    assert chosen["alignment_accuracy"] == results["alignment_accuracy"]
    accuracies = sorted(row["alignment_accuracy"] for row in cross)
    assert results["alignment_accuracy"] >= accuracies[-2]
    assert results["alignment_accuracy"] > accuracies[0] + 0.1
    trained.alignment_head.assign([1, 2])


@pytest.mark.parametrize("positions", POSITIONS)
def test_the_order_of_the_words_counts(build_transformer, positions):
    translator = build_transformer(positions=positions)
    before = np.array([[2, 5, 6]])
    one = translator((np.array([[4, 5, 6]]), before))
    other = translator((np.array([[5, 4, 6]]), before))
    assert np.abs(one - other).max() > 1e-4


def test_padding_changes_nothing(build_transformer):
    translator = build_transformer()
    source, before = np.array([[4, 5, 6]]), np.array([[2, 5]])
    wide = translator((np.pad(source, [(0, 0), (0, 4)]), np.pad(before, [(0, 0), (0, 3)])))
    np.testing.assert_allclose(wide[:, :2], translator((source, before)), atol=1e-5)


def test_learned_positions_have_an_end(build_transformer, toy):
    translator = build_transformer(positions="learned", max_length=9)
    with pytest.raises(ValueError, match="has 9 tokens, but the model learned 9 positions"):
        translator.translate([" ".join(["cat"] * 9)])
    with pytest.raises(ValueError, match="learned 9 positions"):
        translator.force(["cat"], [" ".join(["chat"] * 10)])
    (longest,) = translator.translate([" ".join(["cat"] * 8)])
    assert len(longest.tokens) <= 9
    assert np.isfinite(longest.score)
    assert build_transformer(max_length=3).translate(["a red cat sees a dog"])


@pytest.mark.parametrize("bound", ["positions", "batch"])
def test_subword_dropout_makes_no_sentence_too_long(build_transformer, toy, bound):
    words = Vocabulary.build(toy.train.source + toy.train.target, "subword", 60)
    plain = [words.encode_batch(side) for side in (toy.train.source, toy.train.target)]
    room = 1 + max(len(ids) for side in plain for ids in side)
    if bound == "positions":
        translator, options = build_transformer(words, words, positions="learned", max_length=room), {}
    else:
        translator, options = build_transformer(words, words), {"batch_tokens": room}
    drawn = []
    for (source, _), target in translator.dataset(toy.train, 10, seed=0, subword_dropout=0.5, **options):
        assert max(source.shape[1], target.shape[1] - 1) < room
        drawn += zip(words.decode_batch(source.numpy()), words.decode_batch(target.numpy()), strict=True)
    assert sorted(drawn) == sorted(zip(toy.train.source, toy.train.target, strict=True))


def test_every_dropout_has_its_own_generator_that_is_saved(build_transformer):
    translator = build_transformer(dropout=0.3, seed=4)
    layers = [layer for layer in translator._flatten_layers() if isinstance(layer, keras.layers.Dropout)]
    live = [layer for layer in layers if layer.rate]
    assert len(live) == 5  # one a block, and that of embeddings and readout
    states = [layer.seed_generator.state for layer in live]
    assert len({tuple(state.numpy()) for state in states}) == 5
    assert {id(state) for state in states} <= {id(variable) for variable in translator.variables}
    again = build_transformer(dropout=0.3, seed=4)
    for one, other in zip(translator.variables, again.variables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_seed_has_one_course(build_transformer, toy):
    losses = []
    for seed in (4, 4, 5):
        translator = build_transformer(dropout=0.3, label_smoothing=0.2, seed=seed)
        ((x, before), y) = next(iter(translator.dataset(toy.train, 10)))
        losses.append(translator.token_losses(x, before, y, training=True).numpy())
    np.testing.assert_array_equal(losses[0], losses[1])
    assert np.abs(losses[0] - losses[2]).max() > 1e-4
    assert np.abs(losses[0] - translator.token_losses(x, before, y)).max() > 1e-3


def test_at_the_start_it_knows_little(build_transformer, toy):
    """r has D features of variance 1 and E is N(0, 1 / D), so that a logit has variance 1 about 0."""
    translator = build_transformer(embedding_dim=96, num_heads=4, tie_embeddings=False)
    translator.output_embedding.assign(keras.random.normal((15, 96), stddev=96**-0.5, seed=1))
    ((x, before), y) = next(iter(translator.dataset(toy.train, 30)))
    assert np.log(15) < translator.token_losses(x, before, y).numpy().mean() < np.log(15) + 1


def test_config_is_plain_and_builds_the_same(build_transformer):
    translator = build_transformer(positions="rotary", embedding_dim=24, tie_embeddings=False, seed=7)
    again = TransformerTranslator.from_config(json.loads(json.dumps(translator.get_config())))
    assert again.get_config() == translator.get_config()
    assert again.options == translator.options


def test_a_file_holds_the_whole_translator(trained, toy, tmp_path):
    path = tmp_path / "model.keras"
    trained.save(path)
    again = load_model(path)
    np.testing.assert_array_equal(again.alignment_head, [1, 2])
    code = (
        "import keras, keras_attention\n"
        f"translator = keras.saving.load_model({str(path)!r})\n"
        f"for t in translator.translate({toy.test.source!r}, beam_width=2): print(t.text)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    expected = trained.translate(toy.test.source, 2)
    assert result.stdout.splitlines() == [translation.text for translation in expected]
    for one, other in zip(again.translate(toy.test.source, 2), expected, strict=True):
        assert one.text == other.text
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-6)


def test_training_ends_with_the_chosen_head_in_the_file(build_transformer, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(
        TransformerTranslator, "choose_alignment_head", lambda self, pairs: self.alignment_head.assign([1, 1])
    )
    out = tmp_path / "model.keras"
    history = train(
        build_transformer(), toy, out=out, epochs=1, batch_tokens=40, warmup=3, learning_rate=1e-3, verbose=0
    )
    assert len(history["val_bleu"]) == 1
    np.testing.assert_array_equal(load_model(out).alignment_head, [1, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positions": "none"}, "positions is 'none', but it must be one of sinusoidal, learned, rotary"),
        ({"num_heads": 5}, "5 heads do not divide the width 12"),
    ],
)
def test_errors(build_transformer, options, message):
    with pytest.raises(ValueError, match=message):
        build_transformer(**options)


@pytest.mark.slow
def test_the_toy_preset_translates_and_aligns():
    from keras_attention.data import load

    corpus, preset = load("toy:en-fr"), TRANSFORMER_PRESETS["toy"]
    translator = TransformerTranslator(*build_vocabularies(corpus, **preset["vocabulary"]), **preset["model"])
    train(translator, corpus, verbose=2, **preset["training"])
    results, _ = evaluate(translator, corpus.test, language="fr")
    assert results["bleu"] >= 90
