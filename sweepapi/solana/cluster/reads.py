"""The JSON-RPC calls that read a cluster's current state, each with the decoder of its answer."""

from collections.abc import Iterator, Sequence

from solders.pubkey import Pubkey

from sweepapi.rpc import Call
from sweepapi.solana.encoding import responses
from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.encoding.addresses import CLOCK as CLOCK_KEY

CONFIRMED = {"commitment": "confirmed"}
IN_BASE64 = {**CONFIRMED, "encoding": "base64"}
MAX_KEYS = 100  # of one getMultipleAccounts


def multiple_accounts(keys: Sequence[Pubkey]) -> list[Call]:
    """Return the calls that read these accounts; ``by_key`` puts their answers together."""
    return [
        Call("getMultipleAccounts", ([str(key) for key in part], IN_BASE64), responses.accounts(len(part)))
        for part in _parts(keys)
    ]


def by_key(
    keys: Sequence[Pubkey], answers: Sequence[Sequence[ClusterAccount | None]]
) -> dict[Pubkey, ClusterAccount | None]:
    """Return the accounts that ``multiple_accounts`` of these keys read."""
    return dict(zip(keys, (account for answer in answers for account in answer), strict=True))


def token_accounts_of(wallet: Pubkey, program: Pubkey) -> Call:
    """Return the call that reads all accounts of a token program that a wallet owns."""
    params = (str(wallet), {"programId": str(program)}, IN_BASE64)
    return Call("getTokenAccountsByOwner", params, responses.holdings(wallet, program))


def rent_of(data_bytes: int) -> Call:
    """Return the call that reads how many lamports an account of this size needs."""
    return Call("getMinimumBalanceForRentExemption", (data_bytes, CONFIRMED), responses.amount)


# The time of the head, by which a pool finds providers that stopped.
CLOCK = Call("getAccountInfo", (str(CLOCK_KEY), IN_BASE64), responses.clock)
LATEST_BLOCKHASH = Call("getLatestBlockhash", (CONFIRMED,), responses.latest_blockhash)
# How long a slot takes, in seconds. Everything that turns slots or blocks into time reads it.
SLOT_SECONDS = Call(
    "getRecentPerformanceSamples",
    (1,),
    responses.slot_seconds,
    read_error=lambda _error: responses.PLANNED_SLOT_SECONDS,  # a provider need not offer it
)
EPOCH_INFO = Call("getEpochInfo", (CONFIRMED,), responses.epoch_info)


def _parts(keys: Sequence[Pubkey]) -> Iterator[Sequence[Pubkey]]:
    for start in range(0, len(keys), MAX_KEYS):
        yield keys[start : start + MAX_KEYS]
