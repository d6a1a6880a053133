import csv
import json

import pytest

from keras_attention.course import reports
from keras_attention.course.ledger import Ledger, Line, read_lines
from keras_attention.course.similarity import pairs
from keras_attention.course.verdict import Text, Verdict

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


def test_pages_are_escaped_and_stay_in_their_folder(written):
    pages = list(written.rglob("*.html"))
    assert len(pages) == 5
    assert not list(written.parent.glob("up*"))
    for page in pages:
        assert "<script>" not in page.read_text(encoding="utf-8")
    text = (written / "class.html").read_text(encoding="utf-8")
    assert "ex02_masks test_x" in text
    assert "error" in text


def test_lines_for_programs(written):
    rows = [json.loads(row) for row in (written / "grades.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["student"]: row["points"] for row in rows} == {NASTY: 0, "bob": 2, "eve": 0, "../up": 2}
    assert all("source" not in row for row in rows)


def test_gradescope_s_form():
    (student,) = reports.students([line("bob", verdict("passed"), verdict())])
    result = json.loads(json.dumps(reports.gradescope(student)))
    assert result["score"] == 2
    assert result["stdout_visibility"] in {"hidden", "after_due_date", "after_published", "visible"}
    assert isinstance(result["execution_time"], float)
    fields = {"name": str, "number": str, "output": str, "status": str, "visibility": str, "tags": list}
    for test in result["tests"]:
        assert set(test) == {*fields, "score", "max_score"}
        assert all(isinstance(test[name], kind) for name, kind in fields.items())
        assert test["status"] in {"passed", "failed"}
        assert 0 <= test["score"] <= test["max_score"]
    assert sum(test["score"] for test in result["tests"]) == result["score"]


def test_github_classroom_s_form():
    (student,) = reports.students([line("bob", verdict("passed"), verdict())])
    result = json.loads(json.dumps(reports.classroom(student)))
    assert (result["version"], result["status"], result["max_score"]) == (1, "fail", 4)
    for test in result["tests"]:
        assert test["status"] in {"pass", "fail", "error"}
        assert isinstance(test["name"], str)
        assert isinstance(test["message"], str)


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
