"""Submissions that mean harm: none gains a point, stops or slows the judge, or leaves anything behind."""

import os
import runpy
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from keras_attention.course import catalog, submission
from keras_attention.course.judge import Judge
from keras_attention.course.sealed.sandbox import Limits
from keras_attention.course.verdict import CAUSES

hostile = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("hostile.py"))))
EX01 = catalog.find("ex01", catalog.exercises())
BODIES = hostile.DIE | hostile.FORGE | hostile.STEAL | hostile.VALUES
CHECK = "test_weights"
LIMITS = Limits(seconds=60.0, memory=2**29)
SHORT = Limits(seconds=2.0, memory=2**29)  # for what is to run out of time


@pytest.fixture(scope="module")
def judge(zygote):
    if zygote.isolation != "full":
        pytest.skip(f"isolation is {zygote.isolation} here")
    return Judge(lambda: zygote.open(LIMITS), seed=11)


@pytest.fixture(scope="module")
def short_judge(zygote):
    return Judge(lambda: zygote.open(SHORT), seed=11)


@pytest.fixture(autouse=True)
def _nothing_is_left_and_the_neighbour_is_right(judge, zygote, alive):
    def files():
        return {(folder, name) for folder in ("/", zygote._home, os.getcwd()) for name in os.listdir(folder)}

    before, children = files(), alive()
    yield
    deadline = time.monotonic() + 10
    while alive() - children and time.monotonic() < deadline:
        time.sleep(0.02)
    assert alive() <= children
    assert files() <= before
    neighbour = judge(EX01, submission.read(EX01.solution), CHECK)
    assert [verdict.state for verdict in neighbour] == ["passed"]


def grade(judge, data, check=CHECK):
    verdicts = judge(EX01, submission.parse("ex01.py", data), check)
    for verdict in verdicts:
        assert (verdict.state, verdict.points) == ("failed", 0)
        assert verdict.cause in CAUSES
    return verdicts


def write(body):
    body = (
        body.format(solution=str(EX01.solution), checks=str(EX01.checks), folder=str(EX01.checks.parent))
        if body in STEALING
        else body
    )
    return f"def softmax(x):\n    {body}\n\n\ndef attention(x, key=None, value=None):\n    {body}\n".encode()


STEALING = {body for body, _ in hostile.STEAL.values()}


@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_submission_gains_nothing_and_has_its_cause(name, judge, short_judge):
    body, causes = BODIES[name]
    began = time.monotonic()
    (verdict,) = grade(short_judge if "time" in causes else judge, write(body))
    assert verdict.cause in causes, (verdict.text.en, verdict.said)
    if verdict.cause == "time":
        assert time.monotonic() - began < SHORT.seconds + 30


@pytest.mark.parametrize("name", hostile.FILES)
def test_a_broken_file_gains_nothing_and_has_its_cause(name, judge, short_judge):
    data, causes = hostile.FILES[name]
    data = data if isinstance(data, bytes) else data.encode()
    (verdict,) = grade(short_judge if "time" in causes else judge, data)
    assert verdict.cause in causes, (verdict.text.en, verdict.said)


def test_hidden_inputs_do_not_reach_the_feedback(judge):
    body, _ = hostile.STEAL["inputs-in-the-error"]
    for verdict in grade(judge, write(body)):
        assert "." in verdict.said
        hidden = verdict.hidden()
        assert not any(digit in hidden.said for digit in "123456789")
        assert len(hidden.said) <= 300
        assert hidden.values == ""


def test_outputs_of_another_seed_are_wrong(judge, zygote):
    """Outputs that were right for the seed of the learner's own checks."""
    recorded = []

    class Recording:
        def __init__(self):
            self.channel = zygote.open(LIMITS)

        def ask(self, request):
            recorded.append(self.channel.ask(request))
            return recorded[-1]

        def close(self):
            self.channel.close()

        output = b""

    assert all(
        verdict.state == "passed"
        for verdict in Judge(Recording, seed=0)(EX01, submission.read(EX01.solution))
    )
    answers = [answer for answer in recorded if len(answer) > 200]
    source = (
        "import sys\n"
        f"ANSWERS = {answers!r}\n"
        "unpack = sys.modules['sealed.values'].unpack\n"
        "count = [0]\n"
        "def softmax(x):\n    count[0] += 1\n    return unpack(ANSWERS[count[0] - 1])['value']\n"
        "def attention(q, k, v):\n    return unpack(ANSWERS[2])['value']\n"
    )
    for verdict in grade(judge, source.encode(), ""):
        assert verdict.cause == "wrong value"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n" + text,
        lambda text: text + "\nif __name__ == '__main__':\n    raise SystemExit\n",
        lambda text: text + "\nprint('x' * 10**6)\nimport warnings; warnings.warn('right all the same')\n",
        lambda text: text + "\nimport sys; sys.stderr.write('1 failed')\n",
    ],
)
def test_right_solutions_in_odd_clothes_pass(change, judge):
    text = change(EX01.solution.read_text(encoding="utf-8"))
    verdicts = judge(EX01, submission.parse("ex01.py", text.encode()))
    assert [verdict.state for verdict in verdicts] == ["passed"] * len(verdicts)


def test_the_suite_has_what_it_should():
    assert len(BODIES) + len(hostile.FILES) >= 42
