"""Funded wallets of the harness on the local chain, which also replace their transactions while these wait."""

from collections.abc import Mapping
from typing import Any

from eth_utils.crypto import keccak

from dev.chain.deploy import PERMIT2, deploying
from dev.chain.sender import calldata
from dev.wallets import Wallet
from lab.chaos.chain import ChaosChain

TOKENS = ("USDC", "DAI", "LINK", "UNI")
WHOLE_TOKENS = 1_000_000
COINS_WEI = 10**21
MAX_UINT256 = 2**256 - 1
RICH = "0x" + "0e" * 20  # mints what the wallets get
APPROVAL_GAS = 100_000


class ChaosWallet(Wallet):
    """A wallet that keeps what it signed."""

    def prepare(self, transaction: Mapping[str, Any], *, gas: int | None = None) -> dict[str, Any]:
        """Return the fields of a transaction with the account's next nonce and current fees."""
        return {
            **self._fees_and_nonce(),
            "to": transaction["to"],
            "value": int(transaction["value"]),
            "data": transaction["data"],
            "gas": gas or int(transaction["gas"]),
        }

    def push(self, fields: dict[str, Any]) -> str:
        """Sign and send; returns the hash."""
        return self._send(fields)


def outbid(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the transaction with fees that replace it in the pool."""
    fees = {name: 2 * fields[name] for name in ("maxFeePerGas", "maxPriorityFeePerGas")}
    return fields | fees


def create(chain: ChaosChain, tokens: dict[str, dict[str, Any]], count: int, seed: int) -> list[ChaosWallet]:
    """Fund wallets of this seed, and approve Permit2 from each."""
    wallets = [ChaosWallet(chain.rpc, f"0x{keccak(text=f'chaos {seed} {i}').hex()}") for i in range(count)]
    with deploying(chain.rpc, RICH) as sender:
        for wallet in wallets:
            for symbol in TOKENS:
                amount = WHOLE_TOKENS * 10 ** tokens[symbol]["decimals"]
                sender.call(tokens[symbol]["address"], "mint(address,uint256)", wallet.address, amount)
    chain.rpc.batch([("anvil_setBalance", [wallet.address, hex(COINS_WEI)]) for wallet in wallets])
    approve = "0x" + calldata("approve(address,uint256)", PERMIT2, MAX_UINT256).hex()
    chain.rpc.call("evm_setAutomine", False)  # noqa: FBT003 - the node's parameter
    for wallet in wallets:
        for symbol in TOKENS:
            approval = {"to": tokens[symbol]["address"], "value": "0", "data": approve}
            wallet.push(wallet.prepare(approval, gas=APPROVAL_GAS))
    chain.mine()
    chain.keep_blocks()  # the node forges the signatures of who mints
    return wallets
