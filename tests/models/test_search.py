import itertools

import numpy as np
import pytest
import tensorflow as tf

from keras_attention.models.search import beam_search

B, V, LIMIT, START, END = 3, 4, 5, 0, 1


class Table:
    """A decoder whose logits are drawn for every sentence and history; its attention names both.

    The code of a history y₀ … yₜ₋₁ is the number 1 y₀ … yₜ₋₁ in base V.
    """

    def __init__(self, seed, end_bias=0.0, vocabulary=V, sentences=B, limit=LIMIT):
        rng = np.random.default_rng(seed)
        self.V, self.B = vocabulary, sentences
        self.logits = rng.normal(0, 1.5, (sentences, vocabulary ** (limit + 2), vocabulary)).astype("float32")
        self.logits[..., END] += end_bias

    def step(self, tokens, state):
        sentence, code = state
        code = code * self.V + tokens
        logits = tf.gather_nd(self.logits, tf.stack([sentence, code], -1))
        logits.set_shape((None, self.V))
        return logits, (sentence, code), tf.cast(tf.stack([sentence, code], -1), tf.float32)

    def state(self):
        return tf.range(self.B), tf.ones(self.B, tf.int32)

    def log_p(self, sentence, code):
        logits = self.logits[sentence, code].astype("float64")
        return logits - np.log(np.exp(logits).sum())

    def codes(self, ids):
        """The code before each token of an output."""
        return list(itertools.accumulate(ids[:-1], lambda code, y: code * self.V + y, initial=self.V + START))

    def score(self, sentence, ids):
        return sum(self.log_p(sentence, code)[y] for code, y in zip(self.codes(ids), ids, strict=True))

    def outputs(self, limit, never=()):
        """Every output: up to limit − 1 tokens, then END."""
        others = [y for y in range(self.V) if y != END and y not in never]
        for length in range(limit):
            for ids in itertools.product(others, repeat=length):
                yield [*ids, END]


def search(table, limit, **options):
    limits = np.broadcast_to(limit, (table.B,)).astype("int32")
    found = beam_search(table.step, table.state(), tf.constant(limits), start=START, end=END, **options)
    return [
        (row[: row.index(END) + 1], row, attention, score)
        for row, attention, score in zip(
            found.tokens.numpy().tolist(), found.attention.numpy(), found.score.numpy(), strict=True
        )
    ]


def check(table, found, expected):
    """The ids, their score, what stands after them, and that attention followed them."""
    for sentence, ((ids, row, attention, score), best) in enumerate(zip(found, expected, strict=True)):
        assert ids == best
        assert not any(row[len(ids) :])
        assert score == pytest.approx(table.score(sentence, ids), abs=1e-4)
        assert attention.shape == (len(row), 2)
        np.testing.assert_array_equal(attention[: len(ids), 0], sentence)
        np.testing.assert_array_equal(attention[: len(ids), 1], table.codes(ids))
        assert not attention[len(ids) :].any()


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(("seed", "end_bias"), [(0, 0.0), (1, -3.0), (2, 2.0), (3, -9.0)])
def test_a_beam_of_all_outputs_finds_the_best(seed, end_bias, length_penalty):
    table = Table(seed, end_bias)
    expected = [
        max(table.outputs(LIMIT), key=lambda ids: table.score(i, ids) / len(ids) ** length_penalty)
        for i in range(B)
    ]
    found = search(table, LIMIT, beam_width=128, length_penalty=length_penalty)
    check(table, found, expected)


def test_the_length_penalty_matters():
    table = Table(1, -1.0)
    lengths = [
        sum(len(ids) for ids, *_ in search(table, LIMIT, beam_width=128, length_penalty=p))
        for p in (0.0, 1.0)
    ]
    assert lengths[0] < lengths[1]


def greedy(table, sentence, limit):
    ids, code = [], V + START
    while END not in ids:
        log_p = table.log_p(sentence, code)
        ids.append(END if len(ids) + 1 == limit else int(log_p.argmax()))
        code = code * V + ids[-1]
    return ids


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_beam_of_one_is_greedy(seed, length_penalty):
    table, limits = Table(seed, -1.0), [5, 2, 4]
    expected = [greedy(table, i, limit) for i, limit in enumerate(limits)]
    check(table, search(table, limits, length_penalty=length_penalty), expected)


