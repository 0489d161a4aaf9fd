"""One request to an endpoint: it goes to the address that was checked, and ends in time whatever the endpoint does."""

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pytest_django import Settings

from partners.webhooks import attempts, targets
from partners.webhooks.attempts import AttemptOutcome, post
from partners.webhooks.targets import target_of
from tests.webhook_receiver import Receiver, answers

PUBLIC = "93.184.216.34"
HEADERS = {"webhook-id": "m", "Content-Type": "application/json"}


def post_to(url: str) -> AttemptOutcome:
    return post(target_of(url), HEADERS, b'{"a":1}')


def raw(answer: bytes, *, pause_seconds: float = 0.0) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with these bytes, one after the other if there is a pause between them."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        for number in range(len(answer)) if pause_seconds else [slice(None)]:
            part = answer[number : number + 1] if isinstance(number, int) else answer
            handler.wfile.write(part)
            time.sleep(pause_seconds)

    return behave


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_is_a_success(receiver: Receiver, status: int) -> None:
    receiver.behave = answers(status)
    outcome = post_to(receiver.url)
    assert (outcome.http_status, outcome.error, outcome.succeeded) == (status, "", True)
    (received,) = receiver.received
    assert (received.path, received.body) == ("/hooks?source=sweeps", b'{"a":1}')
    assert received.headers["host"] == receiver.url.split("/")[2]
    assert (received.headers["webhook-id"], received.headers["content-length"]) == ("m", "7")


@pytest.mark.parametrize("status", [302, 400, 404, 410, 429, 500, 503])
def test_any_other_status_is_a_failure_and_a_redirect_is_not_followed(receiver: Receiver, status: int) -> None:
    receiver.behave = answers(status)
    outcome = post_to(receiver.url)
    assert (outcome.http_status, outcome.error) == (status, "status")
    assert [received.path for received in receiver.received] == ["/hooks?source=sweeps"]


def test_an_endpoint_that_hangs_is_given_up_in_time(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "TOTAL_SECONDS", 0.2)
    receiver.behave = receiver.hang
    outcome = post_to(receiver.url)
    assert (outcome.http_status, outcome.error) == (None, "timeout")
    assert 200 <= outcome.duration_ms < 3_000


def test_an_answer_that_comes_byte_by_byte_is_given_up_in_time(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "TOTAL_SECONDS", 0.2)
    receiver.behave = raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1_000, pause_seconds=0.02)
    outcome = post_to(receiver.url)
    assert (outcome.http_status, outcome.error) == (None, "timeout")
    assert outcome.duration_ms < 3_000


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX:" + b"y" * 100_000,
        b"HTTP/1.1 200 OK\r\n" + (b"X:" + b"y" * 10_000 + b"\r\n") * 10 + b"\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 3_000 + b"HTTP/1.1 204 No Content\r\n\r\n",
    ],
)
def test_what_is_not_http_or_goes_on_before_its_body_is_a_bad_response(receiver: Receiver, answer: bytes) -> None:
    receiver.behave = raw(answer)
    assert post_to(receiver.url).error == "bad_response"


@pytest.mark.parametrize("end", [0, 1, 12, 15, 16, 17, 19, 26, 35, 36, 37])
def test_an_answer_that_is_cut_before_the_end_of_its_headers_is_a_failed_attempt(receiver: Receiver, end: int) -> None:
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    receiver.behave = raw(whole[:end])
    outcome = post_to(receiver.url)
    assert (outcome.http_status, outcome.error) == (None, "connection")
    receiver.behave = raw(b"HTTP/1.1 100 Continue\r\n\r\n" + whole[:end])
    assert post_to(receiver.url).error == "connection"
    receiver.behave = raw(whole)
    assert post_to(receiver.url).succeeded


def test_an_interim_response_may_come_first_and_a_body_of_any_size_after(receiver: Receiver) -> None:
    receiver.behave = raw(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000)
    assert post_to(receiver.url).succeeded


def test_a_refused_and_a_closed_connection_are_failures_of_the_connection(receiver: Receiver) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert post_to(f"http://127.0.0.1:{unused.getsockname()[1]}/").error == "connection"
    receiver.behave = raw(b"")
    assert post_to(receiver.url).error == "connection"


