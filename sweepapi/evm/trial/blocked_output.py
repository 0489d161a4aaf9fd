"""Finds out why no token of a sweep goes through: because the output blocks those who receive it.

What a revert says is not proof of that. So pools that pay the output are made to send it, as in a probe of transfers,
to each recipient. They were seen to send it to an address that no token knows.
"""

from collections.abc import Sequence
from itertools import product

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.tokens.probe import Probe, grouped, transfer_probes
from sweepapi.rpc import Call
from sweepapi.rpc.errors import CallFailedError

AMOUNT = 1_000  # smallest units, or what the pool has


def payout_probes(token: str, *, pools: Sequence[str], recipients: Sequence[str], chain: Chain) -> list[Call]:
    """Return the calls in which each of these pools sends the token to each recipient."""
    probes = [Probe(token, pool, AMOUNT, is_pool=True, recipient=to) for pool, to in product(pools, recipients)]
    return [transfer_probes(group, multicall3=chain.multicall3) for group in grouped(probes)]


def blocks(answers: Sequence[list[object] | CallFailedError]) -> bool:
    """Return whether the answers to these calls show a recipient that the token refuses to be sent to."""
    return any(None in answer for answer in answers if not isinstance(answer, CallFailedError))
