"""The addresses of a venue's pools, computed as the contracts compute them: pools are never named by a caller."""

from functools import lru_cache

from eth_utils.crypto import keccak

from sweepapi.evm.chain.chains import Venue
from sweepapi.evm.encoding.addresses import eip55


@lru_cache(maxsize=16_384)  # a request asks for each of its pools several times
def pool_address(venue: Venue, token_a: str, token_b: str, fee: int) -> str:
    """Return the CREATE2 address of a pool, which may not exist; ``fee`` is zero for venues without fee tiers."""
    salt = keccak(venue.salt_rule.source(sorted((token_a, token_b), key=str.lower), fee))
    deployer, init_code_hash = bytes.fromhex(venue.deployer[2:]), bytes.fromhex(venue.init_code_hash[2:])
    return eip55(keccak(b"\xff" + deployer + salt + init_code_hash)[-20:].hex())