def test_a_name_that_led_elsewhere_when_it_was_checked_is_not_connected_to(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    target = target_of(receiver.url.replace("127.0.0.1", "rebinding.example"))
    settings.WEBHOOK_ALLOW_PRIVATE = False
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", 0))])
    assert post(target, HEADERS, b"{}").error == "forbidden_address"
    assert receiver.received == []


def test_a_name_is_looked_up_once_and_its_checked_address_is_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []

    def once(target: targets.WebhookTarget) -> list[str]:
        looked_up.append(target.host)
        return ["127.0.0.1"]

    monkeypatch.setattr(attempts, "addresses_of", once)
    outcome = post_to(receiver.url.replace("127.0.0.1", "nowhere.example"))
    assert (outcome.http_status, looked_up) == (204, ["nowhere.example"])
    assert receiver.received[0].headers["host"].startswith("nowhere.example:")


def test_a_name_that_leads_elsewhere_after_its_check_is_connected_to_where_it_led(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolver rebinds: after the lookup that is checked it answers with another host's address."""
    resolve, elsewhere = socket.getaddrinfo, list[str]()

    def rebind(host: str, *arguments: Any, **options: Any) -> Any:
        if host != "rebinding.example":  # an address, which a connection looks up as well
            return resolve(host, *arguments, **options)
        elsewhere.append(host)
        return resolve("127.0.0.1" if len(elsewhere) == 1 else "192.0.2.1", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebind)
    assert post_to(receiver.url.replace("127.0.0.1", "rebinding.example")).succeeded
    assert len(elsewhere) == 1


def test_the_next_address_is_tried_if_the_first_does_not_answer(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "addresses_of", lambda _: ["::ffff:127.0.0.2", "127.0.0.1"])
    connect = socket.create_connection

    def only_the_second(address: tuple[str, int], timeout: float) -> socket.socket:
        if address[0] != "127.0.0.1":
            raise OSError("no route")
        return connect(address, timeout)

    monkeypatch.setattr(socket, "create_connection", only_the_second)
    assert post_to(receiver.url).http_status == 204


def test_a_proxy_of_the_environment_is_not_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert post_to(receiver.url).succeeded


def certificate_for(name: str, folder: Path) -> Path:
    """Write a certificate for a name, signed by itself, with its key, to one file."""
    key, subject = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "certificate.pem"
    file.write_bytes(key.private_bytes(*form) + certificate.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return certificate_for("partner.example", tmp_path)


@pytest.fixture
def tls_port(certificate: Path) -> Iterator[int]:
    """The port of a server that answers 204 over TLS, as partner.example."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))
    Thread(target=_serve_tls, args=(listener, context), daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def _serve_tls(listener: socket.socket, context: ssl.SSLContext) -> None:
    with suppress(OSError):  # it was closed
        while True:
            connection, _ = listener.accept()
            with suppress(OSError), context.wrap_socket(connection, server_side=True) as secure:
                while not secure.recv(65_536).endswith(b"}"):  # of the body
                    pass
                secure.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every name lead to this host, as if that were checked."""
    monkeypatch.setattr(attempts, "addresses_of", lambda _: ["127.0.0.1"])


@pytest.mark.usefixtures("at_home")
def test_a_certificate_that_no_authority_signed_is_refused(tls_port: int) -> None:
    assert post_to(f"https://partner.example:{tls_port}/").error == "tls"


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize(("name", "error"), [("partner.example", ""), ("other.example", "tls")])
def test_the_certificate_has_to_be_for_the_name_though_the_connection_is_to_an_address(
    tls_port: int, certificate: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: str
) -> None:
    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(attempts, "_tls", lambda: trusting)
    assert post_to(f"https://{name}:{tls_port}/").error == error


@pytest.mark.usefixtures("at_home")
def test_an_endpoint_that_hangs_in_the_handshake_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "TOTAL_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        outcome = post_to(f"https://partner.example:{silent.getsockname()[1]}/")
    assert (outcome.error, outcome.duration_ms < 3_000) == ("timeout", True)
