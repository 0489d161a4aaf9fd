"""The gas limit of a sweep: what its calls use, and what each of the nested ones keeps back.

Every pool is called inside the callback of the one before, and the innermost callback transfers all tokens. A call
passes on at most 63/64 of the gas that is left (EIP-150), so each pool adds two frames that keep a part. With many legs
the least limit is therefore far above what the receipt shows, and it grows faster than their number.

The figures were measured on the local chain with plain tokens. They are higher by up to a half, for tokens that do more
in a transfer and pools that cross ticks; ``tests/sweeps/rails/evm/test_gas.py`` compares them with the least limit.
"""

from sweeps.rails.evm.draft import EvmDraft, PoolSwap, RouterSwap

FIXED = 250_000  # signatures, nonces, payments and events
PLANNING_PER_TOKEN = 10_000
PULL = 40_000  # of Permit2, with the user's signature
PULL_PER_TOKEN = 55_000
POOL = {"uniswap_v3": 62_000, "uniswap_v2": 40_000}  # up to its callback
LAST_HOP = 70_000  # in addition to its pool: paying in what the joined tokens brought
ROUTER_CALL = 250_000  # with its approvals and two hops
FRAMES_PER_POOL = 2
# A V3 pool that was emptied walks through words of 256 empty ticks up to the leg's price limit before it is left out.
EMPTY_WORD = 7_500
TICKS_TO_LIMIT = 13_864 + 256  # to a quarter of the price, and what is left of the first word
TICK_SPACINGS = {100: 1, 500: 10, 2500: 50, 3000: 60, 10_000: 200}  # by fee tier; unknown ones are taken for the finest


def gas_limit(draft: EvmDraft) -> int:
    """Return the limit to send a sweep with."""
    swaps = [token.swap for token in draft.tokens]
    hops = [swap.hop for swap in swaps if isinstance(swap, PoolSwap)]
    needed = PULL + PULL_PER_TOKEN * len(swaps)
    if draft.last_hop is not None:
        hops.append(draft.last_hop)
        needed += LAST_HOP
    needed += _walks(draft)
    for hop in reversed(hops):
        needed = POOL[hop.venue.kind] + needed * 64**FRAMES_PER_POOL // 63**FRAMES_PER_POOL
    router_calls = ROUTER_CALL * sum(isinstance(swap, RouterSwap) for swap in swaps)
    return FIXED + PLANNING_PER_TOKEN * len(swaps) + needed + router_calls


def _walks(draft: EvmDraft) -> int:
    """Return what it costs at most to leave out as many emptied pools as the user allows."""
    legs = [token.swap.hop for token in draft.tokens if token.skippable and isinstance(token.swap, PoolSwap)]
    words = [
        -(-TICKS_TO_LIMIT // (256 * TICK_SPACINGS.get(hop.fee_tier, 1))) for hop in legs if hop.fee_tier is not None
    ]
    return EMPTY_WORD * sum(sorted(words, reverse=True)[: draft.max_skipped])
