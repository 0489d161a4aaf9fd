r"""Checks monthly statements that you saved, and proofs in them; our service is not needed, and can be switched off.

    pip install cryptography eth-utils
    curl -H "x-api-key: $KEY" "$API/v2/statements/2026-11?limit=200" > page-1.json    # then cursor=nextCursor, …
    curl $API/.well-known/jwks.json > jwks.json
    python verify_statement.py page-1.json page-2.json --keys jwks.json \
        --proof proof.json --rpc eip155:8453=https://any-node.example --contract eip155:8453=0x…

The pages are those of one month, all of them. A proof is an answer of /v2/statements/:month/proof for that month. Keep
the checkpoints: that of this month has to continue that of the month before, which a proof (`?from=`) and `--former
page.json` show.

With a node of a network and the address of our V5 contract, each fee that it paid is compared with the chain: the
wallet, the token, the fee and its parts. `--contract-v4` names our V4 contract, of whose fees the chain shows sweep,
wallet, token and the whole fee. The rest is not in statements, such as the gross output, or not on chain, such as your
share of V4's fees. A fee that the same statement reverses is not looked up.

Prints JSON: in sentences what is ``proven``, the entries and totals that are ``signed``, and the ids of the entries
whose fee ``chainShows``. Read that and not the files. Prints one line if anything differs, or a file has anything else.

Exits with
0   if all of it holds;
1   at the first difference;
2   if the arguments are wrong;
3   if all of it holds, but the transactions of some fees have not succeeded on the chain (any more), and these fees are
    not reversed up to the end of the month. ``notOnChain`` names them. It happens if their block left the chain after
    the month; then a later statement has an entry that `reverses` the fee, and if none has, the fee was made up. Ask a
    second node as well, since some forget old transactions.
"""

import argparse
import base64
import json
import sys
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

TIMEOUT_SECONDS = 30
SUCCEEDED = "0x1"  # the status of a transaction
NOT_ON_CHAIN = 3  # exit status
ONLY_WE_SAY = "Only the service says: kinds and times of entries, the shares of V4's and Solana's fees, and payouts."
NO_START = "Without --former nothing shows that the entries before these are of earlier months."
V5_TYPES = "uint256,address,bytes32,address,address,address,uint256,uint256,uint256,uint256,uint256,uint256"
V4_TYPES = "bytes32,address,address,uint256,uint256,uint256,uint256"
V5_EVENT = "0x" + keccak(f"SweepExecutedV5({V5_TYPES})".encode()).hex()
V4_EVENT = "0x" + keccak(f"SweepExecutedV4({V4_TYPES})".encode()).hex()
V5_TOKEN, V5_TOTAL_FEE, V5_PARTNER_FEE, V5_PROTOCOL_FEE = 2, 5, 6, 7  # words of its data
V4_TOKEN, V4_FEE = 0, 3

MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError, OSError, HTTPException)
Json = dict[str, Any]
Event = tuple[object, ...]


class DifferenceError(Exception):
    """The statement is not what was signed, or not what the chain shows."""


def same(what: str, right: object, shown: object) -> None:
    """Raise unless both are equal and of one type: 1 is not true."""
    if right != shown or type(right) is not type(shown):
        raise DifferenceError(f"{what}: {right!r} is right, and the file has {shown!r}")


# --- the files --------------------------------------------------------------------------------------------------------

MEMBERS = {
    "page": ("before", "checkpoint", "month", "nextCursor", "records", "totals", "tree"),
    "proof": ("checkpoint", "consistency", "inclusion", "month", "tree"),
}


