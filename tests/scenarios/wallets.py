"""Contract wallets on the local chain, with tokens, whose owners sign for them and make calls through them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from eth_account.signers.local import LocalAccount

from dev.chain.sender import calldata
from dev.local_wallet import EXECUTE
from tests.local_chain import LocalChain, Token, signed_data
from tests.wallets import deployed

TRANSFER = "transfer(address,uint256)"

Call = tuple[str, bytes]


@dataclass(frozen=True)
class ContractWallet:
    """A wallet without a key; the owner is a key, or a wallet of the same kind."""

    address: str
    signer: LocalAccount  # who signs for it in the end

    @classmethod
    def deploy(cls, chain: LocalChain, signer: LocalAccount, *, owner: str | None = None) -> "ContractWallet":
        """Deploy the wallet of a key, or of another owner for whom that key signs."""
        return cls(deployed(chain, "OwnedWallet", owner or signer.address), signer)

    def fund(self, chain: LocalChain, token: Token, whole: float) -> None:
        """Give it some of the signer's tokens."""
        data = calldata(TRANSFER, self.address, token.units(whole))
        assert chain.receipt(chain.send(self.signer, call_of((token.address, data))))["status"] == 1

    def through(self, calls: Iterable[Call]) -> Call:
        """Return the call with which its owner makes these calls through it."""
        return self.address, EXECUTE.encode(list(calls))

    def sweep(self, *sweeps: dict[str, Any]) -> Call:
        """Return the owner's call that makes the wallet's calls for these sweeps."""
        return self.through(call for built in sweeps for call in self.calls_of(built))

    def calls_of(self, built: dict[str, Any]) -> list[Call]:
        """Return the wallet's own calls for a sweep: the missing approvals, and the signed sweep."""
        issues = built["issues"]["allowance"]
        needed = [one for issue in issues for one in (issue["resetTransaction"], issue["transaction"]) if one]
        approvals = [(one["to"], bytes.fromhex(one["data"][2:])) for one in needed]
        data = bytes.fromhex(signed_data(self.signer, built)[2:])
        return [*approvals, (built["transaction"]["to"], data)]


def call_of(call: Call) -> dict[str, Any]:
    """Return a call as a transaction of a key."""
    to, data = call
    return {"to": to, "data": f"0x{data.hex()}"}
