import io
import json
import re
import signal
import subprocess
import sys
import threading

import pytest

from keras_attention.course import catalog, grading, worker
from keras_attention.course.channels import InPlace
from keras_attention.course.entries import Entry
from keras_attention.course.forked import PATIENCE
from keras_attention.course.grading import Job, Settings, plan, run
from keras_attention.course.ledger import Ledger, Line
from keras_attention.course.sealed.sandbox import LAYERS
from keras_attention.course.submission import Submission
from keras_attention.course.verdict import Text, Verdict

EXERCISES = catalog.exercises()
EX01 = EXERCISES[0]
PASSED = Verdict(EX01.name, "test_x", Text("title", "题"), 2, 2, "passed", 0.5)

# a worker that does as a file says, a line for each of its lives: its layers, then its answers
STAND_IN = """
import json, pathlib, sys
script = pathlib.Path(sys.argv[1])
life, _, rest = script.read_text("utf-8").partition("\\n")
script.write_text(rest, "utf-8")
layers, *answers = json.loads(life)
sys.stdin.readline()
print(json.dumps({"isolation": "full" if layers else "process-only", "layers": layers}), flush=True)
for _ in sys.stdin:
    answer = answers.pop(0)
    if answer is not None:
        print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def lives(tmp_path, monkeypatch):
    """lives(life, …): what workers do, one after the other; see `STAND_IN`. It gives their processes."""
    script, popen, processes = tmp_path / "script", subprocess.Popen, []

    def start(command, **options):
        processes.append(popen([sys.executable, "-c", STAND_IN, str(script)], **options))
        return processes[-1]

    def lives(*lives):
        script.write_text("".join(json.dumps(life) + "\n" for life in lives), "utf-8")
        return processes

    monkeypatch.setattr(subprocess, "Popen", start)
    return lives


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    yield ledger
    ledger.close()


ANSWER = {"verdicts": [PASSED.to_json()]}
FAULT = {"fault": "boom"}
ERROR = {"verdicts": [Verdict(EX01.name, "x", Text("", ""), 0, 0, "error", 0, said="boom").to_json()]}


def jobs(*students):
    return [Job(EX01, Submission("a.py", f"x = '{student}'"), student, [student]) for student in students]


@pytest.mark.parametrize("failure", [FAULT, ERROR])
def test_after_a_fault_a_new_worker_judges_and_its_layers_are_noted(lives, ledger, failure):
    lives([LAYERS, ANSWER, failure], [["limits"], ANSWER])
    seen = []
    run(jobs("ann", "bob"), Settings(1), 1, ledger, lambda worker: seen.append(worker.layers), lambda _: None)
    assert seen == [LAYERS, ("limits",)]
    assert {line.student: line.layers for line in ledger.lines.values()} == {
        "ann": LAYERS,
        "bob": ("limits",),
    }
    assert not any(line.faulty for line in ledger.lines.values())


def test_a_worker_that_was_started_again_may_be_refused(lives, ledger):
    lives([LAYERS, FAULT], [[], ANSWER, ANSWER])

    def ready(worker):
        if worker.isolation != "full":
            raise ValueError("not full")

    with pytest.raises(ValueError, match="not full"):
        run(jobs("ann", "bob"), Settings(1), 1, ledger, ready, lambda _: None)
    assert ledger.lines == {}


def test_what_fails_twice_is_noted_as_the_grader_s_fault(lives, ledger):
    lives([LAYERS, FAULT], [LAYERS, ERROR], [LAYERS, ANSWER])
    run(jobs("ann", "bob"), Settings(1), 1, ledger, lambda _: None, lambda _: None)
    assert {line.student: line.faulty for line in ledger.lines.values()} == {"ann": True, "bob": False}


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signal can be sent to a thread")
@pytest.mark.usefixtures("interruptible")
def test_a_run_that_is_interrupted_ends_its_workers_and_judges_nothing_again(lives, ledger):
    processes = lives([LAYERS, ANSWER, None], [LAYERS, ANSWER])

    def interrupt(job):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(jobs("ann", "bob"), Settings(1), 1, ledger, lambda _: None, interrupt)
    assert [line.student for line in ledger.lines.values()] == ["ann"]
    assert [process.poll() is None for process in processes] == [False]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name[:4])
@pytest.mark.parametrize("settings", [Settings(1), Settings(1, 100), Settings(1, 100, fresh=True)])
def test_a_worker_may_take_the_time_of_all_checks_together_and_of_each_alone(exercise, settings):
    checks = re.findall("^def test_", exercise.checks.read_text("utf-8"), re.MULTILINE)
    longest = (1 + PATIENCE) * settings.seconds
    assert len(checks) >= 2
    assert grading.patience(exercise, settings) > (1 + len(checks)) * longest


def test_a_sandbox_that_changes_is_the_grader_s_fault(monkeypatch):
    class Changing:
        """A zygote that has other layers from its second child on."""

        isolation, layers, children = "full", LAYERS, 0

        def __init__(self, layers):
            pass

        def open(self, limits):
            self.children += 1
            if self.children > 1:
                self.layers = ("limits",)
            return InPlace()

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    monkeypatch.setattr(worker, "Zygote", Changing)
    monkeypatch.setattr(sys, "platform", "linux")
    source = EX01.solution.read_text(encoding="utf-8")
    job = {"exercise": EX01.name, "submission": Submission("a.py", source).to_json()}
    requests = [Settings(1).to_json(), job, job]
    answers = io.StringIO()
    worker.serve(io.StringIO("".join(json.dumps(request) + "\n" for request in requests)), answers)
    hello, *verdicts = map(json.loads, answers.getvalue().splitlines())
    assert hello == {"isolation": "full", "layers": list(LAYERS)}
    states = [{verdict["state"] for verdict in answer["verdicts"]} for answer in verdicts]
    assert states == [{"passed"}, {"error"}]


def test_under_required_isolation_only_grades_of_full_isolation_count(tmp_path, ledger):
    folders = [tmp_path / name for name in ("ann", "bob", "cat", "dan")]
    for folder in folders:
        folder.mkdir()
        (folder / EX01.path.name).write_text("x = 1", encoding="utf-8")
    (tmp_path / "dan" / EX01.path.name).write_text("x = 2", encoding="utf-8")
    students = [Entry(folder) for folder in folders]
    _, wanted = plan(students, [EX01], ledger, [])
    for name, layers in (("ann", LAYERS), ("bob", ("limits",)), ("dan", ("files", "calls"))):
        ledger.add(Line(name, EX01.name, wanted[name][EX01.name], (PASSED,), layers=layers))

    left, again = plan(students[:2], [EX01], ledger, [])
    assert (left, list(again)) == ([], ["ann", "bob"])
    left, again = plan(students, [EX01], ledger, [], isolated=True)
    assert again == wanted
    assert [job.students for job in left] == [["dan"]]
    # the others handed in what ann did
    assert {name: line.isolation for (name, _), line in ledger.lines.items()} == {
        "ann": "full",
        "bob": "full",
        "cat": "full",
        "dan": "partial",
    }
