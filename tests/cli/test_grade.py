import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import keras_attention
from keras_attention.course import catalog
from keras_attention.course.ledger import read_lines

ROOT = Path(keras_attention.__file__).parents[1]
EX01, EX02, *_ = catalog.exercises()
RIGHT = EX01.solution.read_text(encoding="utf-8")
WRONG = RIGHT.replace(" / math.sqrt(query.shape[-1])", "")


def grade(*args, **options):
    command = [sys.executable, "-m", "keras_attention", "grade", *map(str, args)]
    options = {"capture_output": True, "text": True, "check": False} | options
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, **options)


@pytest.fixture
def submissions(tmp_path):
    folder = tmp_path / "submissions"
    texts = {
        "ann": RIGHT,
        "bob": WRONG,
        "=cmd()": "import os; os._exit(0)\n",
        "eve": "def attention(q, k, v:\n",
        "fay": EX01.stub,
        "gus": EX01.stub,
    }
    for name, text in texts.items():
        (folder / name).mkdir(parents=True)
        (folder / name / EX01.path.name).write_text(text, encoding="utf-8")
    (folder / "hal").mkdir()
    (folder / "letter.docx").touch()
    return folder


def rows(out):
    with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def homes():
    return {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("keras-attention-")}


POINTS = {"ann": 6, "bob": None, "=cmd()": 0, "eve": 0, "fay": 0, "gus": 0, "hal": 0}


def test_a_class_is_graded_and_a_second_run_has_nothing_to_do(submissions, tmp_path):
    out = tmp_path / "out"
    args = (submissions, "--out", out, "--workers", 2, "--exercise", "ex01", "--seed", 7, "--json")
    first = grade(*args)
    assert first.returncode == 0, first.stdout + first.stderr
    result = json.loads(first.stdout.splitlines()[-1])
    assert result["seed"] == 7
    assert result["faulty"] == []
    assert "isolation: " in first.stdout
    assert "Ignored, being no .py, .ipynb, .zip or folder: letter.docx." in first.stdout
    assert "6 to judge of 7" in first.stdout  # two untouched stubs are one job
    for student, points in POINTS.items():
        assert points is None or result["students"][student] == points
    assert 0 < result["students"]["bob"] < 6
    causes = {line.student: {v.cause for v in line.verdicts} for line in read_lines(out / "ledger.jsonl")}
    assert causes["=cmd()"] == {"crash"}
    assert causes["eve"] == {"unreadable"}
    assert causes["hal"] == {"missing"}
    assert causes["bob"] == {None, "wrong value"}
    assert "'=cmd()" in rows(out)
    page = (out / "students" / "bob.html").read_text(encoding="utf-8")
    assert "This equals attention without the 1/√d_k" in page
    assert json.loads((out / "results" / "ann" / "results.json").read_text())["score"] == 6

    before = (out / "grades.csv").read_bytes()
    second = grade(*args)
    assert "0 to judge of 7" in second.stdout
    assert (out / "grades.csv").read_bytes() == before

    (submissions / "bob" / EX01.path.name).write_text(RIGHT + "\n", encoding="utf-8")
    assert "1 to judge of 7" in grade(*args).stdout
    assert rows(out)["bob"]["points"] == "6"


def test_a_run_that_was_killed_goes_on(submissions, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "keras_attention", "grade", str(submissions), "--out", str(out)]
    command += ["--workers", "1", "--exercise", "ex01"]
    before = homes()
    process = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    ledger = out / "ledger.jsonl"
    deadline = time.monotonic() + 120
    while not (ledger.exists() and ledger.read_bytes().count(b"\n") >= 2):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {line.student for line in read_lines(ledger)}
    while homes() - before:  # what the killed run's processes had made
        assert time.monotonic() < deadline
        time.sleep(0.1)
    seed = json.loads((out / "run.json").read_text())["seed"]
    again = grade(submissions, "--out", out, "--workers", "1", "--exercise", "ex01", "--json")
    assert again.returncode == 0, again.stderr
    result = json.loads(again.stdout.splitlines()[-1])
    assert result["seed"] == seed
    assert result["students"]["ann"] == 6
    assert len(done) >= 2
    assert len(result["students"]) == 7


