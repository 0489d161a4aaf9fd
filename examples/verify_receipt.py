"""Checks a receipt that you saved against the chain itself; our service is not needed, and can be switched off.

    pip install cryptography eth-account
    curl -H "x-api-key: $KEY" $API/v2/sweep/status/$ID/receipt > receipt.json
    curl $API/.well-known/jwks.json > jwks.json
    python verify_receipt.py receipt.json --keys jwks.json --rpc https://any-node.example --contract 0x…

Take the address of our contract, on Solana of our fee wallet, from where you trust it, such as your own records:
without --contract that of the receipt is used, which proves nothing about whose it is. Prints JSON: what the chain
shows as ``chainShows``, and what else was signed, which only we say, as ``serviceSays``. Read that and not the file.
Prints one line and exits with 1 at the first difference, and if the file has anything beside what was signed.
"""

import argparse
import base64
import json
import sys
import urllib.request
from collections.abc import Collection, Iterator
from functools import reduce
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_keys.exceptions import BadSignature, ValidationError
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

KIND = "sweep.receipt"
TIMEOUT_SECONDS = 30
ON_CHAIN, OFF_CHAIN = "onchain_partner_fees", "offchain_accounting"  # the fee modes
WITHOUT_TRANSACTIONS = False  # what a block is asked for
WORD_DIGITS = 66  # of a word, with its 0x
V5_EVENT = (
    "SweepExecutedV5(uint256 indexed nonce, address indexed user, bytes32 indexed partnerId, address partnerRecipient, "
    "address protocolRecipient, address outputToken, uint256 tokenCount, uint256 grossOutput, uint256 totalFee, "
    "uint256 partnerFee, uint256 protocolFee, uint256 userAmount)"
)
V4_EVENT = (
    "SweepExecutedV4(bytes32 indexed sweepRef, address indexed user, address outputToken, uint256 tokenCount, "
    "uint256 grossOutput, uint256 fee, uint256 userAmount)"
)
AMOUNTS = ("grossOutput", "totalFee", "userAmount", "partnerFee", "protocolFee")
PAID = AMOUNTS[:3]  # where the partner's part is only in our books
TERMS = {"fee.totalFeeBps", "fee.partnerShareBps"}
ALL = {
    *("network", "wallet", "outputMint", "operations[].address", "operations[].id"),
    *(f"operations[].transaction.{name}" for name in ("txHash", "blockNumber", "blockHash", "logPosition")),
}
EVENT = {"operations[].event.signature", "operations[].event.fields"}
FEE = {*TERMS, *(f"fee.{name}" for name in ("feeMode", "partnerRecipient", "protocolRecipient"))}
SIGNED = {f"authorizations[].typedData.{name}" for name in ("domain", "types", "primaryType", "message")}
SIGNED |= {f"authorizations[].{name}" for name in ("digest", "signature", "signer")}
OFFER = "authorizations[].offer"  # the number that we count it by, beside what was signed


def split(names: Collection[str]) -> set[str]:
    """Return where these amounts are: of each operation, and of all together."""
    return {f"{where}.{name}" for where in ("operations[].amounts", "amounts") for name in names}


COMPARED = {  # by the event: with all that is at these paths; a receipt that calls more than this verifiable is refused
    V5_EVENT: ALL | EVENT | FEE | SIGNED | split(AMOUNTS),
    V4_EVENT: ALL | EVENT | {"fee.totalFeeBps"} | split(PAID),
    None: ALL | {"fee.totalFeeBps", "fee.protocolRecipient"} | split(PAID),
}
AUTHORIZATION = (
    "address user,bytes32 partnerId,address partnerRecipient,address protocolRecipient,address outputToken,"
    "uint16 totalFeeBps,uint16 partnerShareBps,uint256 nonce,uint256 deadline,bytes32 legsHash"
)
DOMAIN = "string name,string version,uint256 chainId,address verifyingContract"
FEE_SIGNER = keccak(b"feeSigner()")[:4]
PREVIOUS_FEE_SIGNER = keccak(b"previousFeeSigner()")[:4]
WRAPPED_SOL = "So11111111111111111111111111111111111111112"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
KEY_BYTES, SIGNATURE_BYTES = 32, 64
VERSION_1, V1_KEYS_COUNTED = 0x81, 41  # the first byte of a transaction of version 1, and the position of the other
MAX_TOKENS = 30  # of a sweep on Solana; each may round the fee by a unit
# Raised for files, and for answers of nodes, that are not what they should be.
UNREADABLE = (OSError, HTTPException, RecursionError, BadSignature, ValidationError)
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, StopIteration, OverflowError, *UNREADABLE)

