"""The local chain for tests: its tokens and users, control of time and blocks, and rolling back afterwards."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount
from web3 import HTTPProvider, Web3
from web3.types import TxReceipt

from dev.chain.rpc import Rpc
from dev.engines.anvil import FINAL_DEPTH_BLOCKS, SAFE_DEPTH_BLOCKS
from sweepapi.evm.contracts.v5 import CANCEL_AUTHORIZATION
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.tokens.erc20 import APPROVE, BALANCE_OF, UNLIMITED

PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
GAS = 12_000_000
# After mining this many blocks, the first of them is safe or final.
SAFE_AFTER = SAFE_DEPTH_BLOCKS + 1
FINAL_AFTER = FINAL_DEPTH_BLOCKS + 1
PAUSE = Function("pause()")
REVOKE_FEE_SIGNER = Function("revokeFeeSigner(address)")


@dataclass(frozen=True)
class Token:
    """An ERC-20 of the local world."""

    symbol: str
    address: str
    decimals: int

    def units(self, whole: float) -> int:
        """Convert whole tokens to the smallest unit."""
        return int(whole * 10**self.decimals)


class LocalChain:
    """A connection to anvil, with the addresses and keys of the local world."""

    def __init__(self, world: dict[str, Any]) -> None:
        self.world = world
        self.node = Rpc(world["rpcUrl"])
        self.web3 = Web3(HTTPProvider(world["rpcUrl"], session=self.node.session))
        self.users: list[LocalAccount] = [Account.from_key(user["privateKey"]) for user in world["users"]]
        self.contracts: dict[str, str] = world["contracts"]
        self._mines = True

    @classmethod
    @cache
    def of_environment(cls) -> Self:
        """Return the chain that ``python -m dev exec`` started; one for all tests."""
        return cls(json.loads(Path(os.environ["DEV_WORLD_FILE"]).read_text(encoding="utf-8")))

    def token(self, symbol: str) -> Token:
        fields = self.world["tokens"][symbol]
        return Token(symbol, fields["address"], fields["decimals"])

    def rpc(self, method: str, *params: Any) -> Any:
        """Make one JSON-RPC call and return its result; raises NodeError."""
        return self.node.call(method, *params)

    def mine(self, blocks: int = 1, *, seconds: int = 0) -> None:
        """Mine blocks, and advance the clock by this many seconds before the first."""
        if seconds:
            self.rpc("evm_increaseTime", seconds)
        self.rpc("anvil_mine", hex(blocks))

    def catch_up(self) -> None:
        """Mine a block with the current time: rolling the chain back also set its clock back."""
        now = int(time.time())
        if self.web3.eth.get_block("latest")["timestamp"] < now:
            self.rpc("evm_setNextBlockTimestamp", hex(now))
            self.mine()

    @contextmanager
    def mining_paused(self) -> Iterator[None]:
        """Mine only on demand inside the `with` block, and drop the transactions that still wait at its end.

        They might otherwise be mined after the chain was rolled back for the next test.
        """
        self._set_mining(on=False)
        try:
            yield
        finally:
            self.rpc("anvil_dropAllTransactions")
            self._set_mining(on=True)

    def roll_back(self, snapshot: str) -> None:
        """Return to a snapshot, and drop the transactions that wait to be mined.

        With automine on, anvil may be mining a transaction right now: it finishes before the block mined here. That
        covers only one, so a test that sends several without waiting for receipts must mine them itself.
        """
        with self.mining_paused():
            self.mine()
            assert self.rpc("evm_revert", snapshot)

    def _set_mining(self, *, on: bool) -> None:
        self._mines = on
        self.rpc("evm_setAutomine", on)

    def send(self, user: LocalAccount, transaction: dict[str, Any], *, gas: int = GAS) -> str:
        """Sign and send a transaction from the API; returns its hash once it is mined, even if it reverted."""
        signed = user.sign_transaction(
            {
                "to": transaction["to"],
                "data": transaction["data"],
                "value": int(transaction.get("value", "0")),
                "chainId": self.world["chainId"],
                "nonce": self.web3.eth.get_transaction_count(user.address, "pending"),
                "gas": gas,
                "maxFeePerGas": 10**11,
                "maxPriorityFeePerGas": 10**9,
            }
        )
        tx_hash = self.web3.eth.send_raw_transaction(signed.raw_transaction).to_0x_hex()
        if self._mines:
            self.receipt(tx_hash)
        return tx_hash

    def receipt(self, tx_hash: str) -> TxReceipt:
        """Wait until a transaction is mined and return its receipt."""
        return self.web3.eth.wait_for_transaction_receipt(tx_hash, timeout=10, poll_latency=0.01)  # type: ignore[arg-type]

    def cancel(self, nonce: int, *, by: LocalAccount | None = None) -> str:
        """Cancel an authorization on chain from a wallet, by default as ops; returns the hash."""
        data = "0x" + CANCEL_AUTHORIZATION.encode(nonce).hex()
        return self.send(by or self.holder("ops"), {"to": self.contracts["v5"], "data": data})

    def pause(self, contract: str | None = None) -> None:
        """Pause a contract, by default V5."""
        self._call_as_guardian(PAUSE.encode(), contract or self.contracts["v5"])

    def revoke_fee_signer(self, signer: str) -> None:
        """Make the contract reject everything that this signer signed."""
        self._call_as_guardian(REVOKE_FEE_SIGNER.encode(signer), self.contracts["v5"])

    def _call_as_guardian(self, calldata: bytes, contract: str) -> None:
        tx_hash = self.send(self.holder("guardian"), {"to": contract, "data": "0x" + calldata.hex()})
        assert self.receipt(tx_hash)["status"] == 1

    def holder(self, role: str) -> LocalAccount:
        """Return the account that holds a role of the contracts, funded for gas."""
        account: LocalAccount = Account.from_key(self.world["roles"][role]["privateKey"])
        self.give_coins(account.address)
        return account

    def give_coins(self, account: str, wei: int = 10**19) -> None:
        """Set an account's balance of the native coin."""
        self.rpc("anvil_setBalance", account, hex(wei))

    def approve(self, user: LocalAccount, *tokens: Token, amount: int = UNLIMITED) -> None:
        """Approve Permit2 for these tokens."""
        for token in tokens:
            data = "0x" + APPROVE.encode(PERMIT2, amount).hex()
            assert self.receipt(self.send(user, {"to": token.address, "data": data}))["status"] == 1

    def put_code(self, address: str, code: str) -> str:
        """Put runtime code (hex without 0x) at an address, for example as a hostile token; returns the address."""
        self.rpc("anvil_setCode", address, f"0x{code}")
        return address

    def balance(self, holder: str, token: Token) -> int:
        """Return a balance in the smallest unit."""
        return self.balance_of(holder, token.address)

    def balance_of(self, holder: str, token: str) -> int:
        """Return a balance in the smallest unit of the token at an address."""
        data = "0x" + BALANCE_OF.encode(holder).hex()
        return int(self.rpc("eth_call", {"to": token, "data": data}, "latest"), 16)

    def coin(self, holder: str) -> int:
        """Return a balance of the native coin in wei."""
        return self.web3.eth.get_balance(holder)  # type: ignore[arg-type]

    def sign_and_send(self, user: LocalAccount, built: dict[str, Any]) -> str:
        """Sign a built sweep as its wallet, insert the signature, and send it with the given gas; returns the hash."""
        transaction = built["transaction"] | {"data": signed_data(user, built)}
        return self.send(user, transaction, gas=int(transaction["gas"]))


def signed_data(user: LocalAccount, built: dict[str, Any]) -> str:
    """Return the calldata with the user's Permit2 signature inserted."""
    signable = encode_typed_data(full_message=built["permit2"])
    signature = bytes(user.sign_message(signable).signature)
    place = built["transactionTemplate"]["signature"]
    data = bytearray.fromhex(built["transactionTemplate"]["data"][2:])
    data[place["byteOffset"] : place["byteOffset"] + place["length"]] = signature
    return f"0x{data.hex()}"
