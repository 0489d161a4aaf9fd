"""The two nonces of a sweep, reserved in the database before anything is signed with them.

A build that fails after its reservation leaves a gap; a nonce is never handed out twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from sweepapi.evm.addresses import keccak_hex
from sweepapi.evm.chains import Chain
from sweepapi.evm.permit2 import BITS_PER_WORD
from sweeps.models import AuthorizationNonces, PermitNonces

# Permit2's nonces are unordered: 2^248 words of 256. Ours begin at a word that nobody else has a reason to use; the
# top bits stay clear, so that counting up never leaves the range.
FIRST_PERMIT_WORD = int(keccak_hex(b"sweepapi permit2 nonces"), 16) >> 16


@dataclass(frozen=True)
class Nonces:
    """What one build may use, once."""

    authorization: int
    permit: int


def permit_words(*, chain: Chain, wallet: str) -> tuple[int, ...]:
    """Return the positions of the words in which the wallet's next Permit2 nonce will lie."""
    row = PermitNonces.objects.filter(chain_id=chain.chain_id, wallet=wallet).first()
    word = FIRST_PERMIT_WORD + (row.next_index if row is not None else 0) // BITS_PER_WORD
    return (word, word + 1)


def reserve(*, chain: Chain, contract: str, wallet: str, used_words: Mapping[int, int]) -> Nonces:
    """Reserve the next nonces; ``used_words`` is Permit2's bitmap by word position, as just read from the chain.

    The rows are locked for the length of this transaction, which does nothing else.
    """
    with transaction.atomic():
        return Nonces(
            authorization=_next_authorization_nonce(chain, contract),
            permit=_next_permit_nonce(chain, wallet, used_words),
        )


def _next_authorization_nonce(chain: Chain, contract: str) -> int:
    AuthorizationNonces.objects.get_or_create(chain_id=chain.chain_id, contract=contract)
    row = AuthorizationNonces.objects.select_for_update().get(chain_id=chain.chain_id, contract=contract)
    row.next_nonce += 1
    row.save(update_fields=["next_nonce"])
    return row.next_nonce - 1


def _next_permit_nonce(chain: Chain, wallet: str, used_words: Mapping[int, int]) -> int:
    PermitNonces.objects.get_or_create(chain_id=chain.chain_id, wallet=wallet)
    row = PermitNonces.objects.select_for_update().get(chain_id=chain.chain_id, wallet=wallet)
    index = row.next_index
    while _is_used(index, used_words):
        index += 1
    row.next_index = index + 1
    row.save(update_fields=["next_index"])
    return FIRST_PERMIT_WORD * BITS_PER_WORD + index


def _is_used(index: int, used_words: Mapping[int, int]) -> bool:
    word, bit = divmod(index, BITS_PER_WORD)
    # A word that was not read belongs to builds that overtook this one; its bits were fresh when they read it.
    return bool(used_words.get(FIRST_PERMIT_WORD + word, 0) >> bit & 1)
