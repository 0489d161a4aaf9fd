"""Reports of unexpected errors hold no key, no body and no query, whatever fails."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import sentry_sdk
from django.test import Client
from sentry_sdk.envelope import Envelope
from sentry_sdk.transport import Transport

from sweepapi import networks
from sweepapi.evm.signers import LocalFeeSigner
from sweepapi.startup import error_reports

SECRET = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"


class Sent(Transport):
    """Keeps what would be sent."""

    envelopes: list[Envelope] = []

    def capture_envelope(self, envelope: Envelope) -> None:
        self.envelopes.append(envelope)


@pytest.fixture
def sent(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Envelope]]:
    """What is reported until the test ends."""
    settings.SENTRY_DSN = "https://public@sentry.invalid/1"
    begin = sentry_sdk.init
    monkeypatch.setattr(sentry_sdk, "init", lambda **options: begin(**options, transport=Sent))
    Sent.envelopes = []
    error_reports.start()
    yield Sent.envelopes
    sentry_sdk.get_global_scope().set_client(None)


def text(sent: list[Envelope]) -> str:
    sentry_sdk.flush()
    return json.dumps([item.payload.json for envelope in sent for item in envelope.items])


def test_an_error_within_the_signer_is_reported_without_its_key(
    sent: list[Envelope], monkeypatch: pytest.MonkeyPatch
) -> None:
    signer = LocalFeeSigner.from_key(f"0x{SECRET}")

    def sign_badly(*_arguments: object) -> bytes:
        key = SECRET  # noqa: F841 as a local variable of what fails
        raise ZeroDivisionError

    monkeypatch.setattr(LocalFeeSigner, "sign", sign_badly)
    try:
        signer.sign(None)  # type: ignore[arg-type]
    except ZeroDivisionError as error:
        sentry_sdk.capture_exception(error)
    report = text(sent)
    assert "ZeroDivisionError" in report
    assert "sign_badly" in report
    assert SECRET not in report
    assert '"vars"' not in report


@pytest.mark.django_db
def test_an_error_within_a_request_is_reported_without_key_body_and_query(
    sent: list[Envelope], anonymous: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(networks, "current", fail)
    anonymous.raise_request_exception = False
    anonymous.get("/v2/status?wallet=0xbeef", headers={"x-api-key": f"swp_live_{SECRET}", "cookie": "session=7"})
    report = text(sent)
    assert "ZeroDivisionError" in report
    assert "/v2/status" in report
    assert [one for one in (SECRET, "0xbeef", "session=7") if one in report] == []


def test_nothing_is_reported_without_a_place_for_it(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SENTRY_DSN = ""
    monkeypatch.setattr(sentry_sdk, "init", lambda **_options: pytest.fail("it was started"))
    error_reports.start()
