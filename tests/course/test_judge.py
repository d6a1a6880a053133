import io
import json
import threading
from pathlib import Path

import numpy as np
import pytest

from keras_attention.course import catalog, grading, submission, worker
from keras_attention.course.bank import Mistake, read_mistakes
from keras_attention.course.catalog import Exercise
from keras_attention.course.channels import Ended, InPlace
from keras_attention.course.fresh import Fresh
from keras_attention.course.judge import Judge
from keras_attention.course.sealed import values
from keras_attention.course.sealed.sandbox import Limits
from keras_attention.course.student import Student, read_answer
from keras_attention.course.submission import Submission
from keras_attention.course.verdict import Failure, GraderFault, Text, Verdict

EXERCISES = catalog.exercises()
EX01 = EXERCISES[0]
BANK = [(exercise, mistake) for exercise in EXERCISES for mistake in read_mistakes(exercise.mistakes)]

CHECKS = '''
import numpy as np
import pytest
from keras_attention.course.checks import equal

HINTS = [("one", "一"), ("two", "二"), ("three", "三")]


@pytest.mark.check(points=2, hints=HINTS)
def test_double(student, rng):
    """Twice.

    两倍。
    """
    x = rng.normal(size=(2, 3))
    equal(student.call("double", x), 2 * x, "result")


@pytest.mark.check(points=1, hints=HINTS)
def test_broken(student):
    """Broken.

    坏的。
    """
    student.call("double", np.ones(3))
    raise KeyError("a mistake of the author")
'''


@pytest.fixture
def exercise(tmp_path):
    (tmp_path / "checks").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "checks" / "test_ex99_double.py").write_text(CHECKS, encoding="utf-8")
    return Exercise("ex99_double", tmp_path)


@pytest.fixture
def judge(monkeypatch):
    monkeypatch.setattr(Judge, "diagnose", lambda *arguments: None)
    return Judge(InPlace)


def test_points_titles_and_the_grader_s_own_fault(exercise, judge):
    right, broken = judge(exercise, Submission("a.py", "def double(x): return 2 * x"))
    assert (right.state, right.points, right.max_points) == ("passed", 2, 2)
    assert right.title == Text("Twice.", "两倍。")
    assert (broken.state, broken.points) == ("error", 0)
    assert "a mistake of the author" in broken.said


def test_the_machinery_of_tensorflow_is_left_out_of_its_messages(exercise, judge):
    message = (
        r"\x1b[1m{{function_node __wrapped__RealDiv_device_/job:localhost/replica:0/device:CPU:0}} "
        r"Incompatible shapes: [2,3,5] vs. [2,3] [Op:RealDiv] name: \x1b[0m"
    )
    wrong, _ = judge(exercise, Submission("a.py", f'def double(x): raise ValueError("{message}")'))
    assert wrong.said == "Incompatible shapes: [2,3,5] vs. [2,3]"


def test_weights_of_a_wrong_shape_and_a_limit_of_time_are_named_in_both_languages():
    error = {"cause": "wrong value", "kind": "WrongWeights", "line": None}
    answer = values.pack({"error": error | {"message": "w_query has the shape (8, 6), not (8, 18)"}})
    with pytest.raises(Failure) as failure:
        read_answer(answer)
    assert failure.value.text == Text(
        "w_query has the shape (8, 6), not (8, 18).", "权重 w_query 的形状是 (8, 6)，应为 (8, 18)。"
    )

    class Slow(InPlace):
        def ask(self, request):
            raise Ended("time", seconds=2.5)

    with pytest.raises(Failure) as failure:
        Student(Slow, "", "a.py").call("f")
    assert failure.value.text.en == "It takes longer than the 2.5 s that it may."


def test_an_error_is_placed_in_both_languages():
    answer = values.pack({"error": {"cause": "exception", "kind": "ValueError", "line": 2, "message": "no"}})
    cell = [Text("", ""), Text("cell 3, line 4", "第 3 个代码单元第 4 行")]
    for places, text in (
        ((), Text("It raises ValueError in line 2.", "第 2 行抛出 ValueError。")),
        (cell, Text("It raises ValueError in cell 3, line 4.", "第 3 个代码单元第 4 行抛出 ValueError。")),
    ):
        with pytest.raises(Failure) as failure:
            read_answer(answer, places)
        assert failure.value.text == text


