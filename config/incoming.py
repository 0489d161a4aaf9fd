"""What a connection has sent of its next request, kept until head and body are whole; nothing here waits or answers.

A body is kept up to a little more than any operation takes, which is enough to refuse it, and the rest is forgotten.
What can't be understood is handed over as it is: gunicorn's parser refuses it, and reads no further.
"""

import re
from enum import Enum, auto

MAX_HEAD_BYTES = 64 * 1024
MAX_KEPT_BODY_BYTES = 2 * 1024 * 1024 + 8 * 1024
MAX_BODY_BYTES = 32 * 1024 * 1024
# Each costs a turn of Python, however small it is. Clients send kilobytes in one.
MAX_CHUNKS = 4_096
MAX_LINE_BYTES = 8 * 1024

_CRLF = b"\r\n"
_END_OF_HEAD = _CRLF * 2
_FIELD = re.compile(rb"\r\n(content-length|transfer-encoding|expect):[ \t]*([^\r\n]*?)[ \t]*(?=\r\n)", re.IGNORECASE)
_LENGTH = re.compile(rb"[0-9]{1,18}", re.ASCII)
_CHUNK_SIZE = re.compile(rb"([0-9a-f]{1,15})[ \t]*(?:;.*)?", re.IGNORECASE)
_TRAILER = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+:.*", re.IGNORECASE)


class MalformedBodyError(ValueError):
    """The body is not in chunks as HTTP defines them."""


class RequestTooLargeError(ValueError):
    """The head or the body has more bytes than are read."""


class LengthBody:
    """A body of a known length."""

    def __init__(self, length: int) -> None:
        self._left = length

    @property
    def is_whole(self) -> bool:
        return self._left == 0

    def decode(self, received: bytearray) -> bytes:
        """Move what belongs to the body out of what was received."""
        part = bytes(received[: self._left])
        del received[: self._left]
        self._left -= len(part)
        return part

    def encoded(self, kept: bytes, _length: int) -> bytes:
        return kept


class _Part(Enum):
    SIZE = auto()
    DATA = auto()
    END_OF_DATA = auto()
    TRAILER = auto()
    NOTHING = auto()


class ChunkedBody:
    """A body in chunks. Its trailers are not used."""

    def __init__(self) -> None:
        self._next = _Part.SIZE
        self._left = 0  # of the chunk
        self._lines = 0

    @property
    def is_whole(self) -> bool:
        return self._next is _Part.NOTHING

    def decode(self, received: bytearray) -> bytes:
        """Move what belongs to the body out of what was received; raises MalformedBodyError."""
        decoded = bytearray()
        while self._advance(received, decoded):
            pass
        return bytes(decoded)

    def encoded(self, kept: bytes, length: int) -> bytes:
        """Return the body as one chunk, of which the end may be missing."""
        return b"%x\r\n%b\r\n0\r\n\r\n" % (length, kept) if length else b"0\r\n\r\n"

    def _advance(self, received: bytearray, decoded: bytearray) -> bool:
        """Decode the next part; returns False if that is not here yet."""
        match self._next:
            case _Part.DATA:
                decoded += received[: self._left]
                taken = min(self._left, len(received))
                del received[:taken]
                self._left -= taken
                self._next = _Part.DATA if self._left else _Part.END_OF_DATA
                return not self._left
            case _Part.NOTHING:
                return False
        line = self._line(received)
        if line is None:
            return False
        match self._next:
            case _Part.SIZE:
                self._left = _size(line)
                self._next = _Part.DATA if self._left else _Part.TRAILER
            case _Part.END_OF_DATA if not line:
                self._next = _Part.SIZE
            case _Part.TRAILER if not line or _TRAILER.fullmatch(line):
                self._next = _Part.TRAILER if line else _Part.NOTHING
            case _:
                raise MalformedBodyError
        return True

    def _line(self, received: bytearray) -> bytes | None:
        end = received.find(_CRLF, 0, MAX_LINE_BYTES)
        if end < 0:
            if len(received) >= MAX_LINE_BYTES:
                raise MalformedBodyError
            return None
        self._lines += 1
        if self._lines > 2 * MAX_CHUNKS:
            raise MalformedBodyError
        line = bytes(received[:end])
        del received[: end + len(_CRLF)]
        return line