def strict(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Parse JSON that all readers understand alike: no name twice, and integers only."""
    return json.loads(text, object_pairs_hook=unique, parse_float=no_integer, parse_constant=no_integer)


def unique(pairs: Sequence[tuple[str, Any]]) -> Json:
    names = sorted(name for name, _ in pairs)
    same("the names of an object, each of which is there once", sorted(set(names)), names)
    return dict(pairs)


def no_integer(text: str) -> None:
    raise DifferenceError(f"a statement has integers only, and this one has {text}")


def read(path: Path, kind: str) -> Json:
    """Return what a saved answer has, or its ``data`` alone; nothing else may be in it."""
    saved = strict(path.read_text(encoding="utf-8"))
    if "data" in saved:
        same("what is in the file", ["data", "ok"], sorted(saved))
        same("whether it is an answer", "True", repr(saved["ok"]))
        saved = saved["data"]
    same(f"what a {kind} has", list(MEMBERS[kind]), sorted(saved))
    return dict(saved)


def units(text: str) -> int:
    """Return an amount, of which only the one spelling is taken."""
    amount = int(text)
    same("an amount", str(amount), text)
    return amount


# --- trees (RFC 9162) -------------------------------------------------------------------------------------------------


def leaf_hash(record: Json) -> bytes:
    canonical = json.dumps(record, sort_keys=True, separators=(",", ":")).encode("ascii")
    return sha256(b"\x00" + canonical).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that grows: the hashes of the complete subtrees that it consists of, with their levels."""

    def __init__(self, size: int, hashes: Sequence[bytes]) -> None:
        levels = [level for level in reversed(range(size.bit_length())) if size >> level & 1]
        same("the number of hashes before the month", len(levels), len(hashes))
        self.subtrees = list(zip(levels, hashes, strict=True))
        self.size = size

    def append(self, leaf: bytes) -> None:
        self.subtrees.append((0, leaf))
        self.size += 1
        while len(self.subtrees) > 1 and self.subtrees[-1][0] == self.subtrees[-2][0]:
            (level, left), (_, right) = self.subtrees[-2:]
            self.subtrees[-2:] = [(level + 1, node_hash(left, right))]

    @property
    def root(self) -> bytes:
        if not self.subtrees:
            return sha256().digest()
        *left, (_, root) = self.subtrees
        for _, one in reversed(left):
            root = node_hash(one, root)
        return root


def check_inclusion(index: int, size: int, leaf: bytes, path: Sequence[bytes], root: bytes) -> None:
    """Raise unless the leaf is in the tree (section 2.1.3.2)."""
    if not 0 <= index < size:
        raise DifferenceError("the tree has no such entry")
    position, last, found = index, size - 1, leaf
    for one in path:
        if last == 0:
            raise DifferenceError("the proof has too many hashes")
        if position & 1 or position == last:
            found = node_hash(one, found)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            found = node_hash(found, one)
        position, last = position >> 1, last >> 1
    same("the root by the proof of inclusion", (0, found.hex()), (last, root.hex()))


def check_consistency(old: tuple[int, bytes], new: tuple[int, bytes], path: Sequence[bytes]) -> None:
    """Raise unless the new tree, of a size and root, continues the old one (section 2.1.4.2)."""
    (old_size, old_root), (size, root) = old, new
    if old_size in (0, size):
        same("the earlier root", sha256().digest() if old_size == 0 else root, old_root)
        same("the proof", [], list(path))
        return
    hashes = [old_root, *path] if old_size & (old_size - 1) == 0 else list(path)
    if not hashes or old_size > size:
        raise DifferenceError("the proof is of no earlier tree")
    position, last = old_size - 1, size - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    first = second = hashes[0]
    for one in hashes[1:]:
        if last == 0:
            raise DifferenceError("the proof has too many hashes")
        if position & 1 or position == last:
            first, second = node_hash(one, first), node_hash(one, second)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            second = node_hash(second, one)
        position, last = position >> 1, last >> 1
    same("the roots by the proof of consistency", (0, first.hex(), second.hex()), (last, old_root.hex(), root.hex()))


# --- checkpoints (c2sp.org/tlog-checkpoint) ---------------------------------------------------------------------------


def check_note(statement: Json, keys: Sequence[Json]) -> str:
    """Raise unless one of the keys signed the size and root of the statement's tree; return the tree's origin."""
    text, _, signatures = statement["checkpoint"].partition("\n\n")
    text += "\n"
    origin, size, root, month = text.splitlines()
    dash, name, signature = signatures.removesuffix("\n").split(" ")
    same("the name of the key", ("\N{EM DASH}", origin), (dash, name))
    signed = base64.b64decode(signature, validate=True)
    same("base64", base64.b64encode(signed).decode(), signature)
    for key in keys:
        raw = base64.urlsafe_b64decode(key["x"] + "=")
        if sha256(origin.encode() + b"\n\x01" + raw).digest()[:4] == signed[:4]:
            break
    else:
        raise DifferenceError("the checkpoint is signed by none of the keys")
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signed[4:], text.encode())
    except InvalidSignature as error:
        raise DifferenceError("the signature of the checkpoint does not match") from error
    same("the month", month, f"month {statement['month']}")
    same("the size", int(size), statement["tree"]["size"])
    same("the root", base64.b64decode(root).hex(), statement["tree"]["root"])
    return origin


