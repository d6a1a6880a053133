import numpy as np
import pytest

from keras_attention.course.compare import equal, same
from keras_attention.course.verdict import Failure, GraderFault

RIGHT = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def failure(got, expected, **options):
    with pytest.raises(Failure) as caught:
        equal(got, expected, "output", **options)
    assert caught.value.cause == "wrong value"
    assert caught.value.text.zh
    return caught.value


def test_what_is_right():
    equal(RIGHT.astype("float32"), RIGHT, "output")
    equal(RIGHT + 1e-5, RIGHT, "output")
    equal(np.array([True]), np.array([True]), "mask")
    equal(np.array([1, 2], "int32"), np.array([1, 2], "int64"), "ids")
    equal([1, [2, "a"]], [1, [2, "a"]], "ids")
    equal(0.5, 0.5, "score")
    equal(np.array(0.5, "float32"), 0.5, "score")


@pytest.mark.parametrize(
    ("got", "expected", "says"),
    [
        (np.ones(()), np.ones((2, 3)), "has the shape (), not (2, 3)"),
        (np.ones((2, 1)), np.ones((2, 3)), "has the shape (2, 1), not (2, 3)"),
        (np.ones((2, 3, 1)), np.ones((2, 3)), "has the shape (2, 3, 1), not (2, 3)"),
        (np.ones((0, 3)), np.ones((2, 3)), "has the shape (0, 3), not (2, 3)"),
        (np.ones((2, 3), bool), np.ones((2, 3)), "is of type bool, not float32 or float64"),
        (np.ones((2, 3), int), np.ones((2, 3)), "is of type int64, not float32 or float64"),
        (np.ones((2, 3), "float16"), np.ones((2, 3)), "is of type float16, not float32 or float64"),
        (np.ones((2, 3)), np.ones((2, 3), bool), "is of type float64, not bool"),
        (np.ones((2, 3)), np.ones((2, 3), int), "is of type float64, not integers"),
        (RIGHT * np.nan, RIGHT, "has values that are NaN or infinite"),
        (RIGHT * np.array([1, 1, np.inf]), RIGHT, "has values that are NaN or infinite"),
        (RIGHT + np.array([0, 0.01, 0]), RIGHT, "has 2 wrong values of 6"),
        ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], RIGHT, "is no array, but list"),
        (None, RIGHT, "is no array, but None"),
        (True, 1.0, "is no array, but bool"),
        (float("nan"), 1.0, "has values that are NaN or infinite"),
        ([1, 2], [1, 3], "is wrong"),
        ([RIGHT], [1], "is wrong"),
        ([1, True], [1, 1], "is wrong"),
        ([1.0], [1], "is wrong"),
        ("a", ["a"], "is wrong"),
        (None, [1], "is wrong"),
    ],
)
def test_what_is_wrong_is_said_without_what_is_right(got, expected, says):
    error = failure(got, expected)
    assert error.text.en == f"output {says}."
    digits = f"{error.text.en}{error.text.zh}"
    assert "5.0" not in digits
    assert "not 5" not in digits


def test_values_are_for_the_learner_s_own_checks():
    assert failure(RIGHT + np.array([0, 1, 0]), RIGHT).values == "output[0, 1] is 3, not 2"


@pytest.mark.parametrize("reference", [np.array([np.nan]), np.ones((0, 2)), np.array([np.inf])])
def test_a_reference_that_is_no_reference_is_the_grader_s_fault(reference):
    with pytest.raises(GraderFault):
        equal(np.ones(1), reference, "output")


def test_same_compares_any_data():
    assert same([RIGHT, {"a": [1, "b", None]}], [RIGHT.astype("float32"), {"a": [1, "b", None]}])
    assert same(RIGHT * np.nan, RIGHT * np.nan)
    assert same(0.5, 0.5 + 1e-7)
    for first, second in [
        (RIGHT, RIGHT.T),
        (RIGHT, RIGHT > 0),
        (1, True),
        (1, 1.0),
        ([1], [1, 2]),
        ("a", None),
    ]:
        assert not same(first, second)
    assert not same({"a": 1}, {"b": 1})
