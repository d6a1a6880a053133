"""The BLEU that the learner writes is that of sacreBLEU."""

import runpy

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from keras_attention.course.places import content

END = 2


@pytest.mark.parametrize("seed", range(5))
def test_the_solution_agrees_with_sacrebleu(seed):
    bleu = runpy.run_path(str(content("solutions") / "ex09_loss_and_bleu.py"))["bleu"]
    rng = np.random.default_rng(seed)
    references = [rng.integers(3, 8, size=length).tolist() for length in 5 + rng.permutation(9)]
    written = [rng.permutation(words[:4]).tolist() + words[4 : 12 - seed] for words in references]

    def as_text(sentences):
        return [" ".join(map(str, words)) for words in sentences]

    right = BLEU(tokenize="none", smooth_method="none", force=True)
    expected = right.corpus_score(as_text(written), [as_text(references)]).score
    got = bleu(*([[*words, END, 0] for words in side] for side in (written, references)), end=END)
    assert 0 < got < 100
    np.testing.assert_allclose(got, expected)
