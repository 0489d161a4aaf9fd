"""A wallet for trying the API without a browser: it signs at once for the users of the local world.

It answers over HTTP what a browser's wallet answers to a page (EIP-1193): its accounts, ``eth_signTypedData_v4`` and
``eth_sendTransaction``, and ``wallet_sendCalls`` (EIP-5792), for which it has an account delegate to a batch account
(EIP-7702). The last account is a contract wallet of the first one. All else goes to the node.
``python -m dev.local_wallet PORT WORLD_JSON`` runs it.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from dev.chain.rpc import Rpc
from dev.processes.errors import NodeError
from dev.wallets import Wallet
from sweepapi.evm.encoding.abi import Function

UNAUTHORIZED, UNSUPPORTED_CHAIN, UNKNOWN_BUNDLE, INVALID_PARAMS, FAILED = 4100, 5710, 5730, -32602, -32000
BATCH_GAS = 15_000_000  # a limit, of which only what is used is paid
DELEGATION = "0xef0100"
MAX_BODY_BYTES = 1_000_000
EXECUTE = Function("execute((address,bytes)[])")  # of contracts/dev/OwnedWallet.sol


class RefusedError(Exception):
    """What the wallet does not do, with its code by EIP-1193 or EIP-5792."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class ContractWallet:
    """An ``OwnedWallet``, through which its owner makes calls, and for which it signs (EIP-1271)."""

    address: str
    owner: Wallet

    def sign(self, typed_data: dict[str, Any]) -> bytes:
        return self.owner.sign(typed_data)

    def send(self, transaction: dict[str, Any]) -> str:
        return self._execute([transaction], gas=BATCH_GAS)  # its limit is that of the call

    def send_calls(self, calls: dict[str, Any], *, delegate: str, gas: int) -> str:  # noqa: ARG002 - it is code itself
        return self._execute(calls["calls"], gas=gas)

    def _execute(self, calls: Sequence[Mapping[str, str]], *, gas: int) -> str:
        data = EXECUTE.encode([(call["to"], bytes.fromhex(call["data"][2:])) for call in calls])
        return self.owner.send({"to": self.address, "value": "0", "data": f"0x{data.hex()}", "gas": str(gas)})


class LocalWallet:
    """The wallet of some users."""

    def __init__(self, rpc: Rpc, private_keys: Sequence[str], *, chain_id: int, delegate: str, contract: str) -> None:
        self._rpc, self._chain_id, self._delegate = rpc, hex(chain_id), delegate
        users = [Wallet(rpc, key) for key in private_keys]
        wallets: list[Wallet | ContractWallet] = [*users, ContractWallet(contract, owner=users[0])]
        self._wallets = {wallet.address.lower(): wallet for wallet in wallets}
        self._own: dict[str, Callable[..., Any]] = {
            "eth_accounts": self._accounts,
            "eth_requestAccounts": self._accounts,
            "eth_signTypedData_v4": self._sign,
            "eth_sendTransaction": self._send,
            "wallet_getCapabilities": self._capabilities,
            "wallet_sendCalls": self._send_calls,
            "wallet_getCallsStatus": self._calls_status,
        }

    def answer(self, method: str, params: Sequence[Any]) -> Any:  # noqa: ANN401 - a result has any JSON type
        """Return the result of a call; raises ``RefusedError``."""
        try:
            return self._own[method](*params) if method in self._own else self._rpc.call(method, *params)
        except NodeError as error:
            raise RefusedError(FAILED, str(error)) from error
        except (KeyError, TypeError, ValueError) as error:
            raise RefusedError(INVALID_PARAMS, f"{method}: {error}") from error

    def _of(self, address: str) -> Wallet | ContractWallet:
        wallet = self._wallets.get(address.lower())
        if wallet is None:
            raise RefusedError(UNAUTHORIZED, f"{address} is not a user of the local world")
        return wallet

    def _accounts(self) -> list[str]:
        return [wallet.address for wallet in self._wallets.values()]

    def _sign(self, address: str, typed_data: str | dict[str, Any]) -> str:
        parsed = json.loads(typed_data) if isinstance(typed_data, str) else typed_data
        return "0x" + self._of(address).sign(parsed).hex()

    def _send(self, transaction: Mapping[str, str]) -> str:
        amounts = {name: str(int(transaction[name], 16)) for name in ("value", "gas") if name in transaction}
        filled = {"value": "0", "gas": str(BATCH_GAS), "data": "0x", **transaction, **amounts}
        return self._of(transaction["from"]).send(filled)

    def _capabilities(self, address: str, _chain_ids: Sequence[str] = ()) -> dict[str, Any]:
        code = self._rpc.call("eth_getCode", self._of(address).address, "latest").lower()
        is_other = code.startswith(DELEGATION) and code != DELEGATION + self._delegate.lower().removeprefix("0x")
        status = "ready" if code == "0x" or is_other else "supported"
        return {self._chain_id: {"atomic": {"status": status}}}

    def _send_calls(self, batch: dict[str, Any]) -> dict[str, str]:
        if int(batch["chainId"], 16) != int(self._chain_id, 16):
            raise RefusedError(UNSUPPORTED_CHAIN, f"this wallet is on {self._chain_id} only")
        return {"id": self._of(batch["from"]).send_calls(batch, delegate=self._delegate, gas=BATCH_GAS)}

    def _calls_status(self, batch_id: str) -> dict[str, Any]:
        if self._rpc.call("eth_getTransactionByHash", batch_id) is None:
            raise RefusedError(UNKNOWN_BUNDLE, f"this wallet sent no batch {batch_id}")
        receipt = self._rpc.call("eth_getTransactionReceipt", batch_id)
        status = 100 if receipt is None else 200 if receipt["status"] == "0x1" else 500
        shown = {"version": "2.0.0", "id": batch_id, "chainId": self._chain_id, "status": status, "atomic": True}
        return shown if receipt is None else {**shown, "receipts": [receipt]}


def create_server(wallet: LocalWallet, port: int) -> ThreadingHTTPServer:
    """Return a server of the wallet on this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            length = min(int(self.headers.get("Content-Length", 0)), MAX_BODY_BYTES)
            asked = json.loads(self.rfile.read(length))
            answers = [self._answer(one) for one in asked] if isinstance(asked, list) else self._answer(asked)
            body = json.dumps(answers).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
            shown = {"jsonrpc": "2.0", "id": asked.get("id")}
            try:
                return {**shown, "result": wallet.answer(asked["method"], asked.get("params", []))}
            except RefusedError as refused:
                return {**shown, "error": {"code": refused.code, "message": str(refused)}}

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            """Write nothing for a request."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def of_world(world: Mapping[str, Any]) -> LocalWallet:
    """Return the wallet of the users in a world.json."""
    return LocalWallet(
        Rpc(world["rpcUrl"]),
        [user["privateKey"] for user in world["users"]],
        chain_id=world["chainId"],
        delegate=world["contracts"]["delegate"],
        contract=world["contracts"]["contractWallet"],
    )


def main(port: str, world_file: str) -> None:
    create_server(of_world(json.loads(Path(world_file).read_text(encoding="utf-8"))), int(port)).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
