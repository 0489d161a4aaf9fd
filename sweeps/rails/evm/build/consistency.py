"""What must hold between the figures of an offer, whichever path made it; every answer passes here before it is shown.

A contradiction is a mistake of ours. The request fails with an internal error, and nothing of it is stored.
"""

from collections.abc import Iterator

from sweeps.rails.evm.build.stages import EvmPlanned, EvmToken


class ContradictoryOfferError(Exception):
    """Figures of an offer contradict each other; nothing of it was shown or stored."""


def require_consistency(planned: EvmPlanned) -> None:
    """Raise ``ContradictoryOfferError`` unless the figures of an offer hold together."""
    contradictions = [*_of_tokens(planned), *_of_totals(planned), *_of_ways(planned)]
    if contradictions:
        raise ContradictoryOfferError("; ".join(contradictions))


def _of_tokens(planned: EvmPlanned) -> Iterator[str]:
    for token in planned.tokens:
        figures = (token.expected_output, token.min_output, token.economics.gas, token.skippable)
        if token.swap is None and any(figures):
            yield f"{token.asset} is dropped and still counts"
        if not 0 <= token.min_output <= token.expected_output:
            yield f"the minimum of {token.asset}, {token.min_output}, is above the expected {token.expected_output}"
        if token.swap is not None and planned.fees.floor_of(token.min_output) < token.floor:
            yield f"the minimum of {token.asset}, {token.min_output}, is below its floor, {token.floor}"
        yield from _of_value(planned, token)


def _of_value(planned: EvmPlanned, token: EvmToken) -> Iterator[str]:
    economics, rates = token.economics, planned.rates
    if token.swap is None:
        return
    if economics.value != rates.value(token.expected_output) or economics.min_value != rates.value(token.min_output):
        yield f"the values of {token.asset} are of other outputs or at other prices"
    if economics.gas_share != rates.share(gas=economics.gas, more_bytes=economics.more_bytes):
        yield f"the gas of {token.asset} is at another price"
    if economics.gas_share is not None:
        net = planned.fees.floor_of(token.expected_output) - economics.gas_share
        if economics.net_output != net:
            yield f"{token.asset} leaves {net}, not {economics.net_output}"


def _of_totals(planned: EvmPlanned) -> Iterator[str]:
    expected, minimum, swept = planned.expected, planned.minimum, planned.swept
    sums = (sum(token.expected_output for token in swept), sum(token.min_output for token in swept))
    if (expected.gross_output, minimum.gross_output) != sums:
        yield "the totals are not the sums of the tokens"
    if minimum.user_amount > expected.user_amount or planned.min_user > minimum.user_amount:
        yield "a total minimum is above what is expected"
    dropped = len(planned.tokens) - len(swept)
    skippable = [token for token in swept if token.skippable]
    if dropped > planned.max_skipped or (skippable and dropped == planned.max_skipped):
        yield f"more tokens can be left out than the {planned.max_skipped} that the user signs"


def _of_ways(planned: EvmPlanned) -> Iterator[str]:
    user_amount = planned.expected.user_amount
    for way in planned.ways:
        economics = planned.economics_of(way)
        if economics.value != planned.rates.value(planned.expected.gross_output):
            yield f"the value by {way.kind} is at other prices"
        if economics.gas_share is not None and economics.net_output != user_amount - economics.gas_share:
            yield f"by {way.kind} {economics.net_output} is left of {user_amount} after {economics.gas_share}"
        if any(sent.gas_limit < sent.gas for sent in way.sent):
            yield f"a limit by {way.kind} is below what is used"