# --- the statement ----------------------------------------------------------------------------------------------------


def check_records(pages: Sequence[Json]) -> list[Json]:
    """Raise unless the pages are all records of the month and give the signed root; return the records."""
    first = pages[0]
    for page in pages:
        for name in ("month", "checkpoint", "tree", "before", "totals"):
            same(f"{name} of all pages", first[name], page[name])
    same("the end of the last page", None, pages[-1]["nextCursor"])
    before = first["before"]
    tree = Tree(before["size"], [bytes.fromhex(one) for one in before["hashes"]])
    same("the root before the month", tree.root.hex(), before["root"])
    records = [record for page in pages for record in page["records"]]
    for record in records:
        same("the number of an entry", tree.size, record["number"])
        same("the month of an entry", first["month"], record["numberedAt"][:7])
        same("the sum of an entry's postings", 0, booked_by(record).total())
        tree.append(leaf_hash(record))
    check_reversals(records)
    same("the size at the end", tree.size, first["tree"]["size"])
    same("the root at the end", tree.root.hex(), first["tree"]["root"])
    return records


def booked_by(record: Json) -> Counter[str]:
    """Return what an entry moves on each account, debits above zero and credits below."""
    moved: Counter[str] = Counter()
    for posting in record["postings"]:
        moved[posting["account"]] += {"debit": 1, "credit": -1}[posting["direction"]] * units(posting["amount"])
    return moved


def check_reversals(records: Sequence[Json]) -> None:
    """Raise unless each id is of one entry, and each entry that reverses one of these undoes all of it."""
    by_id = {record["id"]: booked_by(record) for record in records}
    same("the number of ids", len(records), len(by_id))
    for record in records:
        if record["reverses"] in by_id:
            undone = {name: -amount for name, amount in by_id[record["reverses"]].items()}
            same("what an entry reverses", undone, dict(booked_by(record)))


def check_totals(records: Sequence[Json], totals: Sequence[Json]) -> None:
    """Raise unless the totals are the sums of the records."""
    sums: Counter[tuple[str, str, str, str]] = Counter()
    for record in records:
        for posting in record["postings"]:
            key = (record["network"], record["token"], posting["account"], posting["direction"])
            sums[key] += units(posting["amount"])
    for one in totals:
        same("what a total has", ["account", "credit", "debit", "network", "token"], sorted(one))
    shown = {
        (one["network"], one["token"], one["account"], side): units(one[side])
        for one in totals
        for side in ("debit", "credit")
    }
    same("the number of totals", len(totals) * 2, len(shown))
    same("the totals", dict(sums), {key: amount for key, amount in shown.items() if amount})


