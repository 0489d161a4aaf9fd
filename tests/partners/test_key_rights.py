"""What a key may do: its scopes, the addresses from which it works, and the networks that its mode reaches."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.utils import timezone
from pytest_django import Settings

from lab.bench.sweeps.numbers import number_by_time
from partners.models import SCOPES, ApiKey, Partner
from sweepapi import networks
from sweepapi.api.requests.permissions import HasScope
from sweepapi.modes import Mode
from tests.factories.ledger import BASE, book_fee
from tests.factories.sweeps import LOCAL, SweepFactory

pytestmark = pytest.mark.django_db

ID, MONTH = "019bb286-3ae0-7b00-811c-fdc880dd81d4", "2026-01"
WEBHOOK = f"/v2/webhooks/{ID}"
# One request for each operation with a key, and the scope that it needs; None is any.
OPERATIONS = [
    ("POST", "/v1/sweep/build", "build"),
    ("POST", "/v1/sweep/discover", "build"),
    ("GET", "/v1/sweep/history", "read"),
    ("GET", "/v1/sweep/output-tokens", "read"),
    ("GET", f"/v1/sweep/status/{ID}", "read"),
    ("GET", f"/v1/sweep/status/{ID}/receipt", "ledger"),
    ("GET", "/v2/ledger/balances", "ledger"),
    ("GET", "/v2/ledger/entries", "ledger"),
    ("GET", "/v2/partner", None),
    ("GET", "/v2/sandbox", None),
    ("POST", "/v2/sandbox/advance", "build"),
    ("POST", "/v2/sandbox/fund", "build"),
    ("POST", "/v2/sandbox/rpc/local", "build"),
    ("GET", f"/v2/statements/{MONTH}", "ledger"),
    ("GET", f"/v2/statements/{MONTH}/proof", "ledger"),
    ("POST", "/v2/sweep/build", "build"),
    ("POST", f"/v2/sweep/build/{ID}/refresh", "build"),
    ("POST", "/v2/sweep/discover", "build"),
    ("GET", "/v2/sweep/history", "read"),
    ("POST", "/v2/sweep/quote", "build"),
    ("GET", f"/v2/sweep/status/{ID}", "read"),
    ("POST", f"/v2/sweep/status/{ID}/cancel", "build"),
    ("POST", f"/v2/sweep/status/{ID}/confirm", "confirm"),
    ("POST", f"/v2/sweep/status/{ID}/finalize", "build"),
    ("GET", f"/v2/sweep/status/{ID}/receipt", "ledger"),
    ("GET", "/v2/webhooks", "webhooks"),
    ("POST", "/v2/webhooks", "webhooks"),
    ("GET", WEBHOOK, "webhooks"),
    ("PATCH", WEBHOOK, "webhooks"),
    ("DELETE", WEBHOOK, "webhooks"),
    ("GET", f"{WEBHOOK}/deliveries", "webhooks"),
    ("POST", f"{WEBHOOK}/ping", "webhooks"),
    ("POST", f"{WEBHOOK}/replay", "webhooks"),
    ("POST", f"{WEBHOOK}/rotate-secret", "webhooks"),
]
WITH_BODY = ("POST", "PATCH")
ID_IN_PATH = re.compile(r"<str:\w+>")


def client_of(partner: Partner, *, mode: Mode = Mode.TEST, **limits: Any) -> Client:
    _, plaintext = ApiKey.issue(partner=partner, name="tests", mode=mode, **limits)
    return Client(headers={"x-api-key": plaintext})


def send(client: Client, method: str, path: str) -> tuple[int, Any]:
    response = client.generic(method, path, "{}" if method in WITH_BODY else "", content_type="application/json")
    error = response.json().get("error", {})
    return response.status_code, (error.get("code"), error.get("details"))


# --- scopes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path", "scope"), OPERATIONS)
def test_an_operation_is_refused_without_its_scope_and_names_it(
    partner: Partner, method: str, path: str, scope: str | None
) -> None:
    others = [one for one in SCOPES if one != scope]
    status, (code, details) = send(client_of(partner, scopes=others), method, path)
    if scope is None:
        assert status == 200
        return
    assert (status, code) == (403, "insufficient_scope")
    assert details == [{"field": "x-api-key", "code": "required_scope", "message": scope}]


@pytest.mark.parametrize(("method", "path", "scope"), OPERATIONS)
def test_an_operation_needs_no_other_scope(partner: Partner, method: str, path: str, scope: str | None) -> None:
    status, _ = send(client_of(partner, scopes=[scope or "webhooks"]), method, path)
    assert status != 403


def test_every_operation_with_a_key_is_in_the_list() -> None:
    served = {
        (method.upper(), path_of(pattern))
        for pattern, actions in keyed_actions()
        for method in actions
        if method != "head"
    }
    assert served == {(method, path) for method, path, _ in OPERATIONS}


def path_of(pattern: str) -> str:
    """Return the path of a pattern with the parameters that the list has."""
    return ID_IN_PATH.sub(ID, pattern.replace("<str:chain>", "local").replace("<str:month>", MONTH))


def keyed_actions(resolver: URLResolver | None = None) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the path and the actions of each view that needs a key; the paths of none have a prefix."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            yield from keyed_actions(pattern)
            continue
        served: Any = pattern.callback
        if HasScope in getattr(getattr(served, "cls", None), "permission_classes", ()):
            yield f"/{pattern.pattern}", served.actions


def test_a_key_has_at_least_one_scope_and_only_known_ones(partner: Partner) -> None:
    for scopes in ([], ["admin"], ["read", "admin"]):
        with pytest.raises(IntegrityError, match="api_key_scopes_are_known"), transaction.atomic():
            ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST, scopes=scopes)


# --- addresses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [["198.51.100.7"], ["203.0.113.0/24", "198.51.100.0/24"], []])
def test_a_key_works_from_its_addresses(partner: Partner, allowed: list[str]) -> None:
    client = client_of(partner, allowed_ips=allowed)
    assert client.get("/v2/partner", REMOTE_ADDR="198.51.100.7").status_code == 200


@pytest.mark.parametrize("allowed", ["198.51.100.7", "::ffff:198.51.100.7", "::ffff:198.51.100.0/120", "::ffff:0:0/96"])
def test_an_address_is_the_same_mapped_to_ipv6(partner: Partner, allowed: str) -> None:
    client = client_of(partner, allowed_ips=[allowed])
    for remote in ("198.51.100.7", "::ffff:198.51.100.7", "::ffff:c633:6407"):
        assert client.get("/v2/partner", REMOTE_ADDR=remote).status_code == 200
    assert client.get("/v2/partner", REMOTE_ADDR="2001:db8::1").status_code == 403


@pytest.mark.parametrize("remote", ["198.51.100.8", "2001:db8::1", "127.0.0.1", ""])
def test_a_key_is_refused_from_other_addresses(partner: Partner, remote: str) -> None:
    client = client_of(partner, allowed_ips=["198.51.100.7"])
    response = client.get("/v2/partner", headers={"x-forwarded-for": "198.51.100.7"}, REMOTE_ADDR=remote)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "ip_not_allowed")
    assert ApiKey.objects.get().last_used_at is None


def test_the_address_that_a_trusted_proxy_says_counts(partner: Partner, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    client = client_of(partner, allowed_ips=["198.51.100.7"])
    for said, status in (("198.51.100.7", 200), ("198.51.100.7, 203.0.113.9", 403), ("nonsense", 403)):
        response = client.get("/v2/partner", headers={"x-forwarded-for": said}, REMOTE_ADDR="10.0.0.1")
        assert response.status_code == status


def test_a_wrong_secret_does_not_reveal_that_the_address_is_wrong(partner: Partner) -> None:
    client_of(partner, allowed_ips=["198.51.100.7"])
    api_key = ApiKey.objects.get()
    ApiKey.objects.update(digest="f" * 64)
    unknown, plaintext = ApiKey.issue(partner=partner, name="other", mode=Mode.TEST, allowed_ips=["198.51.100.7"])
    ApiKey.objects.filter(pk=unknown.pk).update(digest=api_key.digest)
    assert Client(headers={"x-api-key": plaintext}).get("/v2/partner").status_code == 401


# --- modes ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def one_of_each(change_networks: Callable[..., Any], two_chains: tuple[Any, ...]) -> None:
    """Base is a live chain, arbitrum a sandbox chain."""
    base, arbitrum = two_chains
    change_networks(chains={"base": replace(base, sandbox=False), "arbitrum": arbitrum})


@pytest.mark.usefixtures("one_of_each")
@pytest.mark.parametrize(("mode", "own", "other"), [("live", "base", "arbitrum"), ("test", "arbitrum", "base")])
def test_a_key_reaches_the_chains_of_its_mode_only(partner: Partner, mode: Mode, own: str, other: str) -> None:
    client = client_of(partner, mode=Mode(mode))
    data = client.get("/v2/partner").json()["data"]
    assert (data["mode"], [recipient["chain"] for recipient in data["recipients"]]) == (mode, [own])
    for url in ("/v2/sweep/history", "/v1/sweep/history", "/v2/ledger/entries"):
        assert client.get(url, {"chain": own}).status_code == 200
        refused = client.get(url, {"chain": other})
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unsupported_chain")
    for url in ("/v2/sweep/build", "/v2/sweep/quote", "/v2/sweep/discover"):
        refused = client.post(url, {"chain": other}, content_type="application/json")
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unsupported_chain")
        accepted = client.post(url, {"chain": own}, content_type="application/json")
        assert (accepted.status_code, accepted.json()["error"]["code"]) == (400, "invalid_request")


def test_sweeps_of_the_other_mode_look_exactly_like_missing_ones(partner: Partner) -> None:
    sweep = SweepFactory.create(partner=partner, network=LOCAL)
    live, test = client_of(partner, mode=Mode.LIVE), client_of(partner)
    assert test.get(f"/v2/sweep/status/{sweep.id}").status_code == 200
    assert [item["sweepId"] for item in test.get("/v2/sweep/history").json()["data"]["items"]] == [str(sweep.id)]
    assert live.get("/v2/sweep/history").json()["data"]["items"] == []
    for method, path, body in (
        ("GET", "/v2/sweep/status/{}", ""),
        ("POST", "/v2/sweep/status/{}/confirm", f'{{"txHash": "0x{"ab" * 32}"}}'),
        ("POST", "/v2/sweep/status/{}/cancel", "{}"),
        ("POST", "/v2/sweep/status/{}/finalize", '{"execution": "permit2", "signatures": ["0x11"]}'),
        ("POST", "/v2/sweep/build/{}/refresh", "{}"),
    ):
        answers = {
            live.generic(
                method, path.format(sweep_id), body, content_type="application/json", headers={"x-request-id": "same"}
            ).content
            for sweep_id in (sweep.id, ID)
        }
        assert len(answers) == 1
        assert b"sweep_not_found" in answers.pop()


def test_entries_of_the_other_mode_are_not_listed(partner: Partner, change_networks: Callable[..., Any]) -> None:
    local = networks.current().chains["local"]
    change_networks(chains={"local": local, "base": replace(local, name="base", chain_id=8453, sandbox=False)})
    entries = {str(book_fee(partner, network=network).id): network for network in (LOCAL, BASE)}
    number_by_time()
    for mode, network in ((Mode.LIVE, BASE), (Mode.TEST, LOCAL)):
        items = client_of(partner, mode=mode).get("/v2/ledger/entries").json()["data"]["items"]
        assert {entries[item["entryId"]] for item in items} == {network}


def test_balances_of_the_other_mode_are_not_counted(partner: Partner, change_networks: Callable[..., Any]) -> None:
    local = networks.current().chains["local"]
    change_networks(chains={"local": local, "base": replace(local, name="base", chain_id=8453, sandbox=False)})
    for network in (LOCAL, BASE):
        book_fee(partner, network=network)
    number_by_time()
    for mode, chain in ((Mode.LIVE, "base"), (Mode.TEST, "local")):
        balances = client_of(partner, mode=mode).get("/v2/ledger/balances").json()["data"]["balances"]
        assert [(balance["chain"], balance["earned"]) for balance in balances] == [(chain, "400")]


@pytest.mark.usefixtures("one_of_each", "unmeasured")
def test_the_status_says_which_chains_are_sandbox_chains(anonymous: Client) -> None:
    chains = anonymous.get("/v2/status").json()["data"]["chains"]
    assert {chain["name"]: chain["sandbox"] for chain in chains} == {"base": False, "arbitrum": True}


def test_a_key_of_a_known_mode_only_is_stored(partner: Partner) -> None:
    with pytest.raises(IntegrityError, match="api_key_mode_is_known"), transaction.atomic():
        ApiKey.objects.create(partner=partner, mode="dev", scopes=["read"], expires_at=timezone.now())