GARBLED = {"cause": "time", "kind": "E", "message": "", "line": None}


@pytest.mark.parametrize(
    "content",
    [
        None,
        "value",
        ["value"],
        [np.ones(3), "value"],
        np.ones(3),
        {},
        {"error": None},
        {"error": np.ones(3)},
        *({"error": GARBLED | {name: np.ones(3)}} for name in ("cause", "kind", "message")),
        *({"error": GARBLED | {name: [{}]}} for name in ("kind", "message")),
    ],
)
def test_an_answer_of_no_known_form_is_the_submission_s_failure(content):
    with pytest.raises(Failure) as failure:
        read_answer(values.pack(content))
    assert failure.value.cause == "wrong value"


def test_an_error_keeps_what_can_be_read_of_it():
    with pytest.raises(Failure) as failure:
        read_answer(values.pack({"error": GARBLED | {"cause": ["?"], "kind": "<b>", "line": np.ones(3)}}))
    assert (failure.value.cause, failure.value.line) == ("exception", None)


def test_a_fault_keeps_what_the_exercise_is_worth():
    class Broken:
        def judge(self, exercise, submission):
            raise GraderFault("no answer")

    for exercise in EXERCISES:
        (verdict,) = grading._judge(
            Broken(), grading.Job(exercise, Submission("a.py"), "key"), threading.Event()
        )
        worth = sum(verdict.max_points for verdict in Judge(InPlace)(exercise, submission.missing("a", [])))
        assert (verdict.state, verdict.points, verdict.max_points) == ("error", 0, worth)


def test_every_text_has_inputs_of_its_own_and_always_the_same(exercise):
    exercise.checks.write_text(TWICE, encoding="utf-8")

    def said(source, seed):
        job = {"exercise": exercise.name, "submission": Submission("a.py", source).to_json()}
        answers = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(catalog, "exercises", lambda: [exercise])
            worker._serve([json.dumps(job)], answers, seed, InPlace, "full", [])
        (verdict,) = json.loads(answers.getvalue().splitlines()[-1])["verdicts"]
        return verdict["said"]

    source = "def double(x):\n    raise ValueError(x.tobytes().hex())"
    assert said(source, 1) == said(source, 1)
    assert len({said(source, 1), said(source, 2), said(source + "\n", 1)}) == 3


def test_a_failure_has_hints_and_values(exercise, judge):
    wrong, _ = judge(exercise, Submission("a.py", "def double(x): return x"))
    assert (wrong.state, wrong.points, wrong.cause) == ("failed", 0, "wrong value")
    assert wrong.hints == (Text("one", "一"), Text("two", "二"), Text("three", "三"))
    assert "not" in wrong.values


def test_verdicts_travel_as_json(exercise, judge):
    for verdict in judge(exercise, Submission("a.py", "def double(x): return x")):
        assert Verdict.from_json(verdict.to_json()) == verdict


def test_checks_that_do_not_run_are_the_grader_s_fault(exercise, judge):
    exercise.checks.write_text("import nothing_of_that_name\n")
    with pytest.raises(GraderFault, match="nothing_of_that_name"):
        judge(exercise, Submission("a.py", "x = 1"))


def test_a_run_that_ends_early_is_the_grader_s_fault(three_checks, monkeypatch):
    end = "\n\ndef test_end():\n    pytest.exit('enough')\n"
    three_checks.checks.write_text(three_checks.checks.read_text("utf-8") + end, encoding="utf-8")
    with pytest.raises(GraderFault, match="do not run"):
        Judge(lambda: InPlace())(three_checks, Submission("a.py", "double = lambda x: 2 * x"))


def test_no_file_beside_the_checks_changes_the_run(exercise, judge):
    (exercise.folder / "conftest.py").write_text("raise SystemExit\n")
    (exercise.folder / "checks" / "conftest.py").write_text("raise SystemExit\n")
    assert judge(exercise, Submission("a.py", "def double(x): return 2 * x"))[0].state == "passed"


