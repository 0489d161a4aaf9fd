"""What a sweep on Solana pays its fee into and ends in, and how the swap API is asked for it."""

from dataclasses import dataclass

from solders.pubkey import Pubkey

from sweepapi.errors import FieldError, InvalidRequest
from sweepapi.solana.cluster.clusters import Cluster, OutputToken
from sweepapi.solana.encoding.addresses import associated_account, public_key
from sweepapi.solana.swap_api import QuoteRequest

# A transaction locks 64 accounts at most, and ours need some in addition to the route's.
MAX_ROUTE_ACCOUNTS = 48
# What a route may use that is asked for again, because the one before did not fit into a transaction.
FEWER_ROUTE_ACCOUNTS = (28, 16)


def fee_account(fee_wallet: str, output_mint: Pubkey, program: Pubkey) -> Pubkey:
    """Return the token account that is paid the fees of sweeps that end in this mint."""
    return associated_account(public_key(fee_wallet), output_mint, program)


def output_of(cluster: Cluster, output_mint: str) -> OutputToken:
    """Return the output token of this mint; raises ``InvalidRequest`` if sweeps can't end in it."""
    output = cluster.output_token(output_mint)
    if output is None:
        raise InvalidRequest(details=[FieldError("outputMint", "unsupported", "Sweeps can't end in this token.")])
    return output


@dataclass(frozen=True)
class SwapTerms:
    """What all quotes of a request have in common."""

    wallet: str
    output_mint: str
    fee_account: Pubkey
    slippage_bps: int
    fee_bps: int
    price_percentile: str  # of the prices of compute units

    def quote_request(self, mint: str, amount: int, *, max_accounts: int = MAX_ROUTE_ACCOUNTS) -> QuoteRequest:
        """Return the request for selling an amount of a token by a route of so many accounts at most."""
        return QuoteRequest(
            input_mint=mint,
            output_mint=self.output_mint,
            amount=amount,
            taker=self.wallet,
            slippage_bps=self.slippage_bps,
            platform_fee_bps=self.fee_bps,
            fee_account=str(self.fee_account),
            max_accounts=max_accounts,
            price_percentile=self.price_percentile,
        )
