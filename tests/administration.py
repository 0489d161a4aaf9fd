"""Calls on the local chain by the holders of the contracts' roles, with their delays."""

from dataclasses import dataclass

from eth_account import Account
from eth_account.signers.local import LocalAccount

from sweepapi.evm.encoding.abi import Function
from tests.local_chain import LocalChain

SCHEDULE = Function("schedule(address,bytes,uint48)")
DELAY_SECONDS = 172_800


@dataclass(frozen=True)
class Administration:
    """Owner, guardian and ops of the local world; the owner is also configurator and the manager's admin."""

    chain: LocalChain

    def __getattr__(self, role: str) -> LocalAccount:
        account: LocalAccount = Account.from_key(self.chain.world["roles"][role]["privateKey"])
        return account

    def call(self, account: LocalAccount, contract: str, function: Function, *arguments: object) -> None:
        """Call a function as one of the role holders."""
        self.chain.rpc("anvil_setBalance", account.address, hex(10**18))
        data = "0x" + function.encode(*arguments).hex()
        tx_hash = self.chain.send(account, {"to": self.chain.contracts[contract], "data": data}, gas=2_000_000)
        assert self.chain.receipt(tx_hash)["status"] == 1, function.signature

    def schedule(self, contract: str, function: Function, *arguments: object) -> None:
        """Schedule a call as the owner."""
        target = self.chain.contracts[contract]
        self.call(self.owner, "accessManager", SCHEDULE, target, function.encode(*arguments), 0)

    def after_the_delay(self, contract: str, function: Function, *arguments: object) -> None:
        """Schedule a call as the owner, wait for the delay, and make it."""
        self.schedule(contract, function, *arguments)
        self.chain.mine(seconds=DELAY_SECONDS)
        self.call(self.owner, contract, function, *arguments)