def check_proof(proof: Json, statement: Json) -> list[str]:
    """Raise unless a proof holds for the statement's tree; return what it proves."""
    for name in ("month", "checkpoint", "tree"):
        same(f"{name} of the proof", statement[name], proof[name])
    size, root = statement["tree"]["size"], bytes.fromhex(statement["tree"]["root"])
    proven = []
    if (shown := proof["inclusion"]) is not None:
        same("the entry's number", shown["index"], shown["record"]["number"])
        path = [bytes.fromhex(one) for one in shown["hashes"]]
        check_inclusion(shown["index"], size, leaf_hash(shown["record"]), path, root)
        proven.append(f"Entry {shown['record']['id']} is in the tree.")
    if (shown := proof["consistency"]) is not None:
        old = shown["size"], bytes.fromhex(shown["root"])
        check_consistency(old, (size, root), [bytes.fromhex(one) for one in shown["hashes"]])
        proven.append(f"The tree continues that of {shown['size']} entries with the root {shown['root']}.")
    if not proven:
        raise DifferenceError("the proof proves nothing")
    return proven


# --- the chain --------------------------------------------------------------------------------------------------------


def ask(url: str, method: str, *params: object) -> Any:  # noqa: ANN401 - any JSON
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        answer = json.load(response)
    if answer.get("error") is not None:
        raise DifferenceError(f"the node refuses {method}: {answer['error']}")
    return answer["result"]