def test_the_seed_decides_on_the_inputs(exercise, judge):
    seen = []
    for seed in (1, 1, 2):
        judge.seed = seed
        source = "seen = []\ndef double(x):\n    raise ValueError(str(x[0, 0]))"
        seen.append(judge(exercise, Submission("a.py", source))[0].said)
    assert seen[0] == seen[1] != seen[2]


def test_hidden_verdicts_say_no_values(exercise, judge):
    wrong = judge(exercise, Submission("a.py", "def double(x): return x + 0.001"))[0]
    hidden = wrong.hidden()
    assert wrong.values
    assert hidden.values == ""
    assert hidden.text == wrong.text


TWICE = CHECKS.split("@pytest.mark.check(points=1")[0]


@pytest.fixture
def three_checks(exercise):
    """Three times the same check."""
    first = TWICE.index("@pytest.mark.check")
    checks = [TWICE[first:].replace("test_double", f"test_double_{i}") for i in range(3)]
    exercise.checks.write_text(TWICE[:first] + "".join(checks), encoding="utf-8")
    return exercise


@pytest.fixture
def counting():
    """A judge that counts the processes it opens."""

    class Counting(Judge):
        opened = 0

    def open_channel():
        Counting.opened += 1
        return InPlace()

    return Counting(open_channel)


@pytest.mark.parametrize(
    ("source", "state", "processes"),
    [
        ("double = lambda x: 2 * x", "passed", 1),
        # the second and the third fail in company: each is judged alone, where it is right
        ("old = []\ndef double(x):\n    old.append(x)\n    return 2 * old[0]", "passed", 3),
        # what is wrong at first is wrong in every process
        ("old = []\ndef double(x):\n    old.append(x)\n    return (len(old) < 2) + 2 * x", "failed", 3),
        ("double = lambda x: x", "failed", 3),
    ],
)
def test_checks_share_a_process_until_one_does_not_pass(
    three_checks, counting, monkeypatch, source, state, processes
):
    monkeypatch.setattr(Judge, "diagnose", lambda *arguments: None)
    verdicts = counting(three_checks, Submission("a.py", source))
    assert [verdict.check for verdict in verdicts] == [f"test_double_{i}" for i in range(3)]
    assert {verdict.state for verdict in verdicts} == {state}
    assert counting.opened == processes


def test_a_check_whose_name_begins_with_another_s_is_judged_as_well(three_checks, monkeypatch):
    monkeypatch.setattr(Judge, "diagnose", lambda *arguments: None)
    text = three_checks.checks.read_text("utf-8").replace("test_double_0", "test_double")
    three_checks.checks.write_text(text, encoding="utf-8")
    right_once = "old = []\ndef double(x):\n    old.append(x)\n    return 2 * old[0]"
    verdicts = Judge(lambda: InPlace())(three_checks, Submission("a.py", right_once))
    assert [verdict.check for verdict in verdicts] == ["test_double", "test_double_1", "test_double_2"]


@pytest.mark.parametrize("factor", ["2", "2 if x.sum() > 0 else 3"])
def test_what_is_printed_is_kept_once_a_check(three_checks, zygote, monkeypatch, factor):
    monkeypatch.setattr(Judge, "diagnose", lambda *arguments: None)
    judge = Judge(lambda: zygote.open(Limits(60)), seed=1)
    verdicts = judge(
        three_checks, Submission("a.py", f"def double(x):\n    print('hi')\n    return ({factor}) * x")
    )
    assert len({verdict.state for verdict in verdicts}) == (1 if factor == "2" else 2)
    assert judge.output == 3 * "hi\n"


def test_an_edit_that_fits_nowhere_is_the_grader_s_fault():
    mistake = Mistake("x", fails="y", edits={"nowhere": ""}, en="", zh="")
    with pytest.raises(GraderFault, match="0 times"):
        mistake.source("somewhere")


