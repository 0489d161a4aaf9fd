"""Reads a wallet in two HTTP requests: all its token accounts, then the mints and names of one page of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from solders.pubkey import Pubkey

from sweepapi.rpc import ProviderPool
from sweepapi.solana.cluster import reads
from sweepapi.solana.encoding.accounts import TOKEN_ACCOUNT_BYTES, Holding
from sweepapi.solana.encoding.addresses import TOKEN_PROGRAMS
from sweepapi.solana.encoding.responses import EpochInfo
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.tokens.facts import token_keys, tokens_in
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.terms import fee_account


@dataclass(frozen=True)
class WalletAccounts:
    """All token accounts of a wallet, and what the cluster charges now."""

    wallet: Pubkey
    epoch: EpochInfo
    recent_prices: Sequence[int]  # micro-lamports per compute unit
    wallet_rent: int
    token_account_rent: int
    holdings: Mapping[Pubkey, Holding]  # by key

    @property
    def with_balance(self) -> list[Holding]:
        return [holding for holding in self.holdings.values() if holding.token.amount > 0]


def read_accounts(pool: ProviderPool, wallet: Pubkey) -> WalletAccounts:
    """Read every account of a wallet; raises ``ChainUnavailableError``.

    A provider's answer is bounded by its bytes, which some hundred thousand accounts have.
    """
    own = [reads.EPOCH_INFO, compute_budget.recent_fees_call([]), reads.rent_of(0), reads.rent_of(TOKEN_ACCOUNT_BYTES)]
    epoch, recent_prices, wallet_rent, token_account_rent, *by_program = pool.batch(
        [*own, *(reads.token_accounts_of(wallet, program) for program in TOKEN_PROGRAMS)]
    )
    found: list[Holding] = [holding for of_program in by_program for holding in of_program]
    holdings = {holding.key: holding for holding in found}
    return WalletAccounts(wallet, epoch, recent_prices, wallet_rent, token_account_rent, holdings)


def read_facts_of(
    pool: ProviderPool, accounts: WalletAccounts, page: Sequence[Holding], output_mint: Pubkey, fee_wallet: str
) -> ClusterFacts:
    """Read what a build of the tokens of a page would; raises ``ChainUnavailableError``."""
    mints = list(dict.fromkeys([output_mint, *(holding.token.mint for holding in page)]))
    fee_accounts = [fee_account(fee_wallet, output_mint, program) for program in TOKEN_PROGRAMS]
    keys = [accounts.wallet, *fee_accounts, *token_keys(mints)]
    found = reads.by_key(keys, pool.batch(reads.multiple_accounts(keys)))
    tokens = tokens_in(found, mints)
    return ClusterFacts(
        slot=accounts.epoch.slot,
        epoch=accounts.epoch.epoch,
        wallet=accounts.wallet,
        account=found[accounts.wallet],
        holdings=accounts.holdings,
        output_mint=output_mint,
        mints=tokens.mints,
        names=tokens.names,
        fee_wallet=fee_wallet,
        fee_accounts={key: found[key] for key in fee_accounts},
        wallet_rent=accounts.wallet_rent,
        token_account_rent=accounts.token_account_rent,
    )