def check_chain(
    records: Sequence[Json], network: str, url: str, contracts: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Compare fees that were not reversed with the events of contracts; return which hold, by id, and are missing."""
    same("the node's chain", f"eip155:{int(ask(url, 'eth_chainId'), 16)}", network)
    reversed_ones = {record["reverses"] for record in records}
    shown, missing = list[str](), []
    unnamed: dict[str, Counter[Event]] = {}  # events of each transaction that are not those of an earlier entry
    for record in records:
        is_fee = (record["kind"], record["network"]) == ("sweep_fee", network) and record["id"] not in reversed_ones
        expected = events_of(record) if is_fee else []
        if not expected or not {topic for topic, *_ in expected} <= contracts.keys():
            continue
        receipt = ask(url, "eth_getTransactionReceipt", record["txHash"])
        if receipt is None or receipt["status"] != SUCCEEDED:
            missing.append(f"entry {record['id']}, the fee of transaction {record['txHash']}")
            continue
        events = unnamed.setdefault(record["txHash"].lower(), events_in(receipt, contracts))
        event = next((one for one in expected if events[one] > 0), None)
        if event is None:
            raise DifferenceError(f"entry {record['id']} is not what {record['txHash']} paid")
        events[event] -= 1
        shown.append(record["id"])
    return shown, missing


def events_of(record: Json) -> list[Event]:
    """Return what the event of a fee has to show, its topic first; without a part of the partner on V5 or on V4."""
    moved, events = booked_by(record), list[Event]()
    fee, parts = (record["wallet"], record["token"], moved["fees_charged"]), {"fees_charged", "protocol_revenue"}
    if moved.keys() <= parts | {"partner_settled"}:
        events.append((V5_EVENT, *fee, -moved["partner_settled"], -moved["protocol_revenue"]))
    if moved.keys() <= parts | {"partner_payable"}:
        events.append((V4_EVENT, *fee, "0x" + record["sweepId"].replace("-", "").ljust(64, "0")))
    same(f"what entry {record['id']} moves as no fee does", [], [] if events else sorted(moved))
    return events


def events_in(receipt: Json, contracts: Mapping[str, str]) -> Counter[Event]:
    """Return the executions of sweeps at the contracts that a transaction has, in the form of ``events_of``."""
    found: Counter[Event] = Counter()
    for log in receipt["logs"]:
        topic = log["topics"][0] if log["topics"] else None
        if topic not in contracts or address(log["address"]) != address(contracts[topic]):
            continue
        data, user = log["data"][2:], address(log["topics"][2])
        words = [data[at : at + 64] for at in range(0, len(data), 64)]
        if topic == V5_EVENT:
            fees = [int(words[position], 16) for position in (V5_TOTAL_FEE, V5_PARTNER_FEE, V5_PROTOCOL_FEE)]
            found[(topic, user, address(words[V5_TOKEN]), *fees)] += 1
        else:
            found[(topic, user, address(words[V4_TOKEN]), int(words[V4_FEE], 16), log["topics"][1])] += 1
    return found


def address(text: str) -> str:
    """Return the address in a word, or in another spelling, with its checksum."""
    return to_checksum_address("0x" + text[-40:])


# --- the whole --------------------------------------------------------------------------------------------------------


def named(pairs: Sequence[str]) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in pairs)


def check_former(former: Json, statement: Json, origin: str, keys: Sequence[Json]) -> str:
    """Raise unless the statement begins where the one of the month before ended; return what that proves."""
    owner, _, era = origin.rpartition("/")
    former_owner, _, former_era = check_note(former, keys).rpartition("/")
    same("the tree's owner in the former statement", owner, former_owner)
    if former["tree"] != {name: statement["before"][name] for name in ("size", "root")}:
        reason = "another statement lies between" if era == former_era else f"era {era} began, compare their entries"
        raise DifferenceError(f"the tree of the former statement is not the one that is continued: {reason}")
    return f"It continues the checkpoint of {former['month']}."


def verify(arguments: argparse.Namespace) -> Json:
    """Check everything that was named; return what was proven, and which fees are not on the chain."""
    keys = strict(arguments.keys.read_text(encoding="utf-8"))["keys"]
    pages = [read(path, "page") for path in arguments.pages]
    origin = check_note(pages[0], keys)
    records = check_records(pages)
    check_totals(records, pages[0]["totals"])
    proven = [f"The checkpoint of {origin} covers these {len(records)} entries and others before; the totals hold."]
    proven += [
        NO_START if arguments.former is None else check_former(read(arguments.former, "page"), pages[0], origin, keys)
    ]
    entries = []
    for path in arguments.proof:
        proof = read(path, "proof")
        proven += check_proof(proof, pages[0])
        entries += [] if proof["inclusion"] is None else [proof["inclusion"]["record"]]
    v5, v4, on_chain, all_missing = named(arguments.contract), named(arguments.contract_v4), {}, list[str]()
    for network, url in named(arguments.rpc).items():
        known = {V5_EVENT: v5.get(network), V4_EVENT: v4.get(network)}
        contracts = {event: contract for event, contract in known.items() if contract is not None}
        if not contracts:
            raise ValueError(f"no contract of {network} is named")
        on_chain[network], missing = check_chain(records, network, url, contracts)
        proven.append(f"{network} shows {len(on_chain[network])} of these entries, to the unit.")
        all_missing += missing
    tree = {name: pages[0]["tree"][name] for name in ("size", "root")}
    signed = {"month": pages[0]["month"], "tree": tree, "totals": pages[0]["totals"], "records": records}
    return {
        "proven": proven,
        "notOnChain": all_missing,  # and not reversed up to the end of the month
        "chainShows": on_chain,  # the ids of entries whose fee it shows
        "signed": {**signed, "entriesOfProofs": entries},
        "notes": [ONLY_WE_SAY],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks a saved statement, and proofs in it.")
    parser.add_argument("pages", type=Path, nargs="+", help="all pages of one month, in their order")
    parser.add_argument("--keys", type=Path, required=True, help="the saved /.well-known/jwks.json, or your copy of it")
    parser.add_argument("--former", type=Path, help="a page of the statement of the month before")
    parser.add_argument("--proof", type=Path, action="append", default=[])
    parser.add_argument("--rpc", action="append", default=[], metavar="NETWORK=URL")
    parser.add_argument("--contract", action="append", default=[], metavar="NETWORK=ADDRESS", help="of V5")
    parser.add_argument("--contract-v4", action="append", default=[], metavar="NETWORK=ADDRESS")
    arguments = parser.parse_args()
    try:
        proof = verify(arguments)
    except (DifferenceError, *MALFORMED) as error:
        print(f"NOT VERIFIED: {type(error).__name__}: {error}".encode("unicode_escape").decode())  # in one line
        return 1
    print(json.dumps(proof, indent=2))
    return NOT_ON_CHAIN if proof["notOnChain"] else 0


if __name__ == "__main__":
    sys.exit(main())
