"""Issuing reserves nonces once, and a renewed sweep keeps its own."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import connection

from partners.models import Partner
from sweepapi import networks
from sweepapi.evm.contracts.nonces import COLD_WORD_GAS, NONCES
from sweepapi.evm.contracts.permit2 import BITS_PER_WORD
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.rails.evm.build.issuing import FIRST_PERMIT_WORD
from sweeps.rails.evm_v5 import issuing
from sweeps.rails.evm_v5.issuing import V5Simulated
from sweeps.rails.evm_v5.storing import V5Issued
from sweeps.rails.registry import RAILS
from tests.factories.sweeps import LOCAL, random_checksum_address
from tests.local_chain import LocalChain

pytestmark = pytest.mark.django_db

FIRST_PERMIT = FIRST_PERMIT_WORD * BITS_PER_WORD


@pytest.fixture
def planned(partner: Partner, chain: LocalChain) -> V5Simulated:
    """A plan of three USDC into the native coin."""
    usdc = chain.token("USDC")
    request = BuildRequest(
        network=LOCAL,
        wallet=chain.users[0].address,
        tokens=[TokenInput(usdc.address, usdc.units(3))],
        output_asset=NATIVE_COIN,
        slippage_bps=100,
    )
    simulated = RAILS["evm_v5"].plan(registry=networks.current(), partner=partner, request=request)
    assert isinstance(simulated, V5Simulated)
    return simulated


def issue(planned: V5Simulated) -> V5Issued:
    return issuing.issue(planned, registry=networks.current())


def permit_nonce(issued: V5Issued) -> int:
    """Return the Permit2 nonce, counted from the first."""
    return issued.permission.nonce - FIRST_PERMIT


def test_the_authorizations_nonce_identifies_the_execution_and_comes_from_the_process(planned: V5Simulated) -> None:
    expected = [NONCES.upcoming + i for i in range(2)]
    issued = [issue(planned) for _ in expected]
    assert [one.authorization.nonce for one in issued] == expected
    assert [one.identities[0].execution_id for one in issued] == [str(nonce) for nonce in expected]


def test_permit_nonces_count_up_for_each_wallet(planned: V5Simulated) -> None:
    assert [permit_nonce(issue(planned)) for _ in range(3)] == [0, 1, 2]
    assert (
        permit_nonce(issue(replace(planned, request=replace(planned.request, wallet=random_checksum_address())))) == 0
    )


def test_permit_nonces_that_the_plan_saw_used_are_skipped(planned: V5Simulated) -> None:
    assert permit_nonce(issue(replace(planned, used_permit_words={FIRST_PERMIT_WORD: 0b11}))) == 2


def test_a_word_that_the_simulation_did_not_see_adds_its_gas(planned: V5Simulated) -> None:
    assert issue(replace(planned, tried_nonce=NONCES.upcoming)).gas == planned.gas.limit()
    assert (
        issue(replace(planned, tried_nonce=NONCES.upcoming + BITS_PER_WORD)).gas == planned.gas.limit() + COLD_WORD_GAS
    )


@pytest.mark.django_db(transaction=True)
def test_reservations_at_the_same_time_never_share_a_nonce(planned: V5Simulated) -> None:
    def reserve(_number: int) -> tuple[int, int]:
        try:
            issued = issue(planned)
            return issued.authorization.nonce, permit_nonce(issued)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(reserve, range(24)))
    assert len({authorization for authorization, _ in taken}) == len(taken)
    assert sorted(permit for _, permit in taken) == list(range(24))
