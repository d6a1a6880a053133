import csv
import dataclasses
import json
import unicodedata
from pathlib import Path

import jsonschema
import pytest

from keras_attention.course import reports
from keras_attention.course.ledger import Ledger, Line, read_lines
from keras_attention.course.similarity import pairs
from keras_attention.course.verdict import Text, Verdict

SCHEMAS = Path(__file__).with_name("schemas")
NASTY = '=HYPERLINK("http://x")<script>alert(1)</script>'


def verdict(state="failed", exercise="ex02_masks", **facts):
    passed = state == "passed"
    facts = {"text": None if passed else Text("wrong", "不对")} | facts
    cause = None if state != "failed" else "wrong value"
    return Verdict(exercise, "test_x", Text("title", "题"), 2 * passed, 2, state, 0.5, cause, **facts)


def line(student, *verdicts, exercise="ex02_masks", **facts):
    return Line(student, exercise, "key", verdicts, 0.5, **facts)


@pytest.fixture
def written(tmp_path):
    lines = [
        line(NASTY, verdict(said=NASTY, diagnosis=Text(NASTY, "不对"), mistake="m"), review=(NASTY,)),
        line("bob", verdict("passed"), verdict("failed", hints=(Text("look", "看"),))),
        line("eve", Verdict("ex02_masks", "", Text("", ""), 0, 0, "error", 0, said="boom")),
        line("../up", verdict("passed")),
    ]
    reports.write_all(lines, tmp_path, {"isolation": "full", "versions": "1"})
    return tmp_path


def test_no_cell_is_a_formula_and_a_fault_is_no_zero(written):
    with (written / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert "'" + NASTY in rows
    assert rows["bob"]["ex02_masks"] == "2"
    assert (rows["eve"]["ex02_masks"], rows["eve"]["state"]) == ("", "error")
    for row in rows.values():
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row.values())


