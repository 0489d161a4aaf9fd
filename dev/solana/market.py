"""The tokens of the local cluster: their mints, their prices, and who has them when the cluster starts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from solders.account import Account
from solders.address_lookup_table_account import ID as LOOKUP_TABLE_PROGRAM
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM_PROGRAM
from spl.token.constants import (
    ASSOCIATED_TOKEN_PROGRAM_ID,
    NATIVE_DECIMALS,
    TOKEN_2022_PROGRAM_ID,
    TOKEN_PROGRAM_ID,
    WRAPPED_SOL_MINT,
)

from dev.solana.bank import Bank
from dev.solana.extensions import Extension, metadata, metadata_pointer, transfer_fee
from dev.solana.faucet import LAMPORTS_PER_SOL, METADATA_PROGRAM, Faucet

USER_LAMPORTS = 10 * LAMPORTS_PER_SOL
MAKER_LAMPORTS = 10_000 * LAMPORTS_PER_SOL  # each quote costs it the rent of an account
SOL_MICRO_USD = 150_000_000
MAKER_UNITS = 10**15  # of each token, in its smallest unit: more than the maker can sell to all users
SOLD_THROUGH_SOL = frozenset({"BONK"})  # by the maker, as routes of two steps
OUTPUTS = ("USDC", "SOL")  # what sweeps can end in; the fee wallet has an account for each


@dataclass(frozen=True)
class Token:
    """A token of the local cluster, and how much of it each user has in the smallest unit."""

    symbol: str
    name: str
    decimals: int
    micro_usd: int  # the price of a whole token, in millionths of a dollar
    user_amount: int | None = None  # None: users have no account; 0: they have an empty one
    program: Pubkey = TOKEN_PROGRAM_ID
    extensions: tuple[Extension, ...] = ()

    @property
    def keypair(self) -> Keypair:
        """The mint's key: the same in every run, and worthless once the mint exists."""
        return _keypair(self.symbol)

    @property
    def mint(self) -> Pubkey:
        return self.keypair.pubkey()


# Users can sweep four tokens and close the empty account; TAXD is found and refused, because it taxes transfers.
TOKENS = (
    Token("USDC", "USD Coin", 6, 1_000_000),
    Token("USDT", "Tether USD", 6, 1_000_000, user_amount=25_000_000),
    Token("JUP", "Jupiter", 6, 500_000, user_amount=120_000_000),
    Token("BONK", "Bonk", 5, 20, user_amount=90_000_000_000),
    Token(
        "PYUSD",
        "PayPal USD",
        6,
        1_000_000,
        user_amount=40_500_000,
        program=TOKEN_2022_PROGRAM_ID,
        extensions=(metadata_pointer(), metadata("PayPal USD", "PYUSD")),
    ),
    Token("WIF", "dogwifhat", 6, 2_000_000, user_amount=0),
    Token(
        "TAXD",
        "Taxed Dog",
        6,
        1_000_000,
        user_amount=5_000_000,
        program=TOKEN_2022_PROGRAM_ID,
        extensions=(transfer_fee(100),),
    ),
)


PRICES_MICRO_USD = {token.symbol: token.micro_usd for token in TOKENS} | {"SOL": SOL_MICRO_USD}


def mints() -> dict[str, tuple[Pubkey, int]]:
    """Return mint and decimals of every token by symbol, with SOL as wrapped SOL."""
    return {token.symbol: (token.mint, token.decimals) for token in TOKENS} | {
        "SOL": (WRAPPED_SOL_MINT, NATIVE_DECIMALS)
    }


def lookup_table() -> Pubkey:
    """Return the address of a lookup table of what most swaps name."""
    return _keypair("lookup table").pubkey()


def open_market(bank: Bank, *, fee_wallet: Pubkey, maker: Pubkey, users: Sequence[Pubkey]) -> None:
    """Create the mints and the lookup table, and give everyone their tokens."""
    faucet = Faucet(bank)
    for token in TOKENS:
        faucet.create_mint(token.decimals, program=token.program, extensions=token.extensions, keypair=token.keypair)
        if not any(extension.added_bytes for extension in token.extensions):
            faucet.name_mint(token.mint, token.name, token.symbol)
    faucet.give_lamports(maker, MAKER_LAMPORTS)
    for key in (fee_wallet, *users):
        faucet.give_lamports(key, USER_LAMPORTS)
    fee_accounts = [faucet.create_account(fee_wallet, mints()[symbol][0]) for symbol in OUTPUTS]
    maker_accounts = [faucet.give_tokens(maker, mint, MAKER_UNITS) for mint, _ in mints().values()]
    for user in users:
        for token in TOKENS:
            if token.user_amount is not None:
                faucet.give_tokens(user, token.mint, token.user_amount)
    named = [mint for mint, _ in mints().values()]
    programs = [SYSTEM_PROGRAM, ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]
    faucet.create_lookup_table([*programs, *named, *fee_accounts, *maker_accounts], key=lookup_table())


def accounts(bank: Bank) -> Iterator[tuple[Pubkey, Account]]:
    """Yield the accounts of a market: of wallets, tokens, their names, and the lookup table."""
    for owner in (SYSTEM_PROGRAM, TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID, METADATA_PROGRAM, LOOKUP_TABLE_PROGRAM):
        yield from bank.svm.get_program_accounts(owner)


def _keypair(name: str) -> Keypair:
    return Keypair.from_seed(sha256(f"the local Solana cluster's {name}".encode()).digest())
