"""What a build refuses of the tokens of a request: one rule, and one answer that names them all, on every rail."""

from collections.abc import Iterable, Sequence
from typing import NoReturn

from django.conf import settings

from sweepapi.errors import RefusedToken, TokensRefused
from sweepapi.worth.left_out import LeftOut, PlannedToken, far_below_price
from sweeps.protocol.rail import PlannedSweep
from sweeps.protocol.request import BuildRequest


def most_impact_bps(accepted_bps: int | None) -> int:
    """Return the price impact above which a token is refused, if the user accepted this one or was not asked."""
    return max(int(settings.PRICE_IMPACT_REFUSAL_BPS), accepted_bps or 0)


def too_costly(request: BuildRequest, tokens: Iterable[PlannedToken]) -> list[LeftOut]:
    """Return the tokens whose price impact is more than the user agreed to."""
    return list(far_below_price(tokens, most_bps=most_impact_bps(request.accepted_impact_bps)))


def require_all(planned: PlannedSweep) -> None:
    """Raise ``TokensRefused`` if the plan lacks tokens that may not be left out."""
    if planned.left_out and not planned.request.leaves_out:
        refuse(planned.request, planned.left_out)


def refuse(request: BuildRequest, tokens: Sequence[LeftOut]) -> NoReturn:
    """Raise ``TokensRefused``; it has the same reasons as the answer would have."""
    raise TokensRefused(details=refusals(request, tokens))


def refusals(request: BuildRequest, tokens: Sequence[LeftOut]) -> list[RefusedToken]:
    """Return the reasons of these tokens, in the order of the request."""
    reasons = {one.asset: one for one in tokens}
    refused = [(i, reasons[token.asset]) for i, token in enumerate(request.tokens) if token.asset in reasons]
    return [
        RefusedToken(f"tokens[{i}].mint", one.reason, one.message, value=None if one.value is None else str(one.value))
        for i, one in refused
    ]