@pytest.mark.parametrize("first", "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
def test_no_name_begins_a_formula(first, tmp_path):
    reports.write_csv(reports.students([line(f"{first}1+1", verdict())]), tmp_path / "grades.csv")
    with (tmp_path / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        assert next(csv.DictReader(file))["student"] == f"'{first}1+1"


def test_pages_are_escaped_and_stay_in_their_folder(written):
    pages = list(written.rglob("*.html"))
    assert len(pages) == 5
    assert not list(written.parent.glob("up*"))
    for page in pages:
        assert "<script>" not in page.read_text(encoding="utf-8")
    text = (written / "class.html").read_text(encoding="utf-8")
    assert "ex02_masks test_x" in text
    for both in ("4 students · 4 名学生", "points · 分数", "error · 出错"):
        assert both in text


def test_hints_are_shown_for_what_was_tried_and_not_for_what_is_missing(tmp_path):
    tried = verdict(hints=(Text("look at the axis", "看看轴"),))
    missing = dataclasses.replace(tried, cause="missing", text=Text("There is no file.", "没有文件。"))
    reports.write_all(
        [line("ann", tried), line("bob", missing)], tmp_path, {"isolation": "full", "versions": "1"}
    )
    ann, bob = ((tmp_path / "students" / f"{name}.html").read_text("utf-8") for name in ("ann", "bob"))
    assert "look at the axis" in ann
    assert "看看轴" in ann
    assert "There is no file." in bob
    assert "look at the axis" not in bob
    assert "看看轴" not in bob


def test_lines_for_programs(written):
    rows = [json.loads(row) for row in (written / "grades.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["student"]: row["points"] for row in rows} == {NASTY: 0, "bob": 2, "eve": 0, "../up": 2}
    assert all("source" not in row for row in rows)


EVERY_STATE = [
    line(
        "bob", verdict("passed"), verdict(), verdict(hints=(Text("look", "看"),), diagnosis=Text("d", "诊"))
    ),
    line("bob", verdict("passed", "ex03_self_attention"), exercise="ex03_self_attention", review=("eval",)),
    line("bob", Verdict("ex04", "", Text("", ""), 0, 0, "error", 0, said="boom"), exercise="ex04"),
]
FORMS = {"gradescope": reports.gradescope, "classroom": reports.classroom}


def validate(form, result):
    schema = json.loads((SCHEMAS / f"{form}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(result, schema, jsonschema.Draft202012Validator)


@pytest.fixture(params=FORMS)
def form(request):
    return request.param


@pytest.mark.parametrize(
    "lines", [EVERY_STATE, EVERY_STATE[:2], EVERY_STATE[1:2]], ids=["error", "fail", "pass"]
)
def test_results_keep_to_the_form_of_their_reader(form, lines):
    (student,) = reports.students(lines)
    result = json.loads(json.dumps(FORMS[form](student)))
    validate(form, result)
    assert sum(test["score"] for test in result["tests"]) == student.points


def test_the_forms_refuse_what_they_do_not_know(form):
    (student,) = reports.students(EVERY_STATE)
    for spoil in (
        lambda result: result.update(unknown=1),
        lambda result: result.update(tests={}),
        lambda result: result["tests"][0].update(unknown=1),
        lambda result: result["tests"][0].update(status="good"),
        lambda result: result["tests"][0].update(score="2"),
        lambda result: result["tests"][0].update(name=None),
    ):
        result = json.loads(json.dumps(FORMS[form](student)))
        spoil(result)
        with pytest.raises(jsonschema.ValidationError):
            validate(form, result)


def test_the_state_of_a_classroom_is_the_worst_of_its_tests():
    states = [
        reports.classroom(reports.students(EVERY_STATE[first:last])[0])["status"]
        for first, last in ((0, 3), (0, 2), (1, 2))
    ]
    assert states == ["error", "fail", "pass"]


def test_what_the_class_got_wrong():
    lines = [
        line("a", verdict(diagnosis=Text("d", "诊"))),
        line("b", verdict("passed")),
        line("c", verdict()),
    ]
    assert reports.failures(lines) == [("ex02_masks test_x", 2, 3)]
    assert reports.mistakes(lines) == [("ex02_masks", "d · 诊", 1)]


def test_a_ledger_goes_on_after_a_line_that_was_cut(tmp_path):
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path)
    ledger.add(line("bob", verdict("passed")))
    ledger.close()
    path.write_bytes(path.read_bytes() + b'{"student": "eve", "exer')
    ledger = Ledger(path)
    assert list(ledger.lines) == [("bob", "ex02_masks")]
    ledger.add(line("eve", verdict()))
    ledger.close()
    assert [item.student for item in read_lines(path)] == ["bob", "eve"]
    assert next(read_lines(path)) == line("bob", verdict("passed"))


def test_faults_are_no_results_to_keep(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.add(line("bob", verdict("error")))
    assert ledger.results() == {}
    ledger.close()


def test_copies_are_found_though_names_differ_and_stubs_are_no_copies():
    pytest.importorskip("copydetect")
    name = "ex01_scaled_dot_product_attention"
    from keras_attention.course.catalog import exercises

    stub = exercises()[0].stub
    body = "\n".join(f"    step{i} = query[{i}] * key[{i}] + value[{i}] - {i} ** 2" for i in range(12))
    first = stub.replace("raise NotImplementedError", f"pass\n{body}")
    second = first.replace("step", "renamed_")
    other = stub.replace(
        "raise NotImplementedError", "return [a for a in map(sum, zip(*query, strict=True))]"
    )
    found = list(pairs(name, {"ann": first, "bob": second, "eve": other, "dan": stub, "joe": stub}))
    assert [pair[:2] for pair in found] == [("ann", "bob")]


def test_every_student_has_files_of_their_own():
    names = ["a b", "a_b", "a/b", "", "..", "x" * 300, "x" * 299, "小明"]
    names += ["Alice", "alice", "É", "é", "bob", "bob.", "Zoe"]  # some file systems see four
    files = [student.file for student in reports.students([line(name, verdict()) for name in names])]
    folded = {unicodedata.normalize("NFC", file).lower().rstrip(".") for file in files}
    assert len(folded) == len(names)
    assert "Zoe" in files
    assert all(len(f"{file}.html".encode()) < 255 and "/" not in file for file in files)
    assert "小明" in files


@pytest.mark.parametrize("name", ["a\x1b[2J", "a\nb", "a\u202eb", "a\x9b1m"])
def test_a_name_gives_a_terminal_no_command(name):
    assert reports.printable(name).isprintable()
    assert reports.printable("小明 O'Neil") == "小明 O'Neil"
