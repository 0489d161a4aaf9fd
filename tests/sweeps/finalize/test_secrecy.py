"""A signature goes to the chain's provider and into the answer: no table, log, error or page has it."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from partners.models import IdempotencyRecord
from sweepapi.evm.worth.ways import WayKind
from sweeps.rails.evm.finalize import finalizing
from sweeps.rails.evm.finalize.finalizing import Signed
from tests.fake_node import FakeNode
from tests.partner_app import PartnerApp, error_of
from tests.sweeps.finalize.wallet_signatures import PATH, finalize, post, sign, signatures_of
from tests.wallets import delegate, deployed

pytestmark = pytest.mark.django_db


def written(signature: str) -> list[str]:
    """Return what of a signature must not be found: its halves, as hex and as Python shows bytes."""
    halves = [bytes.fromhex(signature.removeprefix("0x"))[i : i + 32] for i in (0, 32)]
    return [text for half in halves for text in (half.hex(), repr(half)[2:-1])]


def tables() -> Iterator[str]:
    """Yield every row of every table, as text; of columns with bytes, hex."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{table}" t')  # noqa: S608 a name of ours
            yield from (row for (row,) in cursor.fetchall())


def found_in(text: str, signatures: list[str]) -> list[str]:
    return [part for signature in signatures for part in written(signature) if part.lower() in text.lower()]


def requested(app: PartnerApp, built: dict[str, Any], signatures: list[str], **headers: str) -> Any:
    body = {"execution": "permit2", "signatures": signatures}
    path = PATH.format(sweep_id=built["sweepId"])
    return app.api.post(path, body, content_type="application/json", headers=headers or None)


def test_nothing_is_stored_or_logged(app: PartnerApp, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="sweepapi")
    caplog.set_level(logging.DEBUG, logger="sweeps")
    caplog.set_level(logging.DEBUG, logger="django")
    built = app.build()
    app.approve(built)
    good, wrong = signatures_of(app.user, built), signatures_of(app.chain.users[1], built)
    before = list(tables())
    assert requested(app, built, good, **{"Idempotency-Key": "order-1"}).status_code == 200
    refused = requested(app, built, wrong, **{"Idempotency-Key": "order-2"})
    assert error_of(refused) == (422, "signature_invalid")
    assert found_in(refused.content.decode(), wrong) == []
    assert list(tables()) == before, "not even that it was asked for"
    assert not IdempotencyRecord.objects.exists()
    assert found_in(caplog.text, good + wrong) == []
    assert "finalize" in caplog.text, "requests are logged, by their route"


def test_the_search_finds_what_is_stored(app: PartnerApp) -> None:
    built = app.build()
    assert found_in("\n".join(tables()), [built["feeAuthorization"]["signature"]]) != []


@pytest.mark.parametrize("debug", [False, True])
def test_a_mistake_of_ours_shows_no_signature(  # noqa: PLR0913 what a mistake could be shown in
    app: PartnerApp,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    *,
    debug: bool,
) -> None:
    settings.DEBUG = debug
    app.api.raise_request_exception = False

    def broken(*_arguments: object, **_options: object) -> bytes:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(finalizing, "with_signatures", broken)
    built = app.build()
    signatures = signatures_of(app.user, built)
    response = requested(app, built, signatures)
    assert error_of(response) == (500, "internal_error")
    output = capsys.readouterr()
    everything = response.content.decode() + caplog.text + output.out + output.err
    assert "a mistake" in everything
    assert found_in(everything, signatures) == []


def test_a_provider_that_repeats_the_call_in_its_error_is_not_quoted(
    app: PartnerApp, node: FakeNode, caplog: pytest.LogCaptureFixture
) -> None:
    built = app.build()
    signatures = signatures_of(app.user, built)

    def quoting(batch: list[dict[str, Any]]) -> tuple[int, bytes]:
        return 500, repr(batch).encode()

    node.raw = quoting
    response = requested(app, built, signatures)
    assert error_of(response) == (503, "chain_unavailable")
    assert found_in(response.content.decode() + caplog.text, signatures) == []


def test_a_wallets_code_that_repeats_the_signature_in_its_revert_is_not_quoted(app: PartnerApp) -> None:
    built = app.build()
    signature = sign(app.user, built["permit2"]).hex()
    app.chain.put_code(app.user.address, "365f5f37365ffd")  # reverts with the whole call
    refused = post(app, built, [signature])
    assert error_of(refused) == (422, "signature_invalid")
    assert found_in(refused.content.decode(), [signature]) == []


def test_no_object_on_the_way_shows_a_signature() -> None:
    signed = Signed(WayKind.PERMIT2, [bytes(range(65))])
    assert "signatures" not in repr(signed)


def test_a_repeated_request_is_answered_again(app: PartnerApp) -> None:
    delegate(app.chain, app.user, deployed(app.chain, "SigningBatchAccount"))
    built = app.build()
    app.approve(built)
    signatures = signatures_of(app.user, built)
    first = requested(app, built, signatures, **{"Idempotency-Key": "order-1"})
    second = requested(app, built, signatures, **{"Idempotency-Key": "order-1"})
    assert first.json()["data"] == second.json()["data"] == finalize(app, built, signatures)
    assert "Idempotency-Replayed" not in second.headers
