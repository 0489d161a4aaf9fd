"""Sweeps and cancellations work on chain when the fee signer's key is elsewhere, and an outage stores nothing."""

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings

from indexer.jobs import send_cancellations
from sweepapi import networks
from sweepapi.evm.signers import LocalFeeSigner, SignerSettings
from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.story.withdrawal import void
from tests import fake_web3signer, kms
from tests.partner_app import PartnerApp, error_of

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["aws_kms", "web3signer"])
def remote(request: pytest.FixtureRequest, change_networks: Callable[..., Networks]) -> Iterator[str]:
    """The contract's fee signer, whose key is only held by a remote signer."""
    address = networks.current().fee_signer.address
    key = settings.FEE_SIGNER_KEY
    with kms.running(key) as key_id, fake_web3signer.running(key) as server:
        changed = change_networks(
            fee_signer_settings=SignerSettings(
                request.param, kms_key_id=key_id, web3signer_url=server.url, address=address
            )
        )
        assert not isinstance(changed.fee_signer, LocalFeeSigner)
        yield address


def test_a_sweep_is_executed_with_a_signature_from_elsewhere(app: PartnerApp, remote: str) -> None:
    built = app.build()
    assert built["feeAuthorization"]["signer"] == remote
    state = app.confirm(built, app.execute(built))
    assert (state["status"], state["flags"]) == ("completed", [])


def test_a_cancellation_is_sent_with_a_signature_from_elsewhere(app: PartnerApp, remote: str) -> None:
    app.chain.give_coins(remote)
    app.build()
    sweep = Sweep.objects.get()
    void(sweep_id=sweep.id, reason="stolen key", requested_by="ops", cancels=True)
    send_cancellations()
    app.chain.mine()
    transaction = sweep.executions.get().cancellation.transactions.get()
    receipt = app.chain.receipt(transaction.tx_hash)
    assert (receipt["status"], receipt["from"]) == (1, remote)


def test_while_it_does_not_answer_builds_are_disabled_and_nothing_is_stored(
    app: PartnerApp,
    change_networks: Callable[..., Networks],
    nothing_is_stored: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert nothing_is_stored is None
    address = networks.current().fee_signer.address
    url = "http://us:the-password@127.0.0.1:1"
    change_networks(fee_signer_settings=SignerSettings("web3signer", web3signer_url=url, address=address))
    response = app.post_build(app.body())
    assert error_of(response) == (503, "build_disabled")
    assert (response.json()["error"]["retryable"], response.headers["Retry-After"]) == (True, "5")
    assert "Web3Signer did not answer (ConnectionError)" in caplog.text
    assert "the-password" not in caplog.text
