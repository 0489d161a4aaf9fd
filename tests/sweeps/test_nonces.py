"""Nonces are handed out once, in order, and around those that the chain says are used."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from sweeps.nonces import FIRST_PERMIT_WORD, Nonces, permit_words, reserve

from sweepapi import chains
from sweepapi.evm.permit2 import BITS_PER_WORD
from sweeps.models import PermitNonces
from tests.factories.sweeps import CONTRACT, random_checksum_address

pytestmark = pytest.mark.django_db

WALLET = random_checksum_address()
FIRST = FIRST_PERMIT_WORD * BITS_PER_WORD


def take(used_words: dict[int, int] | None = None, *, wallet: str = WALLET) -> Nonces:
    return reserve(chain=chains.known()["local"], contract=CONTRACT, wallet=wallet, used_words=used_words or {})


def test_both_nonces_count_up() -> None:
    assert [take() for _ in range(3)] == [Nonces(i, FIRST + i) for i in range(3)]


def test_authorization_nonces_are_the_contracts_and_permit_nonces_the_wallets() -> None:
    take()
    assert take(wallet=random_checksum_address()) == Nonces(authorization=1, permit=FIRST)


def test_used_permit_nonces_are_passed_over_into_the_next_word() -> None:
    assert take({FIRST_PERMIT_WORD: 0b1011}).permit == FIRST + 2
    assert take({FIRST_PERMIT_WORD: 2**256 - 1, FIRST_PERMIT_WORD + 1: 0b1}).permit == FIRST + BITS_PER_WORD + 1


def test_the_words_to_read_follow_the_counter() -> None:
    local = chains.known()["local"]
    assert permit_words(chain=local, wallet=WALLET) == (FIRST_PERMIT_WORD, FIRST_PERMIT_WORD + 1)
    PermitNonces.objects.create(chain_id=local.chain_id, wallet=WALLET, next_index=256)
    assert permit_words(chain=local, wallet=WALLET) == (FIRST_PERMIT_WORD + 1, FIRST_PERMIT_WORD + 2)


def test_every_permit_nonce_fits_a_uint256() -> None:
    assert (FIRST_PERMIT_WORD + 2**63) * BITS_PER_WORD < 2**256


@pytest.mark.django_db(transaction=True)
def test_reservations_at_the_same_time_never_share_a_nonce() -> None:
    def take_one(_number: int) -> Nonces:
        try:
            return take()
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(take_one, range(24)))
    assert sorted(nonces.authorization for nonces in taken) == list(range(24))
    assert sorted(nonces.permit for nonces in taken) == list(range(FIRST, FIRST + 24))
