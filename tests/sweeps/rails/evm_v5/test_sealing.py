"""Sealing reserves nonces once, and a renewed sweep keeps its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import connection

from partners.models import Partner
from sweepapi.evm.addresses import NATIVE_COIN
from sweepapi.evm.chains import Chain
from sweepapi.evm.permit2 import BITS_PER_WORD
from sweeps.rails.evm.draft import EvmDraft
from sweeps.rails.evm.sealing import FIRST_PERMIT_WORD
from sweeps.rails.evm_v5.sealing import seal
from sweeps.rails.evm_v5.storing import V5Sealed
from sweeps.rails.registry import RAILS
from sweeps.rails.request import BuildRequest, TokenInput
from tests.factories.sweeps import LOCAL, random_checksum_address
from tests.local_chain import LocalChain

pytestmark = pytest.mark.django_db

FIRST_PERMIT = FIRST_PERMIT_WORD * BITS_PER_WORD


@pytest.fixture
def draft(partner: Partner, chain: LocalChain) -> EvmDraft:
    """A draft of three USDC into the native coin."""
    usdc = chain.token("USDC")
    request = BuildRequest(
        network=LOCAL,
        wallet=chain.users[0].address,
        tokens=[TokenInput(usdc.address, usdc.units(3))],
        output_asset=NATIVE_COIN,
        slippage_bps=100,
    )
    drafted = RAILS["evm_v5"].draft(partner=partner, request=request)
    assert isinstance(drafted, EvmDraft)
    return drafted


def nonces(sealed: V5Sealed) -> tuple[int, int]:
    """Return the authorization nonce and the Permit2 nonce, counted from the first."""
    (identity,) = sealed.identities
    assert identity.execution_id == str(sealed.authorization.nonce)
    return sealed.authorization.nonce, sealed.permission.nonce - FIRST_PERMIT


def test_both_nonces_count_up(draft: EvmDraft) -> None:
    assert [nonces(seal(draft)) for _ in range(3)] == [(0, 0), (1, 1), (2, 2)]


def test_authorization_nonces_belong_to_the_contract_and_permit_nonces_to_the_wallet(
    draft: EvmDraft, change_chain: Callable[..., Chain]
) -> None:
    seal(draft)
    of_another_wallet = replace(draft, request=replace(draft.request, wallet=random_checksum_address()))
    assert nonces(seal(of_another_wallet)) == (1, 0)
    replaced_by = random_checksum_address()
    change_chain(v5_contract=replaced_by)
    assert nonces(seal(replace(draft, contract=replaced_by))) == (0, 1)


def test_permit_nonces_that_the_draft_saw_used_are_skipped(draft: EvmDraft) -> None:
    assert nonces(seal(replace(draft, used_permit_words={FIRST_PERMIT_WORD: 0b11}))) == (0, 2)


@pytest.mark.django_db(transaction=True)
def test_reservations_at_the_same_time_never_share_a_nonce(draft: EvmDraft) -> None:
    def reserve(_number: int) -> tuple[int, int]:
        try:
            return nonces(seal(draft))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(reserve, range(24)))
    assert sorted(authorization for authorization, _ in taken) == list(range(24))
    assert sorted(permit for _, permit in taken) == list(range(24))
