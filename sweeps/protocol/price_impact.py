"""How far below its price a token may be sold, the same for every rail, which brings the figure."""

from django.conf import settings


def most_impact_bps(accepted_bps: int | None) -> int:
    """Return the price impact above which a token is refused, if the user accepted this one or was not asked."""
    return max(int(settings.PRICE_IMPACT_REFUSAL_BPS), accepted_bps or 0)


def is_high(loss_bps: int | None) -> bool:
    """Return whether partners should warn of a price impact, or of another loss against mid prices."""
    return loss_bps is not None and loss_bps > settings.PRICE_IMPACT_WARNING_BPS
