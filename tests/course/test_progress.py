import pytest

from keras_attention.course.progress import FILE, Progress
from keras_attention.course.verdict import Text, Verdict

NAMES = ["ex01", "ex02", "ex03"]


def verdicts(*passed):
    return [
        Verdict("ex01", f"test_{i}", Text("", ""), 2 * ok, 2, "passed" if ok else "failed", 0.1)
        for i, ok in enumerate(passed)
    ]


def test_progress_survives(tmp_path):
    Progress(tmp_path).attempt("ex01", verdicts(True, False))
    record = Progress(tmp_path)["ex01"]
    assert (record.points, record.max_points, record.passed, record.attempts) == (2, 4, False, 1)
    assert record.failed == ["test_1"]
    assert record.checked


def test_points_never_go_down_and_passed_stays(tmp_path):
    progress = Progress(tmp_path)
    progress.attempt("ex01", verdicts(True, True))
    record = progress.attempt("ex01", verdicts(False, False))
    assert (record.points, record.passed, record.attempts) == (4, True, 2)
    assert record.failed == ["test_0", "test_1"]


def test_the_next_is_the_first_that_is_open(tmp_path):
    progress = Progress(tmp_path)
    assert progress.next(NAMES) == "ex01"
    progress.attempt("ex01", verdicts(True))
    progress.give_up("ex02")
    assert progress.next(NAMES) == "ex03"
    progress.give_up("ex03")
    assert progress.next(NAMES) is None
    progress.forget("ex01")
    assert Progress(tmp_path).next(NAMES) == "ex01"


def test_hints_are_three_and_counted_for_each_check(tmp_path):
    progress = Progress(tmp_path)
    assert [progress.hint("ex01", "test_a") for _ in range(4)] == [1, 2, 3, 3]
    assert Progress(tmp_path).hint("ex01", "test_b") == 1


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"ex01": {"unknown": 1}}', '{"ex01": 3}'])
def test_a_damaged_file_is_kept_aside(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    progress = Progress(tmp_path)
    assert progress.next(NAMES) == "ex01"
    progress.attempt("ex01", verdicts(True))
    assert Progress(tmp_path)["ex01"].passed
    assert [path.read_text() for path in tmp_path.glob("*.damaged.json")] == [text]


def test_what_another_process_has_forgotten_stays_forgotten(tmp_path):
    watching = Progress(tmp_path)
    watching.attempt("ex01", verdicts(True))
    Progress(tmp_path).forget("ex01")
    assert not watching.attempt("ex01", verdicts(False)).passed
