import math

import numpy as np
import pytest

from keras_attention import metrics
from keras_attention.metrics import (
    agreement,
    alignment_scores,
    bleu_by_length,
    corpus_bleu,
    corpus_chrf,
    erasure,
    leave_one_out,
    link_cells,
    rationale_precision,
    shuffled_weights,
    split_words,
)


def test_bleu_by_hand():
    # 4 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples; equal lengths, so no penalty
    score, signature = corpus_bleu(["a b c d x y"], ["a b c d e f"], tokenize="none")
    assert score == pytest.approx(100 * (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    assert "tok:none" in signature
    assert "version:" in signature


def test_bleu_penalises_short_hypotheses():
    score = corpus_bleu(["a b c d e"], ["a b c d e f g"], tokenize="none").score
    assert score == pytest.approx(100 * math.exp(1 - 7 / 5))


def test_bleu_counts_over_the_corpus_not_per_sentence():
    hypotheses = ["a b c d e", "a x"]
    references = ["a b c d e", "a y"]
    # words 6 of 7, pairs 4 of 5, triples 3 of 3, quadruples 2 of 2
    expected = 100 * (6 / 7 * 4 / 5) ** 0.25
    assert corpus_bleu(hypotheses, references, tokenize="none").score == pytest.approx(expected)


def test_bleu_tokenises_punctuation_case_and_chinese_as_asked():
    assert corpus_bleu(["A cat , here ."], ["A cat, here."]).score == pytest.approx(100)
    assert corpus_bleu(["A CAT IS HERE"], ["a cat is here"]).score == 0
    assert corpus_bleu(["A CAT IS HERE"], ["a cat is here"], lowercase=True).score == pytest.approx(100)
    # 4 of 5 characters, 3 of 4, 2 of 3, 1 of 2
    chinese = corpus_bleu(["我爱小猫狗"], ["我爱小猫鸟"], tokenize="zh")
    assert chinese.score == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert "tok:zh" in chinese.signature


def test_chrf_by_hand():
    # characters 3 of 4, pairs 2 of 3, triples 1 of 2, quadruples 0 of 1, on both sides alike;
    # there are no longer n-grams
    score, signature = corpus_chrf(["abcx"], ["abcy"])
    assert score == pytest.approx(100 * (3 / 4 + 2 / 3 + 1 / 2 + 0) / 4)
    assert "nc:6" in signature


@pytest.mark.parametrize("score", [corpus_bleu, corpus_chrf])
def test_scores_refuse_what_does_not_pair_up(score):
    with pytest.raises(ValueError, match="2 hypotheses but 1 references"):
        score(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="one string"):
        score("a", "a")
    with pytest.raises(ValueError, match="no sentence"):
        score([], [])


def test_split_words():
    assert split_words("L'Animal,  n'a\tpas!") == "l ' animal , n ' a pas !"
    assert split_words("") == ""


def test_bleu_by_length():
    hypotheses = ["a b c d", "w x y z", "a b c d x", "e f g h"]
    references = ["a b c d", "a b c d", "a b c d e", "e f g h"]
    bins = bleu_by_length(hypotheses, references, [3, 4, 5, 12], edges=(3, 6, 9), tokenize="none")
    assert [(b.label, b.sentences) for b in bins] == [("0–3", 1), ("4–6", 2), ("7–9", 0), ("≥ 10", 1)]
    assert bins[0].bleu == bins[3].bleu == pytest.approx(100)
    # words 4 of 9, pairs 3 of 7, triples 2 of 5, quadruples 1 of 3
    assert bins[1].bleu == pytest.approx(100 * (4 / 9 * 3 / 7 * 2 / 5 * 1 / 3) ** 0.25)
    assert math.isnan(bins[2].bleu)


def test_bleu_by_length_refuses_bad_arguments():
    with pytest.raises(ValueError, match="2 hypotheses but 3 lengths"):
        bleu_by_length(["a", "b"], ["a", "b"], [1, 2, 3])
    with pytest.raises(ValueError, match="edges must rise"):
        bleu_by_length(["a"], ["a"], [1], edges=(5, 5))


# "the cat sleeps" -> "le chat dort", the target's second word in two tokens "ch" "at"
SOURCE = [(0, 3), (4, 7), (8, 14)]
TARGET = [(0, 2), (3, 5), (5, 7), (8, 12)]
LINKS = [((0, 3), (0, 2)), ((4, 7), (3, 7)), ((8, 14), (8, 12))]
ATTENTION = np.array([[0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.0, 0.9, 0.1], [0.2, 0.7, 0.1]])


def test_alignment_by_hand():
    # le -> the; "ch" alone would say the, the mean of "ch" and "at" says cat; dort -> cat is wrong
    result = alignment_scores([ATTENTION], [SOURCE], [TARGET], [LINKS])
    assert result.accuracy == pytest.approx(2 / 3)
    assert result.error_rate == pytest.approx(1 - 2 * 2 / (3 + 3))
    assert result.links == 3


def test_a_word_with_two_gold_links_is_right_with_either():
    links = [((0, 3), (8, 12)), ((4, 7), (8, 12)), ((8, 14), (0, 2))]
    result = alignment_scores([ATTENTION], [SOURCE], [TARGET], [links])
    assert result.accuracy == pytest.approx(1 / 2)
    assert result.error_rate == pytest.approx(1 - 2 * 1 / (2 + 3))


def test_alignment_counts_words_of_all_sentences_together():
    second = np.array([[1.0, 0.0]])
    result = alignment_scores(
        [ATTENTION, second], [SOURCE, [(0, 1), (2, 5)]], [TARGET, [(0, 9)]], [LINKS, [((2, 5), (0, 9))]]
    )
    assert result.accuracy == pytest.approx(2 / 4)
    assert result.links == 4


def test_a_target_word_without_a_token_counts_as_wrong():
    result = alignment_scores([ATTENTION[:1]], [SOURCE], [TARGET[:1]], [LINKS])
    assert result.accuracy == pytest.approx(1 / 3)
    assert result.error_rate == pytest.approx(1 - 2 * 1 / (1 + 3))


def test_an_empty_span_such_as_of_the_end_mark_overlaps_nothing():
    sources = [(0, 3), (5, 5)]
    result = alignment_scores([np.array([[0.1, 0.9]])], [sources], [[(0, 2)]], [[((4, 7), (0, 2))]])
    assert result.accuracy == 0


def test_no_gold_is_nan_not_perfect():
    result = alignment_scores([ATTENTION], [SOURCE], [TARGET], [[]])
    assert math.isnan(result.accuracy)
    assert math.isnan(result.error_rate)
    assert result.links == 0


def test_alignment_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="got 1, 1, 1 and 0"):
        alignment_scores([ATTENTION], [SOURCE], [TARGET], [])
    with pytest.raises(ValueError, match=r"sentence 0 has shape \(3, 4\), but there are 4 target and 3"):
        alignment_scores([ATTENTION.T], [SOURCE], [TARGET], [LINKS])
    with pytest.raises(ValueError, match="sentence 0 holds NaN"):
        alignment_scores([np.full((4, 3), np.nan)], [SOURCE], [TARGET], [LINKS])


def test_link_cells():
    expected = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_array_equal(link_cells(SOURCE, TARGET, LINKS), np.array(expected, bool))
    assert link_cells(SOURCE, [], LINKS).shape == (0, 3)


def test_the_examples_of_the_docstrings_run():
    import doctest

    assert doctest.testmod(metrics).attempted == 2
    assert doctest.testmod(metrics).failed == 0


def test_rationale_precision_by_hand():
    weights = [np.array([0.5, 0.2, 0.3]), np.array([0.9, 0.1]), np.array([1.0])]
    spans = [[(0, 3), (4, 7), (8, 14)], [(0, 2), (2, 5)], [(0, 1)]]
    # the second token's range is hit in part, the third token of the first text by its last character
    found = rationale_precision(weights, spans, [[(5, 6), (13, 20)], [(2, 3)], []])
    assert found.precision == pytest.approx((0.5 + 0.1) / 2)
    assert found.uniform == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found.texts == 2


def test_a_token_in_two_gold_ranges_counts_once():
    found = rationale_precision([np.array([0.6, 0.4])], [[(0, 5), (6, 9)]], [[(0, 2), (3, 5)]])
    assert found == (pytest.approx(0.6), 0.5, 1)


def test_no_rationale_is_nan():
    found = rationale_precision([np.array([1.0])], [[(0, 1)]], [[]])
    assert math.isnan(found.precision)
    assert found.texts == 0


def test_rationales_that_do_not_fit():
    with pytest.raises(ValueError, match="got 1, 1 and 2"):
        rationale_precision([np.ones(1)], [[(0, 1)]], [[], []])
    with pytest.raises(ValueError, match=r"text 1 have shape \(2,\), but there are 1 tokens"):
        rationale_precision([np.ones(1), np.ones(2)], [[(0, 1)], [(0, 1)]], [[], []])


def linear(sequences):
    """Two classes; each id is worth its own number for class 1: p₁ = σ(Σ ids)."""
    p = 1 / (1 + np.exp(-np.array([float(sum(ids)) for ids in sequences])))
    return np.stack([1 - p, p], axis=1)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_leave_one_out_by_hand():
    first, second = leave_one_out(linear, [[2, -1, 0], [-3]])
    # the first text is of class 1 with σ(1), the second of class 0 with 1 − σ(−3)
    np.testing.assert_allclose(first, [sigmoid(1) - sigmoid(-1), sigmoid(1) - sigmoid(2), 0], atol=1e-12)
    np.testing.assert_allclose(second, [(1 - sigmoid(-3)) - 0.5], atol=1e-12)


def test_erasure_takes_the_most_attended_tokens():
    sequences = [[0, 3, 0, 0, 1], [-2, 0, 0, 0], [5]]
    right = [np.array([0.1, 0.6, 0.1, 0.0, 0.2]), np.array([0.7, 0.1, 0.1, 0.1]), np.array([1.0])]
    found = erasure(linear, sequences, right, k=1, draws=200)
    expected = [sigmoid(4) - sigmoid(1), sigmoid(2) - 0.5]  # the last text is too short
    assert found.attended == pytest.approx(np.mean(expected))
    at_random = [(sigmoid(4) - sigmoid(1) + sigmoid(4) - sigmoid(3)) / 5, (sigmoid(2) - 0.5) / 4]
    assert found.random == pytest.approx(np.mean(at_random), abs=0.02)
    wrong = [row[::-1] for row in right]
    assert erasure(linear, sequences, wrong, k=1).attended < found.random
    assert math.isnan(erasure(linear, [[1, 2]], [np.ones(2)], k=2).attended)


def test_erasing_two_tokens():
    found = erasure(linear, [[1, 3, 2]], [np.array([0.4, 0.1, 0.5])], k=2)
    assert found.attended == pytest.approx(sigmoid(6) - sigmoid(3))


def test_agreement_by_hand():
    # of three pairs two are in order: τ = (2 − 1) / 3; the constant one has no order
    weights = [np.array([0.1, 0.2, 0.7]), np.array([0.5, 0.5]), np.array([0.3, 0.7])]
    assert agreement(weights, [np.array([1, 3, 2]), np.array([1, 2]), np.array([1, 2])]) == pytest.approx(
        (1 / 3 + 1) / 2
    )
    assert math.isnan(agreement(weights[1:2], [np.array([1, 2])]))


def test_shuffled_weights():
    values = [np.array([4.0, 1.0, 1.0, -3.0]), np.array([2.0, 1.0])]
    weights = [np.array([1.0, 0.0, 0.0, 0.0]), np.array([[1.0, 0.0], [0.5, 0.5]])]

    def predict(rows):
        scores = [float((np.atleast_2d(row) @ value).mean()) for row, value in zip(rows, values, strict=True)]
        return linear([[score] for score in scores])

    found = shuffled_weights(predict, weights, draws=400)
    # one time in four the weight falls on −3 and turns the first text; the second one stays
    assert found.changed == pytest.approx(1 / 8, abs=0.02)
    first = (0 + 2 * (sigmoid(4) - sigmoid(1)) + sigmoid(4) - sigmoid(-3)) / 4
    second = (0 + sigmoid(1.75) - sigmoid(1.25)) / 2
    assert found.distance == pytest.approx((first + second) / 2, abs=0.02)
    same = shuffled_weights(lambda rows: np.ones((2, 2)) / 2, weights)
    assert same == (0, 0)
