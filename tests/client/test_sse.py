"""The reader of server-sent events: the same events however the bytes are cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mtp.client.sse import SseEvent, SseOverflowError, SseReader


def read(*pieces: bytes, max_line: int = 1 << 20) -> tuple[list[tuple[str, str, str, bool]], SseReader]:
    reader = SseReader(max_line=max_line)
    events: list[SseEvent] = []
    for at, piece in enumerate(pieces):
        events += reader.feed(piece, at)
    events += reader.close()
    return [(event.event, event.data, event.id, event.unterminated) for event in events], reader


def datas(*pieces: bytes) -> list[str]:
    return [data for _, data, _, _ in read(*pieces)[0]]


LINES = st.sampled_from(
    [
        b"data: a",
        b"data:b",
        b"data",
        "data: \u00e9\U0001f600 x".encode(),
        b"data: \xff\xe2\x82",
        b": comment",
        b":",
        b"event: error",
        b"id: 7",
        b"id: \x00",
        b"retry: 10",
        b"stray",
        b"",
        b"",
        b"\xef\xbb\xbfdata: bom",
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
STREAMS = st.builds(
    lambda parts, bom, cut: (
        (b"\xef\xbb\xbf" if bom else b"") + b"".join(line + end for line, end in parts)[: None if cut is None else -cut]
    ),
    st.lists(st.tuples(LINES, ENDS), max_size=20),
    st.booleans(),
    st.none() | st.integers(1, 6),
)


@given(stream=STREAMS, cuts=st.lists(st.integers(0, 300), max_size=30))
def test_any_cutting_of_the_same_bytes_gives_the_same_events(stream: bytes, cuts: list[int]) -> None:
    edges = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    pieces = [stream[start:end] for start, end in itertools.pairwise(edges)]
    whole, whole_reader = read(stream)
    cut, cut_reader = read(*pieces)
    assert cut == whole
    assert (cut_reader.notes, cut_reader.strays, cut_reader.comments, cut_reader.retry_ms) == (
        whole_reader.notes,
        whole_reader.strays,
        whole_reader.comments,
        whole_reader.retry_ms,
    )


@given(stream=STREAMS)
def test_byte_by_byte_is_the_same_too(stream: bytes) -> None:
    assert read(*(stream[at : at + 1] for at in range(len(stream))))[0] == read(stream)[0]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_every_line_ending_of_the_standard_ends_a_line(end: bytes) -> None:
    assert datas(end.join([b"data: a", b"", b"data: b", b"", b""])) == ["a", "b"]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(b"data: a\ndata: b\n\n", ["a\nb"], id="several-data-lines-are-joined"),
        pytest.param(b"data:a\n\n", ["a"], id="the-space-is-optional"),
        pytest.param(b"data:  a\n\n", [" a"], id="one-space-alone-is-taken"),
        pytest.param(b"data\n\n", [""], id="a-field-without-colon-is-empty"),
        pytest.param(b": ping\n\n: ping\n\ndata: a\n\n", ["a"], id="comments-are-no-events"),
        pytest.param(b"\n\n\ndata: a\n\n\n\n", ["a"], id="blank-lines-are-no-events"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", ["a"], id="byte-order-mark"),
        pytest.param(b"data: a:b\n\n", ["a:b"], id="the-first-colon-divides"),
        pytest.param(b"id: 1\nretry: x\ndata: a\n\n", ["a"], id="other-fields"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_fields(stream: bytes, expected: list[str]) -> None:
    assert datas(stream) == expected


def test_the_event_name_holds_for_one_event_and_the_id_until_the_next() -> None:
    events, _ = read(b"event: error\nid: 7\ndata: a\n\ndata: b\n\n")
    assert [(name, data, id_) for name, data, id_, _ in events] == [("error", "a", "7"), ("", "b", "7")]


def test_an_event_without_its_blank_line_is_marked() -> None:
    assert read(b"data: a\n\ndata: b")[0] == [("", "a", "", False), ("", "b", "", True)]
    assert read(b"data: a\n")[0] == [("", "a", "", True)]


def test_bytes_that_are_not_utf_8_are_replaced_and_noted() -> None:
    events, reader = read(b"data: caf\xe9\n\ndata: \xff\n\n")
    assert [data for _, data, _, _ in events] == ["caf\ufffd", "\ufffd"]
    assert [note.code for note in reader.notes] == ["PROTO.sse"]
    assert "2 lines are not UTF-8" in reader.notes[0].detail
    assert "caf\\xe9" in reader.notes[0].detail


def test_a_replacement_character_that_was_sent_as_such_is_no_breach() -> None:
    events, reader = read("data: \ufffd\n\n".encode())
    assert events[0][1] == "\ufffd"
    assert reader.notes == ()


def test_lines_that_are_no_field_are_kept_and_counted_out() -> None:
    _, reader = read(b"oops\n" * 100 + b"data: a\n\n")
    assert reader.strays == ["oops"] * 8


@pytest.mark.parametrize("piece", [b"x" * 40, b"data: " + b"x" * 40, b"data: xxxxxxxxxx\n" * 5], ids=["line", "data-line", "event"])
def test_a_server_cannot_eat_memory(piece: bytes) -> None:
    with pytest.raises(SseOverflowError):
        read(*(piece[at : at + 7] for at in range(0, len(piece), 7)), max_line=32)


def test_the_stamp_is_that_of_the_bytes_that_completed_the_event() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a", 10) == []
    assert reader.feed(b"\n", 20) == []
    assert [event.at_ns for event in reader.feed(b"\ndata: b\n\n", 30)] == [30, 30]
