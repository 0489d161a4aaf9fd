"""The guard over transactions is awake: it lets through what is outside and stops what is inside."""

import pytest
from celery import current_app
from django.db import transaction

from sweepapi import chains
from sweepapi.evm import responses
from sweepapi.evm.rpc import Call

pytestmark = pytest.mark.django_db

CHAIN_ID = Call("eth_chainId", (), responses.quantity)


def ask_the_chain() -> None:
    (pool,) = [chains.pool(chain.chain_id) for chain in chains.enabled()]
    pool.batch([CHAIN_ID])


def tell_the_broker() -> None:
    current_app.send_task("nobody.listens", queue="guarded", expires=1)


def test_outside_of_transactions_the_chain_and_the_broker_may_be_asked(io_inside_transactions: list[str]) -> None:
    ask_the_chain()
    tell_the_broker()
    assert io_inside_transactions == []


def test_a_question_to_the_chain_inside_a_transaction_is_caught(io_inside_transactions: list[str]) -> None:
    with pytest.raises(AssertionError, match=r"Provider\._post"), transaction.atomic():
        ask_the_chain()
    assert io_inside_transactions == ["Provider._post"]
    io_inside_transactions.clear()


def test_a_message_to_the_broker_inside_a_transaction_is_caught(io_inside_transactions: list[str]) -> None:
    with pytest.raises(AssertionError, match=r"Producer\.publish"), transaction.atomic():
        tell_the_broker()
    assert io_inside_transactions == ["Producer.publish"]
    io_inside_transactions.clear()


@pytest.mark.django_db(transaction=True)
def test_it_is_as_awake_where_the_test_case_brings_no_transaction(io_inside_transactions: list[str]) -> None:
    ask_the_chain()
    with pytest.raises(AssertionError), transaction.atomic():
        ask_the_chain()
    io_inside_transactions.clear()
