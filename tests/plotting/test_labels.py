import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_attention.plotting import labels
from keras_attention.plotting.fonts import text_style

PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"  # "I want", with a joiner that cannot be seen


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("", "∅"),
        (" ", "␣"),
        ("a b\t\n", "a␣b⇥⏎"),
        ("\x00", "\\x00"),
        ("\ud800", "\\ud800"),
        ("\u202e", "\\u202e"),  # would turn the text around
        (PERSIAN, PERSIAN),
        ("👨\u200d👩", "👨\u200d👩"),
        ("\u200d", "\\u200d"),
        ("a" * 24, "a" * 24),
        ("a" * 25, "a" * 23 + "…"),
    ],
)
def test_visible(token, shown):
    assert labels.visible(token) == shown


@given(st.text(max_size=60))
def test_every_token_can_be_seen_and_is_short(token):
    shown = labels.visible(token)
    assert shown.strip()
    assert len(shown) <= labels.LONGEST


@pytest.mark.parametrize("text", ["the quick brown fox", "e\u0301te\u0301", "他把书给了她", "mmm", "ill"])
def test_width_is_estimated_within_a_factor_of_the_drawn_one(text):
    drawn = plt.figure().text(0, 0, text, fontsize=20, **text_style([text])).get_window_extent().width * 0.72
    assert drawn / 2.4 < labels.text_width(text, 20) < 2.4 * drawn


@given(st.text(st.sampled_from("ab 我，\n"), max_size=40))
def test_wrapping_loses_no_character_but_blanks(text):
    wrapped = labels.wrap(text, 10, 40)
    assert "".join(wrapped.split()) == "".join(text.split())
    for line in wrapped.split("\n"):
        assert labels.text_width(line, 10) <= 40 or " " not in line.strip()


@pytest.mark.parametrize("cell", [0.3, 1, 3, 7, 12, 13, 40])
def test_ticks_thin_until_their_labels_have_room(cell):
    step = labels.tick_step(cell, fontsize=10)
    assert step * cell >= 12.5
    assert step == 1 or step * cell < 12.5 * 2.5  # no thinner than needed
