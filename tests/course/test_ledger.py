import dataclasses
import shutil
from pathlib import Path

import pytest

from keras_attention.course import catalog, ledger
from keras_attention.course.ledger import Ledger, Line, code, key, merge, read_facts, record
from keras_attention.course.places import PACKAGE
from keras_attention.course.sealed.sandbox import LAYERS
from keras_attention.course.submission import Submission
from keras_attention.course.verdict import Failure, Text, Verdict

EX01 = catalog.exercises()[0]
FACTS = {"seed": 7, "seconds": 10.0, "versions": {"keras": "3.1", "grader": "ab"}}


def line(student, exercise="ex01", name="key", layers=LAYERS):
    verdict = Verdict(exercise, "test_x", Text("title", "题"), 2, 2, "passed", 0.5)
    return Line(student, exercise, name, (verdict,), 0.5, layers=layers)


@pytest.fixture
def part(tmp_path):
    """part(name, lines, wanted, **facts): the --out folder of a run."""

    def part(name, lines, wanted=None, **facts):
        folder = tmp_path / name
        book = Ledger(folder / "ledger.jsonl")
        for item in lines:
            book.add(item)
        book.close()
        if wanted is None:
            wanted = {item.student: {item.exercise: item.key} for item in lines}
        record(folder, **FACTS | facts, wanted=wanted)
        return folder

    return part


def test_a_merge_takes_what_the_last_runs_asked_for(part, tmp_path):
    old, new = line("ann", name="old"), line("ann", name="new")
    first = part("first", [line("gone"), old, new], {"ann": {"ex01": "new"}})
    second = part("second", [old, line("ann", "ex02"), line("bob")], {"bob": {"ex01": "key"}})
    out = part("out", [line("left from before")])
    assert merge([first, second], out) == [new, line("bob")]
    assert list(ledger.read_lines(out / "ledger.jsonl")) == [new, line("bob")]
    wanted = {"ann": {"ex01": "new"}, "bob": {"ex01": "key"}}
    assert read_facts(out) == FACTS | {"wanted": wanted}
    assert merge([out], tmp_path / "again") == [new, line("bob")]


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"seed": 8}, "a and {b} differ in seed (7 and 8)"),
        ({"seconds": 9.0}, "a and {b} differ in seconds (10.0 and 9.0)"),
        ({"fresh": True}, "a and {b} differ in fresh (None and True)"),
        ({"versions": {"keras": "3.2", "grader": "ab"}}, "a and {b} differ in keras (3.1 and 3.2)"),
        ({"seed": 8, "versions": {"keras": "3.1", "grader": "cd"}}, "seed (7 and 8), grader (ab and cd)"),
    ],
)
def test_parts_that_were_graded_differently_are_not_merged(part, tmp_path, facts, says):
    parts = [part("a", [line("ann")]), part("b", [line("bob")], **facts)]
    with pytest.raises(ValueError, match="grade all parts in the same way") as error:
        merge(parts, tmp_path / "out")
    assert says.format(b=parts[1]) in str(error.value)
    assert not (tmp_path / "out").exists()


def test_parts_may_differ_in_isolation(part, tmp_path):
    parts = [part("a", [line("ann")], isolation="full"), part("b", [line("bob")], isolation="partial")]
    assert len(merge(parts, tmp_path / "out")) == 2


def test_parts_that_are_not_complete_or_not_apart_are_not_merged(part, tmp_path):
    whole, other = part("a", [line("ann")]), part("b", [line("ann")])
    stopped = part("c", [line("cat", name="old")], {"cat": {"ex01": "new"}})
    for parts, out, says in (
        ([whole, stopped], tmp_path / "out", "was stopped: give its command again"),
        ([whole, other], tmp_path / "out", "'ann' is in .*b and in a part before"),
        ([whole, tmp_path], tmp_path / "out", "is not the --out folder of a run"),
        ([whole, stopped], tmp_path / "x" / ".." / "a", "which is one of the parts"),
    ):
        with pytest.raises(ValueError, match=says):
            merge(parts, out)


def test_what_is_recorded_of_a_run_is_never_half_written(tmp_path, monkeypatch):
    record(tmp_path, seed=7)
    whole = Path.write_text

    def killed(path, text, **options):
        whole(path, text[:5], **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        record(tmp_path, seed=8)
    assert read_facts(tmp_path) == {"seed": 7}


def test_the_layers_of_a_report_are_those_of_all_its_grades():
    lines = [line("ann"), line("bob", layers=("files", "limits"))]
    assert ledger.layers(lines) == ["files", "limits"]
    assert ledger.layers(lines[:1]) == list(LAYERS)
    assert ledger.layers([*lines, line("cat", layers=())]) == []
    assert [item.isolation for item in lines] == ["full", "partial"]


def test_a_line_keeps_its_layers_and_an_older_one_has_none():
    values = line("ann").to_json()
    assert Line.from_json(values) == line("ann")
    del values["layers"]
    assert Line.from_json(values).isolation == "process-only"


def test_a_key_is_of_all_that_a_result_depends_on(monkeypatch):
    fault = Failure("unreadable", Text("a", "b"))
    plain = Submission("a.py", "x = 1")
    others = [
        dataclasses.replace(plain, filename="b.py"),
        dataclasses.replace(plain, source="x = 2"),
        dataclasses.replace(plain, places=("in cell 1, line 1",)),
        dataclasses.replace(plain, fault=fault),
        dataclasses.replace(plain, fault=Failure("unreadable", Text("a", "b"), line=3)),
    ]
    keys = [key(EX01, item, ["settings"]) for item in [plain, *others]]
    keys += [key(EX01, plain, ["other settings"]), key(catalog.exercises()[1], plain, ["settings"])]
    assert key(EX01, Submission("a.py", "x = 1"), ["settings"]) == keys[0]
    monkeypatch.setattr(ledger, "versions", lambda: {"grader": "other"})
    keys.append(key(EX01, plain, ["settings"]))
    assert len(set(keys)) == len(keys)


def test_versions_name_the_grader_s_own_code(tmp_path):
    copy = tmp_path / "course"
    shutil.copytree(PACKAGE / "course", copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert ledger.versions()["grader"] == code(copy)
    for file in ("rules.py", "sealed/servant.py"):
        before = code(copy)
        with (copy / file).open("a", encoding="utf-8") as text:
            text.write("# changed\n")
        assert code(copy) != before
