"""Plans sweeps on the local chain without the contract, which is only asked once a sweep is issued."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ledger.models import Settlement
from partners.models import Partner
from sweepapi import networks
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.market.reading import Contract
from sweeps.protocol.rail import FeeTerms
from sweeps.protocol.refusing import require_all
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.rails.evm.build import planning
from sweeps.rails.evm.build.stages import EvmPlanned, EvmToken, SignedTerms
from tests.factories.sweeps import CONTRACT, LOCAL
from tests.local_chain import LocalChain, Token
from tests.many_tokens import open_market

FEE_BPS = 75


@dataclass(frozen=True)
class Planner:
    """Plans for one partner and the first user of the local chain."""

    chain: LocalChain
    partner: Partner
    listed: dict[str, Token] = field(default_factory=dict)  # in addition to the tokens of the local chain

    def list_more(self, count: int) -> list[str]:
        """List tokens that the user holds, and return their symbols."""
        for token in open_market(self.chain, count, kind="uniswap_v2"):
            self.listed[token.symbol] = token
        return list(self.listed)

    def token(self, symbol: str) -> Token:
        return self.listed.get(symbol) or self.chain.token(symbol)

    def request(self, units: Mapping[str, float], *, output: str = "USDC", **changes: Any) -> BuildRequest:
        """Return a request; ``units`` are whole tokens by symbol, ``output`` a symbol or ``ETH``."""
        tokens = [(self.token(symbol), whole) for symbol, whole in units.items()]
        fields: dict[str, Any] = {
            "network": LOCAL,
            "wallet": self.chain.users[0].address,
            "tokens": [TokenInput(token.address, token.units(whole)) for token, whole in tokens],
            "output_asset": NATIVE_COIN if output == "ETH" else self.token(output).address,
            "slippage_bps": 100,
        }
        return BuildRequest(**(fields | changes))

    def plan(self, request: BuildRequest, signed: SignedTerms | None = None) -> EvmPlanned:
        fees = FeeTerms(FEE_BPS, 4000, self.chain.users[1].address, self.chain.users[2].address, Settlement.ON_CHAIN)
        planned = planning.plan(
            registry=networks.current(),
            partner=self.partner,
            request=request,
            contract=Contract(CONTRACT, requirements=()),
            fees=fees,
            signed=signed,
        )
        require_all(planned)
        return planned

    def sweep(self, units: Mapping[str, float], *, output: str = "USDC", **changes: Any) -> EvmPlanned:
        """Plan a new sweep."""
        return self.plan(self.request(units, output=output, **changes))

    def tokens(self, planned: EvmPlanned) -> dict[str, EvmToken]:
        """Return the tokens of a plan by symbol."""
        return {token.symbol: token for token in planned.tokens}