Json = dict[str, Any]


class DifferenceError(Exception):
    """The receipt is not what was signed, or not what the chain shows."""


def same(what: str, shown: object, receipt: object) -> None:
    """Raise unless both are equal and of one type: 1 is not true."""
    if shown != receipt or type(shown) is not type(receipt):
        raise DifferenceError(f"{what}: {shown!r} is right, and the receipt has {receipt!r}")


# --- the file ---------------------------------------------------------------------------------------------------------


def strict(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON
    """Parse JSON that all readers understand alike: no name twice, and integers only."""
    return json.loads(text, object_pairs_hook=unique, parse_float=no_integer, parse_constant=no_integer)


def unique(pairs: list[tuple[str, Any]]) -> Json:
    names = sorted(name for name, _ in pairs)
    same("the names of an object, each of which is there once", sorted(set(names)), names)
    return dict(pairs)


def no_integer(text: str) -> None:
    raise DifferenceError(f"a receipt has integers only, and this one has {text}")


def answer_in(text: str) -> Json:
    """Return receipt and signature, which are all that a saved answer has; or its ``data`` alone."""
    saved = strict(text)
    if "data" in saved:
        same("what is in the file", ["data", "ok"], sorted(saved))
        same("whether it is a receipt", "True", repr(saved["ok"]))
        saved = saved["data"]
    same("what is beside the receipt", ["jws", "receipt"], sorted(saved))
    return dict(saved)


def units(text: str) -> int:
    """Return an amount, of which only the one spelling is taken."""
    amount = int(text)
    same("an amount", str(amount), text)
    return amount


# --- the signature ----------------------------------------------------------------------------------------------------


def canonical(value: object) -> bytes:
    """Return the one spelling that is signed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def decode(text: str) -> bytes:
    """Return the bytes of base64url, of which only the one spelling is taken."""
    decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    same("base64url", base64.urlsafe_b64encode(decoded).decode().rstrip("="), text)
    return decoded


def check_signature(answer: Json, keys: list[Json]) -> None:
    """Raise unless one of the keys signed exactly this receipt."""
    try:
        header_text, payload, signature = answer["jws"].split(".")
        header = strict(decode(header_text))
        key = next(decode(one["x"]) for one in keys if one["kid"] == header["kid"])
    except (ValueError, KeyError, StopIteration) as error:
        raise DifferenceError("the signature is malformed, or by none of the keys") from error
    same("the algorithm and kind of the signature", ("EdDSA", KIND), (header.get("alg"), header.get("typ")))
    same("the header of the signature", ["alg", "kid", "typ"], sorted(header))
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(decode(signature), f"{header_text}.{payload}".encode())
    except (InvalidSignature, ValueError) as error:
        raise DifferenceError("the signature does not match") from error
    same("what was signed", decode(payload), canonical(answer["receipt"]))


# --- EVM chains -------------------------------------------------------------------------------------------------------


class Node(NamedTuple):
    """Any node of the chain."""

    url: str

    def ask(self, method: str, *params: object) -> Any:  # noqa: ANN401 - any JSON
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            answer = json.load(response)
        if answer.get("error") is not None:
            raise DifferenceError(f"the node refuses {method}: {answer['error']}")
        if answer.get("result") is None:
            raise DifferenceError(f"the node has no answer to {method} {params[0] if params else ''}")
        return answer["result"]


def fields_of(event: str) -> list[tuple[str, bool, str]]:
    """Return type, whether it is indexed, and name of each field of an event."""
    inside = event[event.index("(") + 1 : -1].split(", ")
    return [(parts[0], "indexed" in parts, parts[-1]) for parts in (field.split() for field in inside)]


def topic_of(event: str) -> str:
    types = ",".join(kind for kind, _, _ in fields_of(event))
    return "0x" + keccak(f"{event[: event.index('(')]}({types})".encode()).hex()


def values_of(event: str, log: Json) -> dict[str, str]:
    """Return the values of a log of this event; all of them have one word."""
    data = log["data"][2:]
    topics, words = iter(log["topics"][1:]), iter([data[at : at + 64] for at in range(0, len(data), 64)])
    values = {}
    for kind, is_indexed, name in fields_of(event):
        word = next(topics)[2:] if is_indexed else next(words)
        if kind == "address":
            values[name] = to_checksum_address("0x" + word[-40:])
        else:
            values[name] = str(int(word, 16)) if kind == "uint256" else "0x" + word
    return values


def check_operation(node: Node, receipt: Json, operation: Json) -> None:
    """Compare one operation with the log that the chain shows."""
    at, event = operation["transaction"], operation["event"]
    if event["signature"] not in (V5_EVENT, V4_EVENT):
        raise DifferenceError("the event is not one of our contracts'")
    found = node.ask("eth_getTransactionReceipt", at["txHash"])
    block = node.ask("eth_getBlockByNumber", hex(at["blockNumber"]), WITHOUT_TRANSACTIONS)
    same("the transaction's success", "0x1", found["status"])
    same("the block", (int(found["blockNumber"], 16), found["blockHash"]), (at["blockNumber"], at["blockHash"]))
    same("the block at that height", block["hash"], at["blockHash"])
    logs = sorted(found["logs"], key=lambda log: int(log["logIndex"], 16))  # some nodes number them by the transaction
    ours = [log for log in logs if to_checksum_address(log["address"]) == operation["address"]]
    position = at["logPosition"]
    if position not in range(len(ours)) or ours[position]["topics"][:1] != [topic_of(event["signature"])]:
        raise DifferenceError("the contract emitted no such event at that position")
    shown = values_of(event["signature"], ours[position])
    same("the names of the event's fields", sorted(shown), sorted(event["fields"]))
    for name, value in shown.items():
        same(f"the event's {name}", value, event["fields"][name])
    same("the operation's id", next(iter(shown.values())), operation["id"])
    same("the wallet", shown["user"], receipt["wallet"])
    same("the output token", shown["outputToken"], receipt["outputMint"])


def check_amounts(receipt: Json, operation: Json) -> None:
    """Compare the amounts with the event, and compute the split again, where the fee's terms are known."""
    amounts, shown, fee = operation["amounts"], operation["event"]["fields"], receipt["fee"]
    gross, total = int(shown["grossOutput"]), int(shown.get("totalFee", shown.get("fee")))
    same("grossOutput", str(gross), amounts["grossOutput"])
    same("totalFee", str(total), amounts["totalFee"])
    same("userAmount", shown["userAmount"], amounts["userAmount"])
    same("the user's part", gross - total, units(amounts["userAmount"]))
    same("the parts of the fee", total, units(amounts["partnerFee"]) + units(amounts["protocolFee"]))
    same("the fee mode", ON_CHAIN if "partnerFee" in shown else OFF_CHAIN, fee["feeMode"])
    same("partnerRecipient", shown.get("partnerRecipient"), fee["partnerRecipient"])
    for name in ("partnerFee", "protocolFee", "protocolRecipient"):
        if name in shown:  # V4 pays the whole fee to the protocol
            same(name, shown[name], amounts.get(name, fee.get(name)))
    if has_terms(receipt):
        same("totalFee by its basis points", gross * fee["totalFeeBps"] // 10_000, total)
        same("partnerFee by its share", total * fee["partnerShareBps"] // 10_000, units(amounts["partnerFee"]))


def has_terms(receipt: Json) -> bool:
    """Whether the fee's terms are known; otherwise the sweep is known from the chain alone."""
    fee = receipt["fee"]
    same("both terms of the fee", fee["totalFeeBps"] is None, fee["partnerShareBps"] is None)
    return fee["totalFeeBps"] is not None


def check_authorizations(node: Node, receipt: Json, operation: Json) -> None:
    """Recompute each authorization, and compare it with the event and with the signer that the contract names."""
    shown, at = operation["event"]["fields"], operation["transaction"]
    signers = signers_of(node, operation["address"], at["blockNumber"])
    sent = node.ask("eth_getTransactionByHash", at["txHash"])["input"]
    contained = 0
    for one in receipt["authorizations"]:
        typed, message = one["typedData"], one["typedData"]["message"]
        expected = {"EIP712Domain": members(DOMAIN), "FeeAuthorization": members(AUTHORIZATION)}
        same("the types that were signed", (expected, "FeeAuthorization"), (typed["types"], typed["primaryType"]))
        domain = {"name": "ServiceBatchV5PartnerFees", "version": "5", "verifyingContract": operation["address"]}
        same("the domain", domain | {"chainId": int(receipt["network"].partition(":")[2])}, typed["domain"])
        signable = encode_typed_data(full_message=typed)
        digest = "0x" + keccak(b"\x19" + signable.version + signable.header + signable.body).hex()
        same("the digest", digest, one["digest"])
        recovered = Account.recover_message(signable, signature=one["signature"])
        same("the signer of the authorization", recovered, one["signer"])
        if recovered not in signers:
            raise DifferenceError(f"the contract's fee signer is {' or '.join(signers)}, not {recovered}")
        same("the members of the message", sorted(one["name"] for one in members(AUTHORIZATION)), sorted(message))
        for name in ("user", "partnerId", "partnerRecipient", "protocolRecipient", "outputToken", "nonce"):
            same(f"the authorization's {name}", shown[name], message[name])
        for name in ("totalFeeBps", "partnerShareBps"):
            same(f"the authorization's {name}", message[name], str(receipt["fee"][name]))
        contained += one["signature"][2:] in sent
    if contained != 1:
        raise DifferenceError("the transaction contains the signature of none of these authorizations")


def members(text: str) -> list[dict[str, str]]:
    pairs = (member.split(" ") for member in text.split(","))
    return [{"name": name, "type": kind} for kind, name in pairs]


def signers_of(node: Node, contract: str, block: int) -> list[str]:
    """Return the fee signer at that block and the one before, or today's if the node keeps no old states."""
    calls = [{"to": contract, "data": "0x" + selector.hex()} for selector in (FEE_SIGNER, PREVIOUS_FEE_SIGNER)]
    for tag in (hex(block), "latest"):
        try:
            words = [node.ask("eth_call", call, tag) for call in calls]
        except DifferenceError:
            continue
        return [to_checksum_address("0x" + word[26:66]) for word in words if len(word) >= WORD_DIGITS]
    raise DifferenceError("the node does not answer what the contract's fee signer is")


def check_evm(node: Node, receipt: Json, contract: str | None) -> None:
    """Compare all that a receipt calls verifiable with an EVM chain."""
    same("the chain", f"eip155:{int(node.ask('eth_chainId'), 16)}", receipt["network"])
    same("the operations, of which there is one", receipt["operations"][:1], receipt["operations"])
    operation = receipt["operations"][0]
    if contract is not None:
        same("the contract", to_checksum_address(contract), operation["address"])
    check_operation(node, receipt, operation)
    check_amounts(receipt, operation)
    if (has_terms(receipt) and operation["event"]["signature"] == V5_EVENT) or receipt["authorizations"]:
        check_authorizations(node, receipt, operation)
    final = node.ask("eth_getBlockByNumber", "finalized", WITHOUT_TRANSACTIONS)
    if int(final["number"], 16) < operation["transaction"]["blockNumber"]:
        raise DifferenceError("the node does not call the block final")


# --- Solana -----------------------------------------------------------------------------------------------------------


def check_solana(node: Node, receipt: Json, fee_wallet: str | None) -> None:
    """Compare the transactions with a Solana cluster, and what the fee wallet and the user got in them."""
    same("the cluster", f"solana:{node.ask('getGenesisHash')[:32]}", receipt["network"])
    hashes = [operation["transaction"]["txHash"] for operation in receipt["operations"]]
    same("the transactions, one of each operation", sorted(set(hashes)), sorted(hashes))
    same("the fee mode", (OFF_CHAIN, None), (receipt["fee"]["feeMode"], receipt["fee"]["partnerRecipient"]))
    for operation in receipt["operations"]:
        if fee_wallet is not None:
            same("the fee wallet", fee_wallet, operation["address"])
        at = operation["transaction"]
        same("the protocol's recipient", operation["address"], receipt["fee"]["protocolRecipient"])
        same("the event and its position", (None, None), (operation["event"], at["logPosition"]))
        choices = {"commitment": "finalized", "maxSupportedTransactionVersion": 1, "encoding": "base64"}
        found = node.ask("getTransaction", at["txHash"], choices)
        same("error and slot", (found["meta"]["err"], found["slot"]), (None, at["blockNumber"]))
        block = node.ask("getBlock", at["blockNumber"], {"transactionDetails": "none", "rewards": False})
        same("the block", block["blockhash"], at["blockHash"])
        signers, keys = keys_of(base64.b64decode(found["transaction"][0]))
        if key(receipt["wallet"]) not in signers or key(operation["id"]) not in keys:
            raise DifferenceError("the wallet did not sign the transaction, or it does not name the operation's id")
        check_shares(found["meta"], receipt, operation)


def keys_of(transaction: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the keys that signed a transaction, and all that it names itself."""
    if transaction[0] == VERSION_1:  # its signatures come last; budget and blockhash are before the keys
        at, counted = 1, V1_KEYS_COUNTED
    else:
        at = 1 + SIGNATURE_BYTES * transaction[0]
        at += transaction[at] >> 7  # the byte of its version, which the first form has not
        counted = at + 3  # behind the rights of the keys, in three bytes
    start, count = counted + 1, transaction[counted]
    keys = [transaction[one : one + KEY_BYTES] for one in range(start, start + KEY_BYTES * count, KEY_BYTES)]
    return keys[: transaction[at]], keys


def key(base58: str) -> bytes:
    return reduce(lambda number, digit: number * 58 + BASE58.index(digit), base58, 0).to_bytes(KEY_BYTES)


def check_shares(meta: Json, receipt: Json, operation: Json) -> None:
    """Compare the amounts with what the fee wallet and the user got."""
    fee, amounts, token = receipt["fee"], operation["amounts"], receipt["outputMint"]
    same("totalFee", str(gain(meta, operation["address"], token)), amounts["totalFee"])
    if token != WRAPPED_SOL:  # which is unwrapped, and mixed with what the user paid for fees
        same("userAmount", str(gain(meta, receipt["wallet"], token)), amounts["userAmount"])
    total, gross, partner = (units(amounts[name]) for name in ("totalFee", "grossOutput", "partnerFee"))
    same("the user's part", gross - total, units(amounts["userAmount"]))
    same("the parts of the fee", total, partner + units(amounts["protocolFee"]))
    if has_terms(receipt):
        if abs(total * 10_000 - gross * fee["totalFeeBps"]) > MAX_TOKENS * 10_000:
            raise DifferenceError("totalFee is not that of its basis points")
        same("the partner's part", total * fee["partnerShareBps"] // 10_000, partner)


def gain(meta: Json, owner: str, mint: str) -> int:
    def held(balances: list[Json]) -> int:
        mine = [one for one in balances if (one["owner"], one["mint"]) == (owner, mint)]
        return sum(int(one["uiTokenAmount"]["amount"]) for one in mine)

    return held(meta["postTokenBalances"]) - held(meta["preTokenBalances"])


# --- the whole --------------------------------------------------------------------------------------------------------


def check_sums(receipt: Json) -> None:
    """Compare the sums with the operations, and the booked fee with both; that needs no chain."""
    for name, amount in receipt["amounts"].items():
        same(f"the sum of {name}", sum(units(one["amounts"][name]) for one in receipt["operations"]), units(amount))
    booked: dict[str, int] = {}
    for entry in receipt["entries"]:
        same("an entry's sweep, network and token", (receipt["sweepId"], receipt["network"], receipt["outputMint"]), (
            entry["sweepId"], entry["network"], entry["token"],
        ))  # fmt: skip
        for posting in entry["postings"]:
            sign = {"debit": 1, "credit": -1}[posting["direction"]]
            booked[posting["account"]] = booked.get(posting["account"], 0) + sign * units(posting["amount"])
    partner = "partner_settled" if receipt["fee"]["feeMode"] == ON_CHAIN else "partner_payable"
    due = {"fees_charged": (1, "totalFee"), partner: (-1, "partnerFee"), "protocol_revenue": (-1, "protocolFee")}
    for account, (sign, name) in due.items():
        same(f"what is booked as {account}", booked.pop(account, 0), sign * units(receipt["amounts"][name]))
    same("what else is booked", {}, {account: amount for account, amount in booked.items() if amount})


def check_claims(receipt: Json, compared: Collection[str]) -> None:
    """Raise if the receipt calls anything verifiable that it has not, or that is not compared."""
    known = {*paths(receipt)}
    for claim in receipt["verifiable"]:
        claimed = {path for path in known if is_at(path, [claim])}
        has_none = receipt.get(claim) == []  # of authorizations, in an adopted sweep
        if not (claimed or has_none) or not all(is_at(path, {*compared, OFFER}) for path in claimed):
            raise DifferenceError(f"what else is called verifiable: {claim!r}")


def paths(value: object, path: str = "") -> Iterator[str]:
    """Yield the path of each plain value, as the receipt's own lists of paths spell it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if not name.isidentifier():  # it could look like a path
                raise DifferenceError(f"{name!r} is not a name of a receipt")
            yield from paths(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{path}[]")
    else:
        yield path


def is_at(path: str, places: Collection[str]) -> bool:
    return any(path == place or path.startswith((f"{place}.", f"{place}[]")) for place in places)


def part(value: Any, places: Collection[str], *, is_inside: bool, path: str = "") -> Any:  # noqa: ANN401 - any JSON
    """Return what of it is at these places, or what is elsewhere; nothing is ``{}``."""
    if isinstance(value, dict):
        inner = {
            name: part(one, places, is_inside=is_inside, path=f"{path}.{name}" if path else name)
            for name, one in value.items()
        }
        return {name: one for name, one in inner.items() if one != {}}
    if isinstance(value, list):
        parts = [part(one, places, is_inside=is_inside, path=f"{path}[]") for one in value]
        return parts if any(one != {} for one in parts) else {}
    return value if is_at(path, places) == is_inside else {}


def verify(answer: Json, keys: list[Json], node: Node, contract: str | None = None) -> Json:
    """Return what is proven, and what is only signed.

    Raises ``DifferenceError`` unless the receipt is signed by one of the keys and is what the chain shows.
    """
    check_signature(answer, keys)
    receipt = answer["receipt"]
    same("the kind of the receipt", KIND, receipt["type"])
    same("the version of the receipt", 1, receipt["version"])
    if not receipt["operations"]:
        raise DifferenceError("it has no operation")
    event = receipt["operations"][0]["event"]
    proven = COMPARED[event and event["signature"]]
    check_claims(receipt, proven)
    check_sums(receipt)
    if receipt["network"].startswith("eip155:"):
        check_evm(node, receipt, contract)
    else:
        check_solana(node, receipt, contract)
    notes = []
    if not has_terms(receipt):
        proven = proven - TERMS
        notes.append("It is known from the chain alone: there are no terms of its fee, and no authorizations.")
    if receipt["outputMint"] == WRAPPED_SOL:
        proven = proven - split({"grossOutput", "userAmount"}) - TERMS  # whose share of an unknown gross means nothing
        notes.append("Of the amounts in SOL only totalFee was compared.")
    if contract is None:
        notes.append("You named no --contract: the address in the receipt was taken as ours.")
    shown, said = (part(receipt, proven, is_inside=is_inside) for is_inside in (True, False))
    return {"chainShows": shown, "serviceSays": said, "notes": notes}


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks a saved receipt against the chain.")
    parser.add_argument("receipt", type=Path)
    parser.add_argument("--keys", type=Path, required=True, help="the saved /.well-known/jwks.json, or your copy of it")
    parser.add_argument("--rpc", required=True, help="any node of the chain")
    parser.add_argument("--contract", help="the address of our contract, on Solana of our fee wallet")
    arguments = parser.parse_args()
    sys.setrecursionlimit(1_000)  # a library raised it so far that deeply nested JSON would end the process
    try:
        answer = answer_in(arguments.receipt.read_text(encoding="utf-8"))
        keys = strict(arguments.keys.read_text(encoding="utf-8"))["keys"]
        proof = verify(answer, keys, Node(arguments.rpc), arguments.contract)
    except (DifferenceError, *MALFORMED) as error:
        print(f"NOT VERIFIED: {type(error).__name__}: {error}".encode("unicode_escape").decode())  # in one line
        return 1
    print(json.dumps(proof, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
