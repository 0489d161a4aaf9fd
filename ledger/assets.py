"""Shows amounts of assets in their smallest unit, and in whole tokens where the ledger knows the asset."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Self

from ledger.balances import Balance
from ledger.models import Asset
from ledger.payout_rules import Transfer
from sweepapi.token_amounts import token_amount


@dataclass(frozen=True)
class KnownAssets:
    """How the assets of some balances or transfers are shown."""

    _found: Mapping[tuple[str, str], Asset]

    @classmethod
    def of(cls, rows: Collection[Balance | Transfer]) -> Self:
        """Read the assets in one query."""
        return cls.named({(row.network, row.asset) for row in rows})

    @classmethod
    def named(cls, names: Collection[tuple[str, str]]) -> Self:
        """Read the assets of these networks and names in one query."""
        networks, assets = {network for network, _ in names}, {asset for _, asset in names}
        found = Asset.objects.filter(network__in=networks, asset__in=assets)
        return cls({(asset.network, asset.asset): asset for asset in found})

    def find(self, network: str, asset: str) -> Asset | None:
        """Return how an asset is shown; None if the ledger does not know it."""
        return self._found.get((network, asset))

    def amount(self, row: Balance | Transfer, units: int) -> str:
        """Return an amount of the row's asset, such as ``1500000 (1.5 USDC)``."""
        asset = self._found.get((row.network, row.asset))
        return str(units) if asset is None else token_amount(units, asset.decimals, asset.symbol)
