import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_attention.course.sealed.protocol import LARGEST, Broken, frame, read_frame


@given(st.lists(st.binary(max_size=50)), st.integers(1, 7))
def test_messages_arrive_whole_however_they_are_cut(messages, piece):
    stream = io.BytesIO(b"".join(map(frame, messages)))
    assert [read_frame(lambda n: stream.read(min(n, piece))) for _ in messages] == messages


@pytest.mark.parametrize("data", [b"", b"\0\0", frame(b"whole")[:-1]])
def test_the_end_in_a_message_is_broken(data):
    with pytest.raises(Broken):
        read_frame(io.BytesIO(data).read)


def test_a_length_that_is_too_large_is_not_even_read():
    stream = io.BytesIO(struct.pack(">I", LARGEST + 1) + b"x" * 10)
    with pytest.raises(Broken, match="a message of"):
        read_frame(stream.read)
    assert stream.tell() == 4


def test_memory_is_taken_for_what_comes_not_for_what_is_claimed():
    asked = []

    def read(length):
        asked.append(length)
        return struct.pack(">I", LARGEST) if len(asked) == 1 else b""

    with pytest.raises(Broken):
        read_frame(read)
    assert max(asked) <= 2**20
