"""Draws the key by which a transaction is found on chain: its reference, which no one holds the secret of."""

import secrets

from solders.pubkey import Pubkey

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
# Any 43 digits that begin so are 32 bytes. The other 30 are free: 176 bits.
_DONT_FRONT = "jitodontfront"
_DONT_FRONT_DIGITS = 43


def new_reference(*, dont_front: bool) -> Pubkey:
    """Return a new key.

    With ``dont_front`` it begins so that Jito's block engine takes a bundle only if its transaction comes first:
    https://solana.com/docs/defi/mev-protection
    """
    if not dont_front:
        return Pubkey(secrets.token_bytes(Pubkey.LENGTH))
    free = (secrets.choice(_BASE58) for _ in range(_DONT_FRONT_DIGITS - len(_DONT_FRONT)))
    return Pubkey.from_string(_DONT_FRONT + "".join(free))
