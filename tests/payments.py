"""Payments on the local chain, as our treasury makes them."""

from dataclasses import dataclass

from eth_account.signers.local import LocalAccount

from sweepapi.evm.encoding.abi import Function
from tests.local_chain import FINAL_AFTER, LocalChain, Token

TRANSFER = Function("transfer(address,uint256)")


@dataclass(frozen=True)
class Treasury:
    """A wallet with USDC and other tokens."""

    chain: LocalChain
    account: LocalAccount

    @property
    def usdc(self) -> Token:
        return self.chain.token("USDC")

    def send(self, recipient: str, amount: int, token: Token | None = None) -> str:
        """Send a token, by default USDC; returns the hash of the transaction, also if it reverted."""
        data = "0x" + TRANSFER.encode(recipient, amount).hex()
        return self.chain.send(self.account, {"to": (token or self.usdc).address, "data": data})

    def pay(self, recipient: str, amount: int, token: Token | None = None) -> str:
        """Send a token, by default USDC, and mine until that is final; returns the hash of the transaction."""
        tx_hash = self.send(recipient, amount, token)
        self.chain.mine(FINAL_AFTER)
        return tx_hash

    def pay_coins(self, recipient: str, amount: int) -> str:
        """Send the native coin, and mine until that is final; returns the hash of the transaction."""
        tx_hash = self.chain.send(self.account, {"to": recipient, "data": "0x", "value": str(amount)})
        self.chain.mine(FINAL_AFTER)
        return tx_hash
