"""Reads everything about a wallet and its tokens that does not depend on prices, in one HTTP request."""

from collections.abc import Mapping
from dataclasses import dataclass

from solders.pubkey import Pubkey

from sweepapi.rpc import ProviderPool
from sweepapi.solana.cluster import reads
from sweepapi.solana.encoding.accounts import TOKEN_ACCOUNT_BYTES, ClusterAccount, Holding
from sweepapi.solana.encoding.addresses import TOKEN_PROGRAMS, associated_account, public_key
from sweepapi.solana.tokens.facts import token_keys, tokens_in
from sweepapi.solana.tokens.metadata import Metadata
from sweepapi.solana.tokens.mints import Mint
from sweeps.protocol.request import BuildRequest
from sweeps.rails.solana_v1.build.terms import fee_account


@dataclass(frozen=True)
class ClusterFacts:
    """What the cluster says about the wallet and the tokens of a request."""

    slot: int
    epoch: int
    wallet: Pubkey
    account: ClusterAccount | None  # of the wallet; None if it never held SOL
    holdings: Mapping[Pubkey, Holding]  # all of the wallet's token accounts, by key
    output_mint: Pubkey
    mints: Mapping[Pubkey, Mint | None]  # of the request
    names: Mapping[Pubkey, Metadata]
    fee_wallet: str  # that is paid the fee
    fee_accounts: Mapping[Pubkey, ClusterAccount | None]  # where the fee's would be under either token program
    wallet_rent: int  # what the wallet has to keep
    token_account_rent: int

    @property
    def lamports(self) -> int:
        """What the wallet holds."""
        return 0 if self.account is None else self.account.lamports

    @property
    def existing(self) -> set[Pubkey]:
        """The token accounts of the wallet, and those that are paid the fee."""
        return {*self.holdings, *(key for key, account in self.fee_accounts.items() if account is not None)}

    def associated(self, key: Pubkey) -> Holding | None:
        """Return the wallet's associated token account of a mint."""
        found = self.mints[key]
        return None if found is None else self.holdings.get(associated_account(self.wallet, key, found.program))


def read_facts(pool: ProviderPool, request: BuildRequest, fee_wallet: str) -> ClusterFacts:
    """Read the facts about a request; raises ``ChainUnavailableError``."""
    wallet, output_mint = public_key(request.wallet), public_key(request.output_asset)
    named = [*(token.asset for token in request.tokens), *(burn.asset for burn in request.burns)]
    mints = [output_mint, *map(public_key, named)]
    fee_accounts = [fee_account(fee_wallet, output_mint, program) for program in TOKEN_PROGRAMS]
    keys = [wallet, *fee_accounts, *token_keys(mints)]
    own = [
        reads.CLOCK,
        reads.EPOCH_INFO,
        reads.rent_of(0),
        reads.rent_of(TOKEN_ACCOUNT_BYTES),
        *(reads.token_accounts_of(wallet, program) for program in TOKEN_PROGRAMS),
    ]
    answers = pool.batch([*own, *reads.multiple_accounts(keys)])
    _, epoch, wallet_rent, token_account_rent, *held = answers[: len(own)]
    accounts = reads.by_key(keys, answers[len(own) :])
    tokens = tokens_in(accounts, mints)
    return ClusterFacts(
        slot=epoch.slot,
        epoch=epoch.epoch,
        wallet=wallet,
        account=accounts[wallet],
        holdings={holding.key: holding for of_program in held for holding in of_program},
        output_mint=output_mint,
        mints=tokens.mints,
        names=tokens.names,
        fee_wallet=fee_wallet,
        fee_accounts={key: accounts[key] for key in fee_accounts},
        wallet_rent=wallet_rent,
        token_account_rent=token_account_rent,
    )