def test_the_judge_loads_neither_keras_nor_tensorflow():
    import subprocess
    import sys

    code = (
        "import sys; sys.orig_argv = ['python', 'keras-attention']\n"
        "from keras_attention.course import worker, workspace, grading, reports, progress\n"
        "print({'keras', 'tensorflow', 'torch', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.fixture(scope="module")
def judges(zygote):
    """In place, in the sandbox, in new processes. They keep what known mistakes give."""

    def sandbox():
        return zygote.open(Limits(60))

    fresh = Judge(lambda: Fresh(Limits(60)), seed=5, open_mistakes=sandbox)
    return {"in place": Judge(InPlace, seed=5), "sandbox": Judge(sandbox, seed=5), "fresh": fresh}


def verdict(judge, exercise, mistake):
    source = mistake.source(exercise.solution.read_text(encoding="utf-8"))
    (verdict,) = judge(exercise, Submission("a.py", source), mistake.fails)
    return verdict.state, verdict.cause, verdict.text, verdict.mistake, verdict.points


@pytest.mark.parametrize(("exercise", "mistake"), BANK, ids=[f"{e.name[:4]}-{m.name}" for e, m in BANK])
def test_the_sandbox_gives_the_same_verdict_as_in_place(exercise, mistake, judges):
    assert verdict(judges["sandbox"], exercise, mistake) == verdict(judges["in place"], exercise, mistake)


RIGHT = sorted((Path(__file__).parents[1] / "exercises" / "right").glob("*/*.py"))


def is_right(judge, path):
    exercise = catalog.find(path.parent.name, EXERCISES)
    verdicts = judge(exercise, submission.read(path))
    assert [(v.check, v.text, v.said) for v in verdicts if v.state != "passed"] == []


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: f"{path.parent.name[:4]}-{path.stem}")
def test_what_is_right_in_place_is_right_in_the_sandbox(path, judges):
    is_right(judges["sandbox"], path)


@pytest.mark.parametrize("path", [path for path in RIGHT if "@tf.function" in path.read_text("utf-8")])
def test_a_loop_over_a_tensor_is_right_in_a_new_process(path, judges):
    is_right(judges["fresh"], path)


ONE_A_CHECK = {(exercise.name, mistake.fails): (exercise, mistake) for exercise, mistake in BANK}


@pytest.mark.slow  # a new process has Keras to start
@pytest.mark.parametrize(("exercise", "mistake"), ONE_A_CHECK.values(), ids=map("-".join, ONE_A_CHECK))
def test_a_new_process_gives_the_same_verdict_as_in_place(exercise, mistake, judges):
    assert verdict(judges["fresh"], exercise, mistake) == verdict(judges["in place"], exercise, mistake)


OWN = '''
import keras, math
import tensorflow as tf
from keras import ops

@keras.saving.register_keras_serializable("mine")
class Attention(keras.layers.Layer):
    """Has the name of a built-in layer, and all that a layer is made of."""

    def __init__(self, **options):
        super().__init__(**options)
        self.dense = keras.layers.EinsumDense("btd,de->bte", (None, 4), kernel_initializer="ones")
        self.rest = [keras.layers.Dense(4), keras.layers.LayerNormalization(), keras.layers.Dropout(0.1)]

    def call(self, x):
        for layer in self.rest:
            layer(x)
        return dot_product_attention(x, x, self.dense(x))

@tf.function
def dot_product_attention(q, k, v):
    scores = ops.matmul(q, ops.swapaxes(k, 1, 2)) / math.sqrt(4)
    return ops.einsum("bqk,bkd->bqd", ops.softmax(scores), v)

def double(x):
    from scipy.special import softmax
    layer = Attention.from_config(Attention().get_config())
    layer = keras.layers.deserialize(keras.layers.serialize(layer))
    inputs = keras.Input((None, 4))
    keras.Model(inputs, layer(inputs)).predict(ops.ones((1, 2, 4)), verbose=0)
    keras.Sequential([keras.layers.Dense(1)])(x)
    return 2 * x * ops.convert_to_numpy(layer(ops.ones((1, 2, 4))))[0, 0, 0] / 4 * softmax([1.0])
'''


def test_what_is_allowed_works_where_built_ins_are_taken_away(exercise, zygote):
    exercise.checks.write_text(TWICE, encoding="utf-8")
    (verdict,) = Judge(lambda: zygote.open(Limits(60)))(exercise, Submission("a.py", OWN))
    assert verdict.state == "passed", (verdict.text, verdict.said)


def test_the_solution_passes_in_the_sandbox(zygote):
    for exercise in EXERCISES:
        verdicts = Judge(lambda: zygote.open(Limits(60)))(exercise, submission.read(exercise.solution))
        assert {verdict.state for verdict in verdicts} == {"passed"}
