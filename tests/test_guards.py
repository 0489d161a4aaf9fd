"""The transaction guard allows calls outside of database transactions and fails calls inside."""

import pytest
from celery import current_app
from django.db import transaction

from partners.webhooks import attempts
from partners.webhooks.deliverer import Deliverer
from partners.webhooks.targets import WebhookTarget
from sweepapi import networks
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.signers import SignerSettings, make_signer
from sweepapi.rpc import Call
from tests.solana_swap_api import client_at

pytestmark = pytest.mark.django_db

CHAIN_ID = Call("eth_chainId", (), responses.quantity)


def read_the_chain() -> None:
    (pool,) = [networks.current().pool(chain.network) for chain in networks.current().enabled]
    pool.batch([CHAIN_ID])


def send_a_message() -> None:
    current_app.send_task("no.such.task", queue="guarded", expires=1)


def ask_for_quotes() -> None:
    client_at("http://127.0.0.1:1").quotes([])


def test_calls_outside_of_transactions_are_allowed(io_inside_transactions: list[str]) -> None:
    read_the_chain()
    ask_for_quotes()
    send_a_message()
    assert io_inside_transactions == []


def test_a_chain_read_inside_a_transaction_is_caught(io_inside_transactions: list[str]) -> None:
    with pytest.raises(AssertionError, match=r"Provider\._post"), transaction.atomic():
        read_the_chain()
    assert io_inside_transactions == ["Provider._post"]
    io_inside_transactions.clear()


def test_a_request_for_quotes_inside_a_transaction_is_caught(io_inside_transactions: list[str]) -> None:
    with pytest.raises(AssertionError, match=r"SwapApi\.quotes"), transaction.atomic():
        ask_for_quotes()
    assert io_inside_transactions == ["SwapApi.quotes"]
    io_inside_transactions.clear()


@pytest.mark.parametrize("kind", ["aws_kms", "web3signer"])
def test_a_remote_signature_inside_a_transaction_is_caught(
    io_inside_transactions: list[str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    signer = make_signer(
        SignerSettings(kind, kms_key_id="k", web3signer_url="http://127.0.0.1:1", address=ZERO_ADDRESS)
    )
    with pytest.raises(AssertionError, match=r"Signer\._ask"), transaction.atomic():
        signer.sign(TypedData(domain={}, types={"Nothing": []}, primary_type="Nothing", message={}))
    assert io_inside_transactions == [f"{type(signer).__name__}._ask"]
    io_inside_transactions.clear()


def test_a_message_to_the_broker_inside_a_transaction_is_caught(io_inside_transactions: list[str]) -> None:
    with pytest.raises(AssertionError, match=r"Producer\.publish"), transaction.atomic():
        send_a_message()
    assert io_inside_transactions == ["Producer.publish"]
    io_inside_transactions.clear()


def test_a_webhook_that_is_sent_inside_a_transaction_is_caught(io_inside_transactions: list[str]) -> None:
    unreachable = WebhookTarget("http", "127.0.0.1", 1, "/")
    assert attempts.post(unreachable, {}, b"{}").error
    with pytest.raises(AssertionError, match=r"attempts\.post"), transaction.atomic():
        attempts.post(unreachable, {}, b"{}")
    assert io_inside_transactions == ["partners.webhooks.attempts.post"]
    io_inside_transactions.clear()


def test_a_wait_for_endpoints_inside_a_transaction_is_caught(io_inside_transactions: list[str]) -> None:
    deliverer = Deliverer(lambda _: {})
    deliverer.finish()
    with pytest.raises(AssertionError, match=r"Deliverer\._collect"), transaction.atomic():
        deliverer.finish()
    assert io_inside_transactions == ["Deliverer._collect"]
    io_inside_transactions.clear()


@pytest.mark.django_db(transaction=True)
def test_the_guard_also_works_in_a_transactional_test(io_inside_transactions: list[str]) -> None:
    read_the_chain()
    with pytest.raises(AssertionError), transaction.atomic():
        read_the_chain()
    io_inside_transactions.clear()
