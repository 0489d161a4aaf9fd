"""What the chains say: every execution and cancellation, decoded from the logs, and on Solana from what was moved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eth_abi.abi import decode
from eth_utils.crypto import keccak

from dev.chain.rpc import Rpc
from lab.chaos.checker.promises import Terms

BPS = 10_000
COIN = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"


def _topic(signature: str) -> str:
    return "0x" + keccak(text=signature).hex()


EXECUTED_V5 = _topic(
    "SweepExecutedV5(uint256,address,bytes32,address,address,address,uint256,uint256,uint256,uint256,uint256,uint256)"
)
EXECUTED_V4 = _topic("SweepExecutedV4(bytes32,address,address,uint256,uint256,uint256,uint256)")
CANCELLED_V5 = _topic("AuthorizationCancelled(uint256,address)")


@dataclass(frozen=True)
class Executed:
    """One execution; amounts in the output's smallest unit, the partner's part as the terms divide it."""

    identity: str
    tx_hash: str
    wallet: str
    output: str  # in lower case on EVM chains
    gross: int
    total_fee: int
    partner_fee: int | None  # None where the contract pays the protocol it all
    user_amount: int
    paid_to: str | None  # the partner's account; None as above

    def partner_part(self, share_bps: int) -> int:
        """Return the partner's part of the fee."""
        return self.total_fee * share_bps // BPS if self.partner_fee is None else self.partner_fee


@dataclass(frozen=True)
class Truth:
    """The final state of the chains."""

    executed: dict[str, Executed]  # by identity
    repeated: list[str]  # identities that were executed twice, which no contract allows
    cancelled: set[str]
    landed: set[str]  # references that a transaction on Solana names, even one that failed


def read_truth(rpc: Rpc, solana: Rpc, contracts: Sequence[str], terms: Sequence[Terms]) -> Truth:
    """Read all blocks."""
    query = {"fromBlock": "0x0", "toBlock": "latest", "address": list(contracts)}
    logs = rpc.call("eth_getLogs", query | {"topics": [[EXECUTED_V5, EXECUTED_V4, CANCELLED_V5]]})
    executed: dict[str, Executed] = {}
    repeated, cancelled, landed = [], set(), set()
    for log in logs:
        if log["topics"][0] == CANCELLED_V5:
            cancelled.add(str(int(log["topics"][1], 16)))
            continue
        one = _executed(log)
        if one.identity in executed:
            repeated.append(one.identity)
        executed[one.identity] = one
    for one_terms in terms:
        if one_terms.mode == "v1":
            for transaction, found in _on_solana(solana, one_terms):
                landed.add(transaction)
                if found is not None:
                    executed[found.identity] = found
    return Truth(executed, repeated, cancelled, landed)


def _executed(log: dict[str, Any]) -> Executed:
    data, wallet = bytes.fromhex(log["data"][2:]), "0x" + log["topics"][2][-40:]
    if log["topics"][0] == EXECUTED_V4:
        output, _count, gross, fee, user = decode(["address", *["uint256"] * 4], data)
        return Executed(log["topics"][1], log["transactionHash"], wallet, output.lower(), gross, fee, None, user, None)
    partner, _protocol, output, _count, gross, fee, partner_fee, _protocol_fee, user = decode(
        ["address", "address", "address", *["uint256"] * 6], data
    )
    nonce = str(int(log["topics"][1], 16))
    return Executed(
        nonce, log["transactionHash"], wallet, output.lower(), gross, fee, partner_fee, user, partner.lower()
    )


def _on_solana(rpc: Rpc, terms: Terms) -> Iterator[tuple[str, Executed | None]]:
    """Yield the references that landed, each with what it moved; None if its transaction failed."""
    for reference in terms.identities:
        found = rpc.call("getSignaturesForAddress", reference, {"commitment": "confirmed"})
        for one in found:
            yield reference, None if one["err"] else _moved(rpc, terms, reference, one["signature"])


def _moved(rpc: Rpc, terms: Terms, reference: str, signature: str) -> Executed:
    options = {"encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": 1}
    meta = rpc.call("getTransaction", signature, options)["meta"]
    changes: dict[str, int] = {}
    for sign, balances in ((-1, meta["preTokenBalances"]), (1, meta["postTokenBalances"])):
        for balance in balances:
            if balance["mint"] == terms.output:
                amount = sign * int(balance["uiTokenAmount"]["amount"])
                changes[balance["owner"]] = changes.get(balance["owner"], 0) + amount
    user = changes.pop(terms.wallet)
    [fee] = [change for change in changes.values() if change > 0]
    return Executed(reference, signature, terms.wallet, terms.output, user + fee, fee, None, user, None)


def balance_of(rpc: Rpc, token: str, holder: str) -> int:
    """Return what an account has of a token or the coin."""
    if token == COIN:
        return int(rpc.call("eth_getBalance", holder, "latest"), 16)
    data = "0x70a08231" + holder[2:].lower().rjust(64, "0")  # balanceOf(address)
    return int(rpc.call("eth_call", {"to": token, "data": data}, "latest"), 16)