class Incoming:
    """The next request of a connection, and what came after it."""

    def __init__(self) -> None:
        self._received = bytearray()  # and not understood yet
        self._searched = 0
        self._start_request()

    def _start_request(self) -> None:
        self._head = b""
        self._framing: LengthBody | ChunkedBody | None = None  # until the head is whole
        self._body = bytearray()
        self._body_length = 0
        self._is_malformed = False
        self.awaits_continue = False  # the body comes once the caller is told to go on

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the next request was received."""
        return not self._received and not self._head

    @property
    def has_head(self) -> bool:
        return self._framing is not None

    @property
    def is_whole(self) -> bool:
        return self._is_malformed or (self._framing is not None and self._framing.is_whole)

    @property
    def is_last(self) -> bool:
        """Whether it is unknown where another request would begin."""
        return self._is_malformed

    @property
    def kept_bytes(self) -> int:
        return len(self._received) + len(self._body)

    def feed(self, data: bytes) -> None:
        """Add what was received; raises RequestTooLargeError."""
        self._received += data
        if self._framing is None:
            self._find_head()
        if self._framing is not None and not self.is_whole:
            self._decode(self._framing)

    def end(self) -> None:
        """Note that the caller sends nothing more: a body that is not whole is malformed."""
        self._is_malformed = True

    def take(self) -> bytes:
        """Return a whole request as bytes that a parser reads, and begin with the next one."""
        framing = self._framing or LengthBody(0)
        length = self._body_length + (0 if framing.is_whole else 1)  # one byte is missing then, and parsers notice it
        taken = self._head + framing.encoded(bytes(self._body), length)
        if self._is_malformed:
            taken = taken.removesuffix(b"\r\n0\r\n\r\n")
        self._start_request()
        return taken

    def _find_head(self) -> None:
        end = self._received.find(_END_OF_HEAD, self._searched)
        if end > MAX_HEAD_BYTES or (end < 0 and len(self._received) > MAX_HEAD_BYTES):
            raise RequestTooLargeError
        self._searched = max(len(self._received) - len(_END_OF_HEAD) + 1, 0)
        if end < 0:
            return
        end += len(_END_OF_HEAD)
        head = bytes(self._received[:end])
        del self._received[:end]
        self._searched = 0
        self._head, self._framing, self.awaits_continue = _understood(head)

    def _decode(self, framing: LengthBody | ChunkedBody) -> None:
        try:
            decoded = framing.decode(self._received)
        except MalformedBodyError:
            self._is_malformed = True
            return
        self._body_length += len(decoded)
        self._body += decoded[: MAX_KEPT_BODY_BYTES - len(self._body)]
        if self._body_length > MAX_BODY_BYTES:
            raise RequestTooLargeError


def _understood(head: bytes) -> tuple[bytes, LengthBody | ChunkedBody, bool]:
    """Return the head for the parser, how its body is framed, and whether the caller waits before it sends that.

    A head that frames its body in two ways, or in none that is known, has no body here; parsers refuse it.
    """
    fields = [(match[1].lower(), match[2]) for match in _FIELD.finditer(head)]
    values = dict(fields)
    awaits_continue = values.pop(b"expect", b"").lower() == b"100-continue"
    if awaits_continue:
        head = _FIELD.sub(lambda match: b"" if match[1].lower() == b"expect" else match[0], head)
    framing: LengthBody | ChunkedBody = LengthBody(0)
    if len(fields) - awaits_continue == 1 and len(values) == 1:
        length, codings = values.get(b"content-length"), values.get(b"transfer-encoding", b"")
        if length is not None and _LENGTH.fullmatch(length):
            framing = LengthBody(int(length))
        elif codings.lower() == b"chunked":
            framing = ChunkedBody()
    return head, framing, awaits_continue


def _size(line: bytes) -> int:
    match = _CHUNK_SIZE.fullmatch(line)
    if match is None:
        raise MalformedBodyError
    return int(match[1], 16)
