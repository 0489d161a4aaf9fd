"""Fills a new wallet with two good tokens and four bad ones, to show what the service says about each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dev.chain.deploy import deploying
from dev.chain.listing import list_tokens
from dev.chain.rpc import Rpc

OWNER = "0x" + "0b" * 20
COIN = 10**18
REFUSES_CONTRACTS = (4, 0)  # of TrapToken: its condition and its harm


@dataclass(frozen=True)
class MixedWallet:
    """The tokens of the wallet, by what is to be said about them."""

    good: list[str]
    taxed: str
    worthless: str
    honeypot: str
    imitating: str

    @property
    def all(self) -> list[str]:
        """All of them, the good ones first."""
        return [*self.good, self.taxed, self.worthless, self.honeypot, self.imitating]


def fill_wallet(rpc: Rpc, contracts: Mapping[str, str], tokens: Mapping[str, Any], wallet: str) -> MixedWallet:
    """Give the wallet coins for gas and its tokens; ``tokens`` are those of the local world by symbol."""
    given = {"USDC": 40, "DAI": 25, "TFEE": 500, "GUSD": 0.01}
    (honeypot,) = list_tokens(rpc, contracts, [wallet], count=1, kind="uniswap_v3")
    rpc.call("anvil_setBalance", wallet, hex(COIN))
    with deploying(rpc, OWNER) as sender:
        trap = sender.create("TrapToken")
        sender.flush()
        rpc.call("anvil_setCode", honeypot, rpc.call("eth_getCode", trap, "latest"))
        sender.call(honeypot, "arm(uint8,uint8)", *REFUSES_CONTRACTS)
        imitating = sender.create("MintableToken", "USD Coin", "USD\N{CYRILLIC CAPITAL LETTER ES}", 6)
        sender.call(imitating, "mint(address,uint256)", wallet, 5_000 * 10**6)
        for symbol, whole in given.items():
            units = int(whole * 10 ** tokens[symbol]["decimals"])
            sender.call(tokens[symbol]["address"], "mint(address,uint256)", wallet, units)
    usdc, dai, taxed, worthless = (str(tokens[symbol]["address"]) for symbol in given)
    return MixedWallet([usdc, dai], taxed, worthless, honeypot, imitating)
