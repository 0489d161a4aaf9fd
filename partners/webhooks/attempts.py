"""One request to an endpoint: to a checked address, without redirects or proxies, within bounds of time and size.

``http.client`` runs over a connection that is opened here, so that its address is the one that was checked, while the
certificate is checked for the name.
"""

import http.client
import io
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from threading import Timer
from typing import TYPE_CHECKING, Any

from django.db.models import TextChoices

from partners.webhooks.targets import ForbiddenAddressError, UnresolvedError, WebhookTarget, addresses_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CONNECTING_SECONDS = 3.0
TOTAL_SECONDS = 10.0
MAX_RESPONSE_BYTES = 65_536  # up to the end of its headers, with the interim responses before it


class AttemptError(TextChoices):
    """Why an attempt failed."""

    UNRESOLVED = "unresolved"  # the host has no address, or its name servers did not answer in time
    FORBIDDEN_ADDRESS = "forbidden_address"  # the host has an address that is not public
    CONNECTION = "connection"
    TLS = "tls"
    TIMEOUT = "timeout"
    BAD_RESPONSE = "bad_response"  # not HTTP, or too much before the end of its headers
    STATUS = "status"  # not 2xx


@dataclass(frozen=True)
class AttemptOutcome:
    """How an attempt ended."""

    duration_ms: int
    http_status: int | None = None  # None without a response
    error: str = ""  # an ``AttemptError``; blank if it succeeded

    @property
    def succeeded(self) -> bool:
        return not self.error


def post(target: WebhookTarget, headers: Mapping[str, str], body: bytes) -> AttemptOutcome:
    """Send a message; whatever the endpoint does, this takes no longer than a lookup and ``TOTAL_SECONDS``."""
    started = time.monotonic()
    status, error = _attempt(target, headers, body)
    return AttemptOutcome(round((time.monotonic() - started) * 1000), status, error)


def _attempt(target: WebhookTarget, headers: Mapping[str, str], body: bytes) -> tuple[int | None, str]:
    try:
        addresses = addresses_of(target)
    except UnresolvedError:
        return None, AttemptError.UNRESOLVED
    except ForbiddenAddressError:
        return None, AttemptError.FORBIDDEN_ADDRESS
    deadline = time.monotonic() + TOTAL_SECONDS
    try:
        status = _send(target, _connect(addresses, target.port), headers, body, deadline)
    except (ssl.SSLError, OSError, http.client.HTTPException) as error:
        return None, _class_of(error, is_late=time.monotonic() >= deadline)
    return status, "" if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES else AttemptError.STATUS


def _class_of(error: Exception, *, is_late: bool) -> str:
    match error:
        case _ if is_late:
            return AttemptError.TIMEOUT
        case TimeoutError():
            return AttemptError.TIMEOUT
        case ssl.SSLError():
            return AttemptError.TLS
        case http.client.RemoteDisconnected() | OSError():
            return AttemptError.CONNECTION
    return AttemptError.BAD_RESPONSE


def _connect(addresses: list[str], port: int) -> socket.socket:
    """Connect to the first of the addresses that answers; raises OSError with the failure of the last one."""
    failure: OSError = OSError("no address")
    for address in addresses[:2]:  # often one of each family, and this host may have only one of them
        try:
            return socket.create_connection((address, port), timeout=CONNECTING_SECONDS)
        except OSError as error:
            failure = error
    raise failure


def _send(
    target: WebhookTarget, connected: socket.socket, headers: Mapping[str, str], body: bytes, deadline: float
) -> int:
    """Return the status of the response, of which nothing else is read."""
    with _cut_at(connected, deadline):
        connected.settimeout(TOTAL_SECONDS)
        connection = http.client.HTTPConnection(target.host, target.port)
        connection.response_class = _BoundedResponse
        connection.default_port = {"http": 80, "https": 443}[target.scheme]  # which the Host header leaves out
        try:
            connection.sock = connected
            if target.scheme == "https":
                connection.sock = _tls().wrap_socket(connected, server_hostname=target.host)
            connection.request("POST", target.path, body, dict(headers))
            return connection.getresponse().status
        finally:
            connection.close()
            connected.close()


class _BoundedResponse(http.client.HTTPResponse):
    """A response of which only so many bytes are read: ``http.client`` itself skips interim ones without end."""

    def __init__(self, connected: socket.socket, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        super().__init__(connected, *arguments, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_BoundedSocket(connected))


class _BoundedSocket(io.RawIOBase):
    def __init__(self, connected: socket.socket) -> None:
        self._connected, self._left = connected, MAX_RESPONSE_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Receive into the buffer; raises ``HTTPException`` if that would be too much, or if there is no more.

        ``http.client`` itself takes the end of the connection for that of the headers.
        """
        if not self._left:
            raise http.client.HTTPException
        count = self._connected.recv_into(memoryview(buffer)[: self._left])
        if not count:
            raise http.client.RemoteDisconnected("within the headers")
        self._left -= count
        return count


@contextmanager
def _cut_at(connected: socket.socket, deadline: float) -> Iterator[None]:
    """Break the connection at a time: a timeout alone counts from the last byte, and bytes may come one by one."""
    handle = connected.dup()  # TLS takes the socket over
    timer = Timer(max(deadline - time.monotonic(), 0), _shut, [handle])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        handle.close()


def _shut(handle: socket.socket) -> None:
    try:
        handle.shutdown(socket.SHUT_RDWR)
    except OSError:  # it was closed meanwhile
        return


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
