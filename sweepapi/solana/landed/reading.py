"""Reads a landed transaction with ``getTransaction``, and checks what the provider returns.

A provider can't invent the instructions, because the signatures are verified. What it says about balances is only
checked for consistency, so a second provider has to show the same before anything is final.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from solders.message import MessageV0, VersionedMessage
from solders.transaction import SanitizeError, VersionedTransaction

from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError, CallFailedError
from sweepapi.solana.encoding import responses
from sweepapi.solana.encoding.addresses import COMPUTE_BUDGET, LIGHTHOUSE
from sweepapi.solana.landed.history import NEWEST_VERSION
from sweepapi.solana.landed.transactions import AccountBalance, Landed, LandedInstruction, Unreadable

# Wallets change or add instructions of these programs in what they are given to sign.
WALLETS_OWN_PROGRAMS = frozenset({str(COMPUTE_BUDGET), str(LIGHTHOUSE)})
MAX_ERROR_CHARACTERS = 200
# A node's error for a transaction of a version above the one asked for; a stranger's must not hide the others.
OTHER_VERSION_CODE = -32015

_AMOUNT = re.compile(r"0|[1-9][0-9]{0,19}", re.ASCII)
# What programs log before they fail, and what the cluster logs after it; the first one that is there explains it best.
_EXPLANATIONS = (re.compile(r"\bError\b|\bpanicked\b"), re.compile(r"^Program \w+ failed: "))


def transaction_call(signature: str, *, commitment: str) -> Call:
    """Return the call for a transaction, which decodes to None while the node does not have it."""
    options = {"encoding": "base64", "commitment": commitment, "maxSupportedTransactionVersion": NEWEST_VERSION}
    return Call("getTransaction", (signature, options), landed_of(signature), ErrorPolicy.ANY, _refusal)


def _refusal(error: object) -> Unreadable | CallFailedError:
    if isinstance(error, dict) and error.get("code") == OTHER_VERSION_CODE:
        return Unreadable.OTHER_VERSION
    return CallFailedError("getTransaction failed")


def landed_of(signature: str) -> Callable[[object], Landed | None]:
    """Return the decoder of the transaction with this signature."""

    def decode(value: object) -> Landed | None:
        return None if value is None else _landed(responses.mapping(value), signature)

    return decode


def _landed(fields: Mapping[str, Any], signature: str) -> Landed:
    message = _message(fields.get("transaction"), signature)
    meta = responses.mapping(fields.get("meta"))
    keys = _account_keys(message, meta.get("loadedAddresses"))
    fee = responses.amount(meta.get("fee"))
    before = _balances(keys, meta.get("preBalances"), meta.get("preTokenBalances"))
    after = _balances(keys, meta.get("postBalances"), meta.get("postTokenBalances"))
    if sum(one.lamports for one in before.values()) - sum(one.lamports for one in after.values()) != fee:
        raise BadResponseError("the balances do not add up")
    error = _error(meta)
    return Landed(
        signature=signature,
        slot=responses.counter(fields.get("slot")),
        is_successful=not error,
        error=error,
        payer=keys[0],
        fee=fee,
        units=responses.counter(meta.get("computeUnitsConsumed", 0)),
        instructions=tuple(_instructions(message, keys)),
        before=before,
        after=after,
    )


def _message(value: object, signature: str) -> VersionedMessage:
    """Return the message of the transaction, which is exactly what its signers signed."""
    match value:
        case [content, "base64"]:
            raw = responses.encoded(content)
        case _:
            raise BadResponseError("expected a transaction in base64")
    try:
        transaction = VersionedTransaction.from_bytes(raw)
        transaction.sanitize()
    except (ValueError, SanitizeError) as error:
        raise BadResponseError("expected a transaction") from error
    message = transaction.message
    if bytes(transaction) != raw:
        raise BadResponseError("expected a transaction in its canonical form")
    signatures = transaction.signatures
    if len(signatures) != message.header.num_required_signatures or not all(transaction.verify_with_results()):
        raise BadResponseError("the transaction is not signed")
    if not signatures or str(signatures[0]) != signature:
        raise BadResponseError("the transaction is another one")
    return message


def _account_keys(message: VersionedMessage, loaded: object) -> list[str]:
    """Return the keys of all accounts: those in the message, then the writable and the read-only ones of its tables."""
    found = responses.mapping({} if loaded is None else loaded)
    lookups = message.address_table_lookups if isinstance(message, MessageV0) else []
    writable = [str(responses.key(one)) for one in responses.sequence(found.get("writable", []))]
    readonly = [str(responses.key(one)) for one in responses.sequence(found.get("readonly", []))]
    expected = (sum(len(one.writable_indexes) for one in lookups), sum(len(one.readonly_indexes) for one in lookups))
    if (len(writable), len(readonly)) != expected:
        raise BadResponseError("the loaded addresses are not those of the message")
    keys = [*map(str, message.account_keys), *writable, *readonly]
    if len(set(keys)) != len(keys):
        raise BadResponseError("an account is named twice")
    return keys


def _instructions(message: VersionedMessage, keys: Sequence[str]) -> Iterator[LandedInstruction]:
    for one in message.instructions:
        program = keys[one.program_id_index]
        if program not in WALLETS_OWN_PROGRAMS:
            yield LandedInstruction(program, tuple(keys[index] for index in one.accounts), bytes(one.data))


def _balances(keys: Sequence[str], lamports: object, tokens: object) -> dict[str, AccountBalance]:
    """Return what each account held; accounts that did not exist held no lamports."""
    lamports_held = [responses.amount(one) for one in responses.sequence(lamports)]
    if len(lamports_held) != len(keys):
        raise BadResponseError("expected as many balances as accounts")
    balances = [AccountBalance(one) for one in lamports_held]
    for row in responses.sequence(tokens):
        fields = responses.mapping(row)
        index = responses.counter(fields.get("accountIndex"))
        if index >= len(keys) or balances[index].mint:
            raise BadResponseError("a token balance of another account, or a second one")
        balances[index] = AccountBalance(
            lamports=lamports_held[index],
            mint=str(responses.key(fields.get("mint"))),
            owner=str(responses.key(fields.get("owner"))),
            amount=_token_amount(responses.mapping(fields.get("uiTokenAmount")).get("amount")),
        )
    return dict(zip(keys, balances, strict=True))


def _token_amount(value: object) -> int:
    text = responses.text(value)
    if not _AMOUNT.fullmatch(text):
        raise BadResponseError("expected an amount")
    return responses.amount(int(text))


def _error(meta: Mapping[str, Any]) -> str:
    """Return in a line why a transaction failed: what the program logged, otherwise the cluster's own error."""
    if "err" not in meta:
        raise BadResponseError("expected the outcome of the transaction")
    if meta["err"] is None:
        return ""
    logs = [line for line in responses.sequence(meta.get("logMessages") or []) if isinstance(line, str)]
    lines = [line for form in _EXPLANATIONS for line in logs if form.search(line)] or [str(meta["err"])]
    printable = "".join(character for character in lines[0] if character.isprintable())
    return printable.removeprefix("Program log: ")[:MAX_ERROR_CHARACTERS].strip() or "failed"
