"""Refuses to start with settings under which this part of the service can't work."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from sweepapi.fees import BPS_DENOMINATOR


@register()
def check_price_impacts(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Refuse to build without a warning what would be refused a little later."""
    if 0 <= settings.PRICE_IMPACT_WARNING_BPS <= settings.PRICE_IMPACT_REFUSAL_BPS <= BPS_DENOMINATOR:
        return []
    message = (
        f"PRICE_IMPACT_WARNING_BPS and PRICE_IMPACT_REFUSAL_BPS must be from 0 to {BPS_DENOMINATOR}, in this order."
    )
    return [Error(message, id="evm.E002")]


@register()
def check_router_slippage(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Refuse a slippage that would leave a router leg without a minimum."""
    if 0 <= settings.ROUTER_LEG_SLIPPAGE_BPS < BPS_DENOMINATOR:
        return []
    return [Error(f"ROUTER_LEG_SLIPPAGE_BPS must be between 0 and {BPS_DENOMINATOR - 1}.", id="evm.E001")]