def test_shards_make_the_same_grades(submissions, tmp_path):
    common = ("--exercise", "ex01", "--seed", 3, "--workers", 1)
    whole = grade(submissions, "--out", tmp_path / "whole", *common)
    assert whole.returncode == 0
    for number in (1, 2):
        grade(submissions, "--out", tmp_path / f"part{number}", "--shard", f"{number}/2", *common)
    merged = grade("merge", tmp_path / "part1", tmp_path / "part2", "--out", tmp_path / "merged")
    assert merged.returncode == 0, merged.stderr
    assert rows(tmp_path / "merged") == rows(tmp_path / "whole")


QUICK = ("--exercise", "ex01", "--seed", 3, "--workers", 1, "--fresh")  # for what has nothing to run


@pytest.fixture
def empty(tmp_path):
    """Submissions without a file."""
    folder = tmp_path / "submissions"
    for name in ("ann", "bob", "cat", "dan", "eve", "fay"):
        (folder / name).mkdir(parents=True)
    return folder


def test_a_student_stays_in_a_shard_and_a_merge_has_nothing_old(empty, tmp_path):
    parts, merged = [tmp_path / "part1", tmp_path / "part2"], tmp_path / "merged"

    def grade_parts():
        for number, part in enumerate(parts, 1):
            assert grade(empty, "--out", part, "--shard", f"{number}/2", *QUICK).returncode == 0
        return [set(rows(part)) for part in parts]

    before = grade_parts()
    assert all(before)
    assert grade("merge", *parts, "--out", merged).returncode == 0
    assert set(rows(merged)) == before[0] | before[1]
    for name in ("aaa", "bab"):
        (empty / name).mkdir()
    (empty / "cat").rmdir()
    (empty / "dan" / EX01.path.name).write_text("def attention(q:\n", encoding="utf-8")
    after = grade_parts()
    for old, new in zip(before, after, strict=True):
        assert old - {"cat"} == new - {"aaa", "bab"}
    done = grade("merge", *parts, "--out", merged, "--json")
    assert done.returncode == 0, done.stderr
    assert set(rows(merged)) == after[0] | after[1] == set(os.listdir(empty))
    causes = {line.student: line.verdicts[0].cause for line in read_lines(merged / "ledger.jsonl")}
    assert causes == dict.fromkeys(os.listdir(empty), "missing") | {"dan": "unreadable"}
    assert json.loads(done.stdout.splitlines()[-1])["isolation"] == "process-only"


def test_isolation_is_required_of_grades_that_are_there(empty, tmp_path):
    args = (empty, "--out", tmp_path / "out", *QUICK)
    assert grade(*args).returncode == 0
    assert "0 to judge of 6" in grade(*args).stdout
    done = grade(*args, "--require-isolation")
    assert done.returncode == 1
    assert "Isolation is process-only, not full" in done.stderr


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_workers_and_judges_nothing_again(tmp_path):
    folder, out = tmp_path / "submissions", tmp_path / "out"
    (folder / "ann").mkdir(parents=True)
    (folder / "bob").mkdir()
    (folder / "bob" / EX01.path.name).write_text("while True:\n    pass\n", encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "keras_attention", "grade", str(folder), "--out", str(out)]
    command += ["--workers", "1", "--exercise", "ex01", "--seconds", "60"]
    process = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not list(read_lines(out / "ledger.jsonl")):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
        stdout, stderr = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, stderr
    assert "Stopped; the same command goes on from here." in stdout
    assert stdout.count("isolation: ") == 1
    assert [line.student for line in read_lines(out / "ledger.jsonl")] == ["ann"]
    assert not list(temporary.glob("keras-attention-*"))


