"""docs/source-coverage.md covers every sentence of the source document, and names modules and tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SENTENCES = {
    "1": "1, 2, 3a, 3b, 3c, 3d, 4, 5, 6, 7, 8",
    "2.1": "envelope, ok, data, failures",
    "2.2": "mint, amount, symbol, decimals, required",
    "2.3": "chain, wallet, tokens, outputMint, slippageBps, bounds, forbidden",
    "2.4": "sweepId, chain, mode, contractVersion, contractAddress, permit2, transaction, transactionTemplate, "
    "feeAuthorization, feeMode, estimates, shapes",
    "2.5": "short-lived, user, partnerId, partnerRecipient, protocolRecipient, outputToken, totalFeeBps, "
    "partnerShareBps, nonce, deadline, types",
    "2.6": "stored, status, txHash, submittedAt, confirmedAt, checkAttempts, lastCheckedAt, nextCheckAt, lastError, "
    "expected, actual, names",
    "2.7": "txHash",
    "2.8": "content, shape",
    "2.9": "gross, 1, 2, 3, 4, 5, share, 75, configured",
    "3": "pending, completed, expired, failed, move 1, move 2, move 3, move 4, move 5, move 6, move 7, others, void",
    "4.1": "request, response, shapes",
    "4.2": "request, response, next, shapes",
    "4.3": "request, 1, 2, 3, 4, 5, 6, 7, shape",
    "4.4": "request, response",
    "4.5": "status, discover, build, status/:id, history, output-tokens, shapes",
    "5": "1, 2, 3, 4, 5, 6, 6a, 6b, 6c, 6d, 6e, 6f, 6g, 6h, 7, 8",
    "6": "own, emitted, decoded, matched, ledger, fields",
    "7": "row 1, row 2, row 3, row 4, row 5, row 6, reverts, shape, input",
    "8": "fee, denominator, authorization, cap, expiry, rates, lifetime, backoff, tokens",
    "9": "1, 2, 3, 4, v5_partner_fees, v4_fallback, 5, 6",
}
ROW = re.compile(r"\| (?P<sentence>[1-9].*?) \| (?P<says>.*?) \| (?P<built>.*?) \| (?P<shown>.*?) \|")
SOLIDITY_NAME = re.compile(r"\b(?:contract|event|function) (\w+)")


class Row(NamedTuple):
    sentence: str
    says: str
    built: list[str]  # paths, each with the name of a definition or without
    tests: list[str]  # paths with the name of a test


def rows() -> list[Row]:
    lines = (ROOT / "docs" / "source-coverage.md").read_text().splitlines()
    found = [match for line in lines if (match := ROW.fullmatch(line))]
    return [Row(row["sentence"], row["says"], names_in(row["built"]), names_in(row["shown"])) for row in found]


def names_in(cell: str) -> list[str]:
    return re.findall(r"`(.+?)`", cell)


@cache
def defined_in(path: str) -> frozenset[str]:
    """Every function and class of a file, also those inside others; nothing for a file that does not exist."""
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    if file.suffix == ".sol":
        return frozenset(SOLIDITY_NAME.findall(file.read_text()))
    nodes = ast.walk(ast.parse(file.read_text()))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef))


def exists(name: str, separator: str) -> bool:
    """Whether a file exists, and defines the name behind the separator if there is one."""
    path, _, definition = name.partition(separator)
    return definition in defined_in(path) if definition else (ROOT / path).exists()


def test_every_sentence_is_covered_in_order() -> None:
    expected = [f"{section} {name}" for section, names in SENTENCES.items() for name in names.split(", ")]
    assert [row.sentence for row in rows()] == expected


def test_every_sentence_has_what_it_says_a_module_and_a_test() -> None:
    assert [row for row in rows() if not (row.says and row.built and row.tests)] == []


def test_every_module_exists_and_defines_what_is_named() -> None:
    assert [(row.sentence, name) for row in rows() for name in row.built if not exists(name, ":")] == []


def test_every_test_exists() -> None:
    named = [(row.sentence, name) for row in rows() for name in row.tests]
    assert [entry for entry in named if "::" not in entry[1] or not exists(entry[1], "::")] == []


def test_what_does_not_exist_is_noticed() -> None:
    assert exists("tests/test_source_coverage.py::test_every_test_exists", "::")
    assert not exists("tests/test_source_coverage.py::test_nothing", "::")
    assert not exists("tests/test_of_nothing.py::test_every_test_exists", "::")
    assert exists("contracts/test/Legs.t.sol::test_thirty_legs_are_swept", "::")
    assert not exists("contracts/test/Legs.t.sol::test_thirty", "::")
