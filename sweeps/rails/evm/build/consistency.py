"""What must hold between the figures of an offer on an EVM chain, beside what must on every rail."""

from collections.abc import Iterator

from sweeps.protocol.consistency import contradictions_of, contradictions_of_economics, require_none
from sweeps.rails.evm.build.stages import EvmPlanned


def require_consistency(planned: EvmPlanned) -> None:
    """Raise ``ContradictoryOfferError`` unless the figures of an offer hold together."""
    require_none([*contradictions_of_sweep(planned), *_of_ways(planned)])


def contradictions_of_sweep(planned: EvmPlanned) -> Iterator[str]:
    """Yield what contradicts itself among the tokens and the totals of a sweep, however it is executed."""
    yield from contradictions_of(planned, rounding=0)
    yield from _of_tokens(planned)
    yield from _of_totals(planned)


def _of_tokens(planned: EvmPlanned) -> Iterator[str]:
    for token in planned.tokens:
        economics = token.economics
        if token.swap is None and any((token.expected_output, token.min_output, economics.gas, token.skippable)):
            yield f"{token.asset} is dropped and still counts"
        if token.swap is not None and planned.fees.floor_of(token.min_output) < token.floor:
            yield f"the minimum of {token.asset}, {token.min_output}, is below its floor, {token.floor}"
        share = planned.rates.share(gas=economics.gas, more_bytes=economics.more_bytes)
        if token.swap is not None and economics.gas_share != share:
            yield f"the gas of {token.asset} is at another price"


def _of_totals(planned: EvmPlanned) -> Iterator[str]:
    swept = planned.swept
    sums = (sum(token.expected_output for token in swept), sum(token.min_output for token in swept))
    if (planned.expected.gross_output, planned.minimum.gross_output) != sums:
        yield "the totals are not the sums of the tokens"
    if planned.min_user > planned.minimum.user_amount:
        yield "what the user receives at least is above the minimum of all tokens"
    dropped = len(planned.tokens) - len(swept)
    skippable = [token for token in swept if token.skippable]
    if dropped > planned.max_skipped or (skippable and dropped == planned.max_skipped):
        yield f"more tokens can be left out than the {planned.max_skipped} that the user signs"


def _of_ways(planned: EvmPlanned) -> Iterator[str]:
    for way in planned.ways:
        yield from contradictions_of_economics(planned, planned.economics_of(way), way.kind)
        if any(sent.gas_limit < sent.gas for sent in way.sent):
            yield f"a limit by {way.kind} is below what is used"