@pytest.mark.slow
def test_a_fresh_process_a_check_gives_the_same_grades(submissions, tmp_path):
    for name in ("eve", "fay", "gus", "bob"):
        (submissions / name / EX01.path.name).unlink()
    points = []
    for mode in ([], ["--fresh"]):
        out = tmp_path / f"out{len(mode)}"
        done = grade(
            submissions, "--out", out, "--exercise", "ex01", "--seed", 1, "--workers", 1, *mode, "--json"
        )
        points.append(json.loads(done.stdout.splitlines()[-1]))
    assert points[0]["students"] == points[1]["students"]
    assert points[1]["isolation"] == "process-only"


THIEF = """
import sys
found = []
for name in [*sys.path, PLACE]:
    try:
        found.append(open(name + "/alice.py").read())
    except OSError:
        pass
def softmax(x): raise ValueError("found it" if found else "found nothing")
attention = softmax
"""
SHADOW = """
import sys
sys.stderr.write("a submission runs in " + " ".join(sys.orig_argv))
raise SystemExit(3)
"""
CONSOLE = (
    "-c",
    "import sys; sys.orig_argv = ['keras-attention']; from keras_attention import cli; cli.main()",
)


@pytest.mark.parametrize("start", [("-m", "keras_attention"), ("-P", *CONSOLE)], ids=["module", "script"])
def test_the_folder_where_the_grader_is_started_is_neither_imported_nor_read(start, tmp_path):
    folder = tmp_path / "submissions"
    folder.mkdir()
    texts = {"alice": RIGHT, "mallory": THIEF.replace("PLACE", repr(str(folder)))}
    shadows = ["psutil", "keras", "queue", "safetensors"]
    shadows += ["pathlib"] if "-P" in start else []  # `python -m` itself is too early for some
    texts |= dict.fromkeys(shadows, SHADOW)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    command = [sys.executable, *start, "grade", ".", "--out", str(out)]
    done = subprocess.run(
        [*command, "--exercise", "ex01", "--workers", "1", "--json"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "a submission runs" not in done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["students"] == {
        name: 6 * (name == "alice") for name in texts
    }
    verdicts = {line.student: line.verdicts for line in read_lines(out / "ledger.jsonl")}
    if "isolation: full" in done.stdout:
        assert "nothing" in verdicts["mallory"][0].said


@pytest.mark.slow
def test_new_processes_do_not_read_the_folders_of_the_run(tmp_path):
    folder, out = tmp_path / "submissions", tmp_path / "out"
    folder.mkdir()
    (folder / "alice.py").write_text(RIGHT, encoding="utf-8")
    out.mkdir()
    (out / "alice.py").touch()
    for name, place in {"mallory": folder, "oscar": out}.items():
        (folder / f"{name}.py").write_text(THIEF.replace("PLACE", repr(str(place))), encoding="utf-8")
    arguments = ("--exercise", "ex01", "--workers", 1, "--fresh")
    done = grade("submissions", "--out", "out", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    verdicts = {line.student: line.verdicts for line in read_lines(out / "ledger.jsonl")}
    assert all("nothing" in verdicts[name][0].said for name in ("mallory", "oscar"))


def test_a_worker_finds_its_package_where_the_command_did(submissions, tmp_path):
    for name in ("bob", "=cmd()", "eve", "fay", "gus", "hal"):
        shutil.rmtree(submissions / name)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "keras_attention", "grade", str(submissions), "--out", str(out)]
    done = subprocess.run(
        [*command, "--exercise", "ex01", "--workers", "1", "--json"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["students"] == {"ann": 6}


def test_isolation_may_be_required(submissions, tmp_path):
    done = grade(submissions, "--out", tmp_path / "out", "--fresh", "--require-isolation", "--workers", 1)
    assert done.returncode == 1
    assert "Isolation is process-only, not full" in done.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["nowhere", "--out", "out"], "There is no folder nowhere of submissions."),
        ([".", "--out", "out", "--shard", "3/2"], "--shard is 3/2, but must be I/N"),
        ([".", "--out", "out", "--exercise", "ex77"], "No exercise is called ex77"),
        (["merge", ".", "--out", "out"], "is not the --out folder of a run"),
        (["merge", ".", "--out", "."], "--out is ., which is one of the parts"),
    ],
)
def test_wrong_usage_is_a_sentence(args, says, tmp_path):
    done = grade(*args, cwd=tmp_path)
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr
