"""Gives wallets on a sandbox chain what sweeps need: coins for gas, and the documented tokens."""

from dataclasses import dataclass

from sweepapi.errors import FieldError, InvalidRequest
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.wallet.accounts import AccountCode, kind_of
from sweepapi.networks import Networks
from sweeps.sandbox.blocks import Heads, fill_payer, heads_of
from sweeps.sandbox.node import refusals_as_failures
from sweeps.sandbox.outcomes import DECIMALS
from sweeps.sandbox.replacing import changing

COIN = 10**18
WHOLE_TOKENS = 1_000  # GIVEN of SandboxToken.sol
GAS = 200_000
GIVE = Function("give(address)")


@dataclass(frozen=True)
class Funded:
    """What a wallet was given, in one block."""

    coins: int  # in wei
    token_amount: int  # of each documented token, in its smallest unit
    heads: Heads


def fund(registry: Networks, network: str, wallet: str) -> Funded:
    """Fill the wallet up to one coin, and give it a thousand of each documented token, of that token's own stock.

    The node's first account pays, by transactions that survive a reorganisation. Raises ``UnsupportedChain``,
    ``InvalidRequest`` for a contract, as what a pool is given moves its price, ``ChainUnavailable`` and
    ``ServiceUnavailable``.
    """
    chain = registry.chain(network)
    give = f"0x{GIVE.encode(wallet).hex()}"
    with changing(registry, network) as node, refusals_as_failures():
        if kind_of(bytes.fromhex(node.ask("eth_getCode", wallet, "latest")[2:])) is AccountCode.CONTRACT:
            problem = FieldError("wallet", "not_a_wallet", "A contract can't be funded; send from a wallet.")
            raise InvalidRequest(details=[problem])
        payer = fill_payer(node)
        coins = max(0, COIN - node.number("eth_getBalance", wallet, "latest"))
        calls = [{"to": wallet, "value": hex(coins)}] if coins else []
        calls += [{"to": token, "data": give} for token in chain.sandbox_tokens.values()]
        with node.mining_paused():
            for call in calls:
                node.ask("eth_sendTransaction", {"from": payer, "gas": hex(GAS), **call})
            node.ask("anvil_mine", hex(1))
        return Funded(coins, WHOLE_TOKENS * 10**DECIMALS, heads_of(node, chain))
