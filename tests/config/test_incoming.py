"""Requests are found in what a connection sent, whole and byte for byte, however it was cut into pieces."""

import pytest

from config.incoming import MAX_CHUNKS, MAX_KEPT_BODY_BYTES, Incoming, RequestTooLargeError

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LENGTH = HEAD + b"content-length:  5 \r\n\r\n"
SAME = {
    "without a body": HEAD + b"\r\n",
    "with a length": LENGTH + b"ab\r\nc",
    "in one chunk": CHUNKED + b"3\r\nabc\r\n0\r\n\r\n",
    "empty, in chunks": CHUNKED + b"0\r\n\r\n",
}
READ_AS = {
    "in chunks": (CHUNKED + b"1\r\na\r\n02;x=y\r\nbc\r\n0\r\n\r\n", CHUNKED + b"3\r\nabc\r\n0\r\n\r\n"),
    "with trailers": (CHUNKED + b"1\r\na\r\n0\r\nX: y\r\n\r\n", CHUNKED + b"1\r\na\r\n0\r\n\r\n"),
    "after being told": (
        HEAD + b"Expect: 100-continue\r\nContent-Length: 1\r\n\r\na",
        HEAD + b"Content-Length: 1\r\n\r\na",
    ),
}
CASES = {**{name: (sent, sent) for name, sent in SAME.items()}, **READ_AS}
MALFORMED = ["x\r\n", "-1\r\n", "1\r\nab\r\n", "\r\n", "0\r\nno trailer\r\n\r\n", "1" * 16 + "\r\n", "1" * 9_000]
# Two framings, or none that is known: nothing more is read, and gunicorn's parser refuses the head.
AMBIGUOUS = [
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Content-Length: 5\r\nContent-Length: 5",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Content-Length: +5",
    "Content-Length: 5, 5",
    "Transfer-Encoding: gzip",
]


@pytest.mark.parametrize("piece_bytes", [1, 2, 7, 1000])
@pytest.mark.parametrize(("sent", "read"), CASES.values(), ids=CASES)
def test_a_request_is_whole_with_its_last_byte_and_the_next_one_follows(
    sent: bytes, read: bytes, piece_bytes: int
) -> None:
    incoming, both = Incoming(), sent * 2
    taken = []
    for start in range(0, len(both), piece_bytes):
        incoming.feed(both[start : start + piece_bytes])
        while incoming.is_whole:
            taken.append(incoming.take())
            incoming.feed(b"")
    assert taken == [read, read]
    assert incoming.is_empty


def test_a_request_is_not_whole_before_its_last_byte() -> None:
    for sent, _ in CASES.values():
        incoming = Incoming()
        incoming.feed(sent[:-1])
        assert not incoming.is_whole


@pytest.mark.parametrize("body", MALFORMED)
def test_malformed_chunks_end_what_is_read(body: str) -> None:
    incoming = Incoming()
    incoming.feed(CHUNKED + body.encode())
    assert (incoming.is_whole, incoming.is_last) == (True, True)


def test_more_chunks_than_a_client_needs_are_malformed() -> None:
    incoming = Incoming()
    incoming.feed(CHUNKED + b"1\r\na\r\n" * (MAX_CHUNKS + 1))
    assert incoming.is_last


@pytest.mark.parametrize("fields", AMBIGUOUS)
def test_a_head_that_can_be_read_in_two_ways_is_handed_over_without_a_body(fields: str) -> None:
    incoming, head = Incoming(), HEAD + fields.encode() + b"\r\n\r\n"
    incoming.feed(head)
    assert incoming.is_whole
    assert incoming.take() == head


@pytest.mark.parametrize("framing", ["Content-Length", "Transfer-Encoding"])
def test_of_a_large_body_no_more_is_kept_than_is_needed_to_refuse_it(framing: str) -> None:
    size = MAX_KEPT_BODY_BYTES + 1_000_000
    is_chunked = framing == "Transfer-Encoding"
    body = b"%x\r\n%b\r\n0\r\n\r\n" % (size, b" " * size) if is_chunked else b" " * size
    incoming = Incoming()
    incoming.feed(HEAD + f"{framing}: {'chunked' if is_chunked else size}\r\n\r\n".encode())
    for start in range(0, len(body), 65_536):
        incoming.feed(body[start : start + 65_536])
        assert incoming.kept_bytes <= MAX_KEPT_BODY_BYTES + 10
    assert incoming.is_whole
    assert incoming.take().count(b" " * 1000) == MAX_KEPT_BODY_BYTES // 1000


def test_a_head_without_end_is_too_large() -> None:
    incoming = Incoming()
    incoming.feed(b"X: " + b"x" * 60_000 + b"\r\n")
    with pytest.raises(RequestTooLargeError):
        incoming.feed(b"X: " + b"x" * 10_000 + b"\r\n")
