"""The address of the caller: what X-Forwarded-For says counts only as far as our own proxies wrote it."""

import pytest
from django.test import RequestFactory
from pytest_django import Settings

from partners.client_address import client_address

PROXY, INNER_PROXY, CALLER, FORGED = "10.0.0.1", "10.0.0.2", "198.51.100.7", "203.0.113.9"


def seen(remote: str, forwarded: str | None = None) -> str | None:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    address = client_address(RequestFactory(headers=headers, REMOTE_ADDR=remote).get("/"))
    return None if address is None else str(address)


def test_the_header_does_not_count_without_a_trusted_proxy(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = []
    assert seen(CALLER, FORGED) == CALLER
    assert seen(PROXY, FORGED) == PROXY


def test_the_header_of_a_caller_that_is_not_a_proxy_does_not_count(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    assert seen(CALLER, FORGED) == CALLER


@pytest.mark.parametrize(
    ("remote", "forwarded", "expected"),
    [
        (PROXY, CALLER, CALLER),
        (PROXY, f"{FORGED}, {CALLER}", CALLER),
        (PROXY, f"{FORGED},{CALLER} , {INNER_PROXY}", CALLER),
        (PROXY, f"{INNER_PROXY}, {PROXY}", INNER_PROXY),  # one of our own hosts calls
        (PROXY, f"{PROXY}, {CALLER}", CALLER),
        (PROXY, "2001:db8::7", "2001:db8::7"),
        (PROXY, f"::ffff:{CALLER}", CALLER),
        (f"::ffff:{PROXY}", CALLER, CALLER),
    ],
)
def test_the_caller_is_the_last_address_that_is_not_a_proxy(
    settings: Settings, remote: str, forwarded: str, expected: str
) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    assert seen(remote, forwarded) == expected


def test_proxies_that_are_named_by_mapped_addresses_are_trusted(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = ["::ffff:10.0.0.0/104"]
    assert seen(PROXY, CALLER) == seen(f"::ffff:{PROXY}", CALLER) == CALLER
    assert seen(CALLER, FORGED) == CALLER


@pytest.mark.parametrize(
    "forwarded",
    [
        None,
        "",
        "unknown",
        f"{CALLER}:443",
        f"{CALLER}, _hidden",
        f"{CALLER},",
        f"{CALLER}, 10.0.0.300",
        "\x00",
        "\u0661\u0660.0.0.1",
    ],
)
def test_an_address_that_no_proxy_says_is_not_known(settings: Settings, forwarded: str | None) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    assert seen(PROXY, forwarded) is None


def test_a_socket_without_an_address_is_not_a_proxy(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = ["0.0.0.0/0"]
    assert seen("", CALLER) is None