def by_the_book(table, sentence, limit, K, length_penalty):
    """Beam search as the docstring tells it, one sentence in plain Python, with no early end."""
    beams, finished = [(0.0, [])], []
    for t in range(limit):
        grown = []
        for score, ids in beams:
            code = table.codes([*ids, None])[-1]
            for y, log_p in enumerate(table.log_p(sentence, code)):
                if y == END or t + 1 < limit:
                    grown.append((score + log_p, [*ids, y]))
        grown.sort(key=lambda entry: -entry[0])
        finished += [entry for entry in grown[:K] if entry[1][-1] == END]
        beams = [entry for entry in grown if entry[1][-1] != END][:K]
        if len(finished) >= K:
            break
    return max(finished, key=lambda entry: entry[0] / len(entry[1]) ** length_penalty)[1]


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_a_narrow_beam_by_the_book(seed, K):
    table, limits = Table(seed, -1.5), [5, 3, 4]
    expected = [by_the_book(table, i, limit, K, 0.6) for i, limit in enumerate(limits)]
    check(table, search(table, limits, beam_width=K, length_penalty=0.6), expected)


def test_narrow_beams_differ_from_greedy_somewhere():
    """Else the tests above would compare equal things."""
    tables = [Table(seed, -1.5) for seed in range(4)]
    assert any(by_the_book(table, i, 5, 3, 0.6) != greedy(table, i, 5) for table in tables for i in range(B))


@pytest.mark.parametrize("beam_width", [1, 3, 128])
def test_each_sentence_has_its_limit_where_end_is_forced(beam_width):
    table, limits = Table(7, -30.0), [1, 4, 2]
    found = search(table, limits, beam_width=beam_width)
    assert [len(ids) for ids, *_ in found] == limits
    check(table, found, [ids for ids, *_ in found])
    if beam_width == 128:
        for i, limit in enumerate(limits):
            longest = max(table.outputs(limit), key=lambda ids: table.score(i, ids) / len(ids))
            assert found[i][0] == longest


@pytest.mark.parametrize("beam_width", [1, 2])
def test_what_is_finished_stays_while_others_go_on(beam_width):
    table = Table(8, -30.0)
    table.logits[1, V + START] = [0.0, 6.0, 1.0, 2.0]  # the second sentence ends at once
    found = search(table, LIMIT, beam_width=beam_width)
    assert found[1][0] == [END]
    assert len(found[0][0]) == len(found[2][0]) == LIMIT
    check(table, found, [ids for ids, *_ in found])


@pytest.mark.parametrize("beam_width", [1, 2, 128])
def test_ids_of_never_are_not_written_but_keep_their_probability(beam_width):
    table = Table(9, -1.0)
    table.logits[..., 2] += 4  # the likeliest by far
    found = search(table, LIMIT, beam_width=beam_width, never=(2, START))
    assert not any({2, START} & set(ids) for ids, *_ in found)
    check(table, found, [ids for ids, *_ in found])
    if beam_width == 128:
        outputs = list(table.outputs(LIMIT, never=(2, START)))
        for i in range(B):
            assert found[i][0] == max(outputs, key=lambda ids: table.score(i, ids) / len(ids))


@pytest.mark.parametrize("beam_width", [1, 3])
def test_logits_that_are_no_numbers_have_no_score(beam_width):
    table = Table(5, -1.0)
    expected = search(table, LIMIT, beam_width=beam_width)
    table.logits[1] = np.nan
    found = search(table, LIMIT, beam_width=beam_width)
    assert found[1][0] == [END]
    assert np.isnan(found[1][3])
    for i in (0, 2):
        assert found[i][0] == expected[i][0]
        assert found[i][3] == expected[i][3]


def test_in_a_graph_with_another_vocabulary():
    table = Table(3, -1.0, vocabulary=5, sentences=2, limit=4)
    function = tf.function(
        lambda limit: beam_search(table.step, table.state(), limit, start=START, end=END, beam_width=256)
    )
    found = function(tf.constant([4, 3]))
    for i, limit in enumerate((4, 3)):
        best = max(table.outputs(limit), key=lambda ids: table.score(i, ids) / len(ids))
        assert found.tokens[i].numpy().tolist()[: len(best)] == best
        assert float(found.score[i]) == pytest.approx(table.score(i, best), abs=1e-4)
