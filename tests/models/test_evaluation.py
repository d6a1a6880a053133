import math

import numpy as np
import pytest

from keras_attention.data import Link, Pairs
from keras_attention.models import Seq2SeqTranslator, Translation, evaluate

KEYS = {
    "bleu",
    "bleu_signature",
    "bleu_lowercased",
    "chrf",
    "loss",
    "perplexity",
    "alignment_accuracy",
    "alignment_error_rate",
    "bleu_by_length",
    "heads",
    "parameters",
}


def written(monkeypatch, texts, attention, score=-3.0):
    """Let every translator write these texts, and look so when it reads."""

    def translate(self, sentences, beam_width=1):
        return [Translation(text, text.split(), 0.0, None, []) for text in texts]

    def force(self, sentences, targets, all_heads=False):
        return [
            Translation(b, b.split(), score, a, s.split())
            for s, b, a in zip(sentences, targets, attention, strict=True)
        ]

    monkeypatch.setattr(Seq2SeqTranslator, "translate", translate)
    monkeypatch.setattr(Seq2SeqTranslator, "force", force)


# "the red cat" → "le chat rouge", "a dog" → "le chien"
PAIRS = Pairs(
    ["the red cat", "a dog"],
    ["le chat rouge", "le chien"],
    [
        [Link((0, 3), (0, 2)), Link((4, 7), (8, 13)), Link((8, 11), (3, 7))],
        [Link((0, 1), (0, 2)), Link((2, 5), (3, 8))],
    ],
)
GOLD = [np.array([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]]), np.array([[0.6, 0.4], [0.3, 0.7]])]


def test_the_keys_and_a_perfect_translator(build, monkeypatch):
    written(monkeypatch, PAIRS.target, GOLD)
    results, translations = evaluate(build(), PAIRS)
    assert set(results) == KEYS
    assert [translation.text for translation in translations] == PAIRS.target
    assert results["chrf"] == pytest.approx(100)
    assert "tok:13a" in results["bleu_signature"]
    assert results["alignment_accuracy"] == 1
    assert results["alignment_error_rate"] == 0
    assert results["loss"] == pytest.approx(6 / 7)  # 3 + 2 words and an END each
    assert results["perplexity"] == pytest.approx(math.exp(6 / 7))
    assert results["bleu_by_length"][0][:2] == ("0–5", 2)


def test_alignment_counts_linked_words(build, monkeypatch):
    attention = [GOLD[0][::-1], GOLD[1]]  # le → red, chat → cat, rouge → the
    written(monkeypatch, PAIRS.target, attention)
    results, _ = evaluate(build(), PAIRS)
    assert results["alignment_accuracy"] == pytest.approx(3 / 5)
    assert results["alignment_error_rate"] == pytest.approx(2 / 5)


@pytest.mark.parametrize("links", [None, [[], []]])
def test_without_gold_there_is_no_alignment(build, monkeypatch, links):
    written(monkeypatch, PAIRS.target, GOLD)
    results, _ = evaluate(build(), Pairs(PAIRS.source, PAIRS.target, links))
    assert results["alignment_accuracy"] is None
    assert results["alignment_error_rate"] is None


def test_without_attention_there_is_no_alignment(build, monkeypatch):
    written(monkeypatch, PAIRS.target, [0 * weights for weights in GOLD])
    results, _ = evaluate(build(attention="none"), PAIRS)
    assert results["alignment_accuracy"] is None


def test_a_training_record_replaces_no_measure(build, monkeypatch):
    written(monkeypatch, PAIRS.source, GOLD)
    translator = build(
        training_record={"bleu": 99.9, "alignment_accuracy": 1.0, "parameters": 1, "epochs": 7}
    )
    results, _ = evaluate(translator, Pairs(PAIRS.source, PAIRS.target))
    assert results["bleu"] < 10
    assert results["alignment_accuracy"] is None
    assert (results["parameters"], results["epochs"]) == (translator.count_params(), 7)


def test_texts_are_compared_as_they_are_and_lowercased(build, monkeypatch):
    pairs = Pairs(["a dog likes the cat"], ["Le chien aime le chat."])
    written(monkeypatch, ["le chien aime le chat ."], [np.ones((6, 5)) / 5])
    results, _ = evaluate(build(), pairs)
    assert results["bleu_lowercased"] == pytest.approx(100)
    assert results["bleu"] < 90


def test_chinese_is_scored_by_characters(build, monkeypatch):
    pairs = Pairs(["a dog likes the cat"], ["狗喜欢那只猫"])
    written(monkeypatch, ["狗 喜欢 那只 猫"], [np.ones((6, 5)) / 5])
    results, _ = evaluate(build(), pairs, language="zh")
    assert results["bleu"] == pytest.approx(100)
    assert "tok:zh" in results["bleu_signature"]


def test_the_loss_is_the_one_of_training(trained, toy):
    results, _ = evaluate(trained, toy.test)
    logs = trained.evaluate(trained.dataset(toy.test, 4), verbose=0, return_dict=True)
    assert results["loss"] == pytest.approx(logs["loss"], abs=1e-5)
    assert results["alignment_accuracy"] > 0.3


def test_a_huge_loss_is_a_number(build, monkeypatch):
    written(monkeypatch, PAIRS.target, GOLD, score=-1e5)
    results, _ = evaluate(build(), PAIRS)
    assert math.isfinite(results["perplexity"])
