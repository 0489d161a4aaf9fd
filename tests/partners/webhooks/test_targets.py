"""Messages go to public hosts only, whatever a URL looks like and wherever its name leads by then."""

import socket
import time
from threading import Event
from typing import Any

import pytest
from pytest_django import Settings

from partners.webhooks import targets
from partners.webhooks.targets import ForbiddenAddressError, UnresolvedError, addresses_of, is_public, target_of

PUBLIC = "93.184.216.34"


@pytest.fixture(autouse=True)
def as_in_production(settings: Settings) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = False


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every name have these addresses."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("https://hooks.partner.example/in?id=1&b=%20", "hooks.partner.example", 443, "/in?id=1&b=%20"),
        ("https://Partner.Example", "partner.example", 443, "/"),
        ("https://partner.example:8443/", "partner.example", 8443, "/"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443, "/"),
        ("https://1-2.3com.example/", "1-2.3com.example", 443, "/"),
    ],
)
def test_a_public_https_url_is_taken(url: str, host: str, port: int, path: str) -> None:
    target = target_of(url)
    assert (target.host, target.port, target.path) == (host, port, path)


@pytest.mark.parametrize(
    "url",
    [
        "http://partner.example/",
        "ftp://partner.example/",
        "partner.example/hooks",
        "https://",
        "https:///hooks",
        "https://partner.example:22/",
        "https://partner.example:0/",
        "https://partner.example:99999/",
        "https://user@partner.example/",
        "https://user:password@partner.example/",
        "https://partner.example/#part",
        "https://partner.example\\@127.0.0.1/",
        "https://partner.example/ HTTP/1.1\r\nX: y",
        "https://partner.example/\x00",
        "https://partner.example/<id>",
        "https://partner.example/[id]",
        "https://partner.example/%zz",
        "https://pärtner.example/",
        "https://localhost/",
        "https://partner/",
        "https://printer.local/",
        "https://metadata.google.internal/",
        "https://127.0.0.1/",
        "https://8.8.8.8/",
        "https://2130706433/",
        "https://0x7f.0.0.1/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://127.0.0.1./",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[2002:7f00:1::]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[fc00::1]/",
        "https://10.0.0.1/",
        "https://100.64.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://017700000001/",
        "https://0x7f000001/",
        "https://0x7f.1/",
        "https://1.2.3.0x4/",
        "https://127.0.0.1.:443/",
        "https://partner.example./",
        "https://localhost./",
        "https://partner..example/",
        "https://partner.example:080/",
        "https://partner.example:8080/",
        "https://@partner.example/",
        "https://partner.example%2eevil/",
        "https://127\u30020\u30020\u30021/",
        "https://[::1/",
        f"https://{'a' * 64}.example/",
        f"https://{'a.' * 130}example/",
    ],
)
def test_any_other_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        target_of(url)


@pytest.mark.parametrize(
    "address",
    [
        PUBLIC,
        "1.1.1.1",
        "168.63.129.17",
        "199.36.153.12",
        "166.12.0.1",
        "2600:2d00:2:3000::1",
        "2606:2800:220:1:248:1893:25c8:1946",
    ],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),  # noqa: S104 - nothing listens there
        *("169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "192.88.99.1"),
        *("224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::1"),
        *("2002:7f00:1::", "2001:0:1::", "2001:db8::1", "3fff::1", "fc00::1", "fe80::1", "fe80::1%eth0", "fec0::1"),
        *("ff02::1", "nonsense"),
        *("168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110", "2002:a83f:8110::"),
        *("100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254", "169.254.170.2", "169.254.0.23"),
        *("161.26.0.10", "166.9.1.1", "199.36.153.5", "199.36.153.11", "2600:2d00:2:1000::1", "2600:2d00:2:2000::1"),
    ],
)
def test_addresses_of_our_network_of_none_and_of_many_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_one_private_address_among_public_ones_is_enough_to_refuse_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    target = target_of("https://partner.example/")
    resolve_to(monkeypatch, PUBLIC)
    assert addresses_of(target) == [PUBLIC]
    resolve_to(monkeypatch, PUBLIC, "10.0.0.1")
    with pytest.raises(ForbiddenAddressError):
        addresses_of(target)


@pytest.mark.parametrize(
    "private", ["127.0.0.1", "100.64.0.1", "::ffff:10.0.0.1", "2002:a00:1::", "64:ff9b::a00:1", "fd00::1", "ff02::1"]
)
@pytest.mark.parametrize("is_first", [True, False])
def test_it_does_not_matter_which_of_the_addresses_is_private(
    monkeypatch: pytest.MonkeyPatch, private: str, *, is_first: bool
) -> None:
    resolve_to(monkeypatch, *((private, PUBLIC) if is_first else (PUBLIC, private)))
    with pytest.raises(ForbiddenAddressError):
        addresses_of(target_of("https://partner.example/"))


def test_a_host_whose_name_servers_do_not_answer_has_one_lookup_and_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(targets, "RESOLVING_SECONDS", 0.05)
    answered, asked = Event(), list[str]()

    def hang(host: str, *_arguments: Any, **_options: Any) -> list[Any]:
        asked.append(host)
        if host != "well.example":
            answered.wait()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (PUBLIC, 443))]

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    dead = [f"dead-{number}.example" for number in range(50)]
    try:
        for host in (*dead, *dead[:3]):
            with pytest.raises(UnresolvedError):
                addresses_of(target_of(f"https://{host}/"))
        monkeypatch.setattr(targets, "RESOLVING_SECONDS", 5.0)
        assert addresses_of(target_of("https://well.example/")) == [PUBLIC]
    finally:
        answered.set()
    assert sorted(asked) == sorted([*dead, "well.example"])


def test_those_who_wait_for_the_same_host_share_its_lookup_and_the_next_ones_make_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_answer, asked = Event(), list[str]()

    def answer_later(host: str, *_arguments: Any, **_options: Any) -> list[Any]:
        asked.append(host)
        may_answer.wait()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"93.184.216.{len(asked)}", 443))]

    monkeypatch.setattr(socket, "getaddrinfo", answer_later)
    one, other = (targets.lookup_of("shared.example") for _ in range(2))
    may_answer.set()
    assert one.result(5) == other.result(5) == ["93.184.216.1"]
    assert addresses_of(target_of("https://shared.example/")) == ["93.184.216.2"]


def test_a_host_that_is_not_known_is_unresolved(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_arguments: Any, **_options: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(UnresolvedError):
        addresses_of(target_of("https://partner.example/"))


def test_a_name_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait() and [])
    monkeypatch.setattr(targets, "RESOLVING_SECONDS", 0.05)
    started = time.monotonic()
    try:
        with pytest.raises(UnresolvedError):
            addresses_of(target_of("https://silent.example/"))
    finally:
        answered.set()
    assert time.monotonic() - started < 2
