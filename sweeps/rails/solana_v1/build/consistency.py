"""What must hold between the figures of an offer on Solana, beside what must on every rail."""

from collections.abc import Iterator

from sweeps.protocol.consistency import contradictions_of, contradictions_of_economics, require_none
from sweeps.rails.solana_v1.build.stages import SolanaSimulated


def require_consistency(planned: SolanaSimulated) -> None:
    """Raise ``ContradictoryOfferError`` unless the figures of an offer hold together."""
    economics = contradictions_of_economics(planned, planned.economics, "these transactions")
    of_tokens = contradictions_of(planned, rounding=len(planned.tokens))  # each leg rounds its fee
    require_none([*of_tokens, *economics, *_of_totals(planned)])


def _of_totals(planned: SolanaSimulated) -> Iterator[str]:
    if planned.minimum.gross_output != sum(token.min_output for token in planned.tokens):
        yield "the total minimum is not the sum of the tokens"
    sold = sorted(position for transaction in planned.transactions for position in transaction.packed.legs)
    if sold != list(range(len(planned.tokens))):
        yield "the transactions do not sell each token once"
    left_out = [one.asset for one in planned.left_out]
    requested = sorted(token.asset for token in planned.request.tokens)
    if sorted([*left_out, *(token.asset for token in planned.tokens)]) != requested:
        yield "a token of the request is neither sold nor left out, or both"
    paid = planned.network_fee_lamports + planned.rent_lamports - planned.reclaimed_lamports
    if planned.economics.cost != paid + sum(one.effects.route_rent for one in planned.transactions):
        yield f"the cost is not {paid} lamports and the rent on the route"
