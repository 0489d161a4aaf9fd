"""Keys of Solana accounts, and the programs that sweeps use."""

from solders.pubkey import Pubkey
from spl.token.instructions import get_associated_token_address

SYSTEM = Pubkey.from_string("11111111111111111111111111111111")
TOKEN = Pubkey.from_string("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
TOKEN_2022 = Pubkey.from_string("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
ASSOCIATED_TOKEN = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
COMPUTE_BUDGET = Pubkey.from_string("ComputeBudget111111111111111111111111111111")
LOOKUP_TABLE = Pubkey.from_string("AddressLookupTab1e1111111111111111111111111")
CLOCK = Pubkey.from_string("SysvarC1ock11111111111111111111111111111111")
SYSVAR = Pubkey.from_string("Sysvar1111111111111111111111111111111111111")
METADATA = Pubkey.from_string("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")  # Metaplex's
# Wallets add its assertions to what the user signs: https://github.com/Jac0xb/lighthouse
LIGHTHOUSE = Pubkey.from_string("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")
WRAPPED_SOL = Pubkey.from_string("So11111111111111111111111111111111111111112")

TOKEN_PROGRAMS = (TOKEN, TOKEN_2022)


def public_key(text: str) -> Pubkey:
    """Return the key of this base58 text; raises ``ValueError`` unless it is 32 bytes."""
    return Pubkey.from_string(text)


def associated_account(wallet: Pubkey, mint: Pubkey, program: Pubkey) -> Pubkey:
    """Return the address of a wallet's associated token account of a mint of this token program."""
    return get_associated_token_address(wallet, mint, program)
