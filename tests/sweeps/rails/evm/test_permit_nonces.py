"""Permit2 nonces are reserved once, in sequence by wallet, and skip those that the chain shows as used."""

import pytest

from sweepapi.evm.contracts.permit2 import BITS_PER_WORD
from sweeps.rails.evm.build.issuing import FIRST_PERMIT_WORD, permit_words, reserve_permit_nonce
from sweeps.rails.evm.models import PermitNonces
from tests.factories.sweeps import LOCAL, random_checksum_address

pytestmark = pytest.mark.django_db

WALLET = random_checksum_address()
FIRST = FIRST_PERMIT_WORD * BITS_PER_WORD


def reserve(used_words: dict[int, int] | None = None, *, wallet: str = WALLET, network: str = LOCAL) -> int:
    return reserve_permit_nonce(network=network, wallet=wallet, used_words=used_words or {})


def test_the_nonces_of_a_wallet_count_up() -> None:
    assert [reserve() for _ in range(3)] == [FIRST, FIRST + 1, FIRST + 2]


def test_every_wallet_and_network_has_its_own_nonces() -> None:
    reserve()
    assert reserve(wallet=random_checksum_address()) == FIRST
    assert reserve(network="eip155:8453") == FIRST


def test_used_nonces_are_skipped_into_the_next_word() -> None:
    assert reserve({FIRST_PERMIT_WORD: 0b1011}) == FIRST + 2
    assert reserve({FIRST_PERMIT_WORD: 2**256 - 1, FIRST_PERMIT_WORD + 1: 0b1}) == FIRST + BITS_PER_WORD + 1


def test_the_words_to_read_follow_the_counter() -> None:
    assert permit_words(network=LOCAL, wallet=WALLET) == (FIRST_PERMIT_WORD, FIRST_PERMIT_WORD + 1)
    PermitNonces.objects.create(network=LOCAL, wallet=WALLET, next_index=256)
    assert permit_words(network=LOCAL, wallet=WALLET) == (FIRST_PERMIT_WORD + 1, FIRST_PERMIT_WORD + 2)


def test_every_nonce_fits_a_uint256() -> None:
    assert (FIRST_PERMIT_WORD + 2**63) * BITS_PER_WORD < 2**256
