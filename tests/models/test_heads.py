import math
from types import SimpleNamespace

import numpy as np
import pytest

from keras_attention.data import Link, Pairs, Vocabulary
from keras_attention.models.heads import entropy, head_table, lexical_information, looking_along


def test_entropy_is_between_one_place_and_all_places():
    assert entropy([np.eye(3), np.eye(5)[:2]]) == 0
    assert entropy([np.full((3, 4), 1 / 4)]) == pytest.approx(math.log(4))
    assert entropy([np.full((3, 4), 1 / 4), np.eye(2)]) == pytest.approx(3 * math.log(4) / 5)


def test_looking_at_oneself_and_at_the_token_before():
    before = np.eye(4, k=-1)
    before[0, 0] = 1
    assert looking_along([before], -1) == 1
    assert looking_along([before]) == pytest.approx(1 / 4)
    assert looking_along([np.eye(4)]) == 1
    assert looking_along([np.eye(4)], -1) == 0
    spread = np.full((4, 4), 1 / 4)
    assert looking_along([spread, np.eye(2)]) == pytest.approx((4 * 0.25 + 2) / 6)


def test_the_diagonal_of_a_matrix_that_is_not_square():
    weights = np.zeros((3, 5))
    weights[[0, 1, 2], [0, 2, 4]] = 1
    assert looking_along([weights]) == 1
    assert math.isnan(looking_along([np.zeros((0, 3))]))
    assert math.isnan(entropy([]))


def test_lexical_information_of_a_word_by_word_translation_is_the_entropy_of_the_words():
    """Where each word has one translation, p(x, y) = p(x), and the information is the entropy."""
    source = [[4, 5, 6], [6, 5], [4]]
    target = [[14, 15, 16], [16, 15], [14]]
    eyes = [np.stack([np.eye(len(x)), np.full((len(x), len(x)), 1 / len(x))]) for x in source]
    aligned, spread = lexical_information(eyes, source, target)
    assert aligned == pytest.approx(math.log(3))  # each of three words, twice in six
    joint = {}
    for xs, ys in zip(source, target, strict=True):
        for y in ys:
            for x in xs:
                joint[x, y] = joint.get((x, y), 0) + 1 / len(xs) / 6
    px, py = (
        {k: sum(p for pair, p in joint.items() if pair[i] == k) for k in {q[i] for q in joint}}
        for i in (0, 1)
    )
    expected = sum(p * math.log(p / px[x] / py[y]) for (x, y), p in joint.items())
    assert spread == pytest.approx(expected)
    assert spread < aligned


def test_a_head_that_always_looks_at_the_same_word_has_no_information():
    source, target = [[4, 9], [5, 9]], [[14, 19], [15, 19]]
    always = [np.array([[[0.0, 1.0], [0.0, 1.0]]])] * 2
    assert lexical_information(always, source, target)[0] == pytest.approx(0, abs=1e-12)


def test_a_row_for_each_head_and_accuracy_for_those_that_cross():
    pairs = Pairs(["red cat"], ["chat rouge"], [[Link((0, 3), (5, 10)), Link((4, 7), (0, 4))]])
    cross = np.array([[np.eye(2)[::-1], np.eye(2)]])  # one layer, two heads
    read = [SimpleNamespace(heads={"decoder": np.tri(2)[None, None] / [[1], [2]], "cross": cross})]
    translator = SimpleNamespace(
        source_vocabulary=Vocabulary.build(pairs.source), target_vocabulary=Vocabulary.build(pairs.target)
    )
    own, crossed, straight = head_table(translator, pairs, read)
    assert (own["attention"], own["layer"], own["head"]) == ("decoder", 1, 1)
    assert own["alignment_accuracy"] is None
    assert own["diagonal"] == pytest.approx(0.75)
    assert own["previous"] == pytest.approx(0.5)
    assert own["entropy"] == pytest.approx(math.log(2) / 2)
    assert (crossed["head"], crossed["alignment_accuracy"], crossed["diagonal"]) == (1, 1, 0)
    assert (straight["head"], straight["alignment_accuracy"], straight["diagonal"]) == (2, 0, 1)
    without = head_table(translator, Pairs(pairs.source, pairs.target), read)
    assert [row["alignment_accuracy"] for row in without] == [None] * 3
    assert head_table(translator, pairs[:0], []) == []
