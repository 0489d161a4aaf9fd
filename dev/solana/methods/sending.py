"""Methods that run transactions: simulate, send and airdrop."""

from typing import Any

from solders.message import v1
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

from dev.solana.bank import Bank
from dev.solana.errors import InvalidParamsError, PreflightFailureError, SignatureVerificationError
from dev.solana.history.blocks import Block
from dev.solana.history.outcome import Outcome
from dev.solana.methods.accounts import encode_account
from dev.solana.node import Node, with_context
from dev.solana.params import Config, Params, decode_base64

MAX_TRANSACTION_BYTES = 1232  # of the versions before 1
# A node checks these before it executes anything, and calls such a transaction invalid.
_INVALID = {
    "SanitizeFailure",
    "AddressLookupTableNotFound",
    "InvalidAddressLookupTableOwner",
    "InvalidAddressLookupTableData",
    "InvalidAddressLookupTableIndex",
    "AccountLoadedTwice",
    "TooManyAccountLocks",
}
_MESSAGES = {
    "AccountNotFound": "Attempt to debit an account but found no record of a prior credit.",
    "AlreadyProcessed": "This transaction has already been processed",
    "BlockhashNotFound": "Blockhash not found",
    "InsufficientFundsForFee": "Insufficient funds for fee",
}


def simulate_transaction(node: Node, params: Params) -> dict[str, Any]:
    options = ("encoding", "sigVerify", "replaceRecentBlockhash", "accounts", "commitment", "minContextSlot")
    config = params.config(1, *options, "innerInstructions")
    transaction = _decode(params.text(0), config)
    verify, replace = config.flag("sigVerify"), config.flag("replaceRecentBlockhash")
    if verify and replace:
        raise InvalidParamsError("sigVerify may not be used with replaceRecentBlockhash")
    head = node.head_for(config)
    watched = _watched(config, transaction)
    if verify:
        _verify_signatures(transaction)
    outcome = node.bank.simulate(transaction, verify_signatures=verify, any_blockhash=replace)
    _refuse_invalid(outcome)
    value = _describe(outcome)
    if not config.flag("innerInstructions"):
        value["innerInstructions"] = None
    if watched is not None:
        value["accounts"] = _accounts_after(node.bank, outcome, watched)
    if replace:
        value["replacementBlockhash"] = _blockhash(head)
    return with_context(head, value)


def send_transaction(node: Node, params: Params) -> str:
    """Land a transaction at once; without preflight, one that cannot land disappears in silence, as on a real node."""
    config = params.config(1, "encoding", "skipPreflight", "preflightCommitment", "maxRetries", "minContextSlot")
    transaction = _decode(params.text(0), config)
    node.head_for(config)
    if not config.flag("skipPreflight"):
        _verify_signatures(transaction)
        outcome = node.bank.simulate(transaction)
        _refuse_invalid(outcome)
        if outcome.err is not None:
            raise PreflightFailureError(f"Transaction simulation failed: {_message(outcome.err)}", _describe(outcome))
    node.bank.send(transaction)
    return str(transaction.signatures[0])


def _decode(text: str, config: Config) -> VersionedTransaction:
    if config.text("encoding") != "base64":
        raise InvalidParamsError("only the encoding base64 is supported by the local cluster")
    raw = decode_base64(text)
    most = v1.MAX_TRANSACTION_SIZE if raw[:1] == bytes([v1.V1_PREFIX]) else MAX_TRANSACTION_BYTES
    if len(raw) > most:
        name = "solana_transaction::versioned::VersionedTransaction"
        raise InvalidParamsError(f"decoded {name} too large: {len(raw)} bytes (max: {most} bytes)")
    try:
        transaction = VersionedTransaction.from_bytes(raw)
        transaction.sanitize()
    except ValueError as error:
        raise InvalidParamsError(f"failed to deserialize transaction: {error}") from error
    return transaction


def _verify_signatures(transaction: VersionedTransaction) -> None:
    if not all(transaction.verify_with_results()):
        raise SignatureVerificationError


def _refuse_invalid(outcome: Outcome) -> None:
    if isinstance(outcome.err, str) and outcome.err in _INVALID:
        raise InvalidParamsError(f"invalid transaction: {outcome.err}")


def _watched(config: Config, transaction: VersionedTransaction) -> list[Pubkey] | None:
    """Return the accounts to show after the simulation; a node shows at most as many as the message names."""
    given = config.record("accounts")
    if given is None:
        return None
    fields = given.config(0, "encoding", "addresses")
    if fields.text("encoding") != "base64":
        raise InvalidParamsError("base58 encoding not supported")
    addresses = Params([given.record(0).get("addresses")])
    return addresses.keys(0, at_most=len(transaction.message.account_keys) + _looked_up(transaction))


def _looked_up(transaction: VersionedTransaction) -> int:
    lookups = getattr(transaction.message, "address_table_lookups", [])
    return sum(len(lookup.writable_indexes) + len(lookup.readonly_indexes) for lookup in lookups)


def _accounts_after(bank: Bank, outcome: Outcome, watched: list[Pubkey]) -> list[dict[str, Any] | None]:
    if outcome.err is not None:
        return [None] * len(watched)
    return [encode_account(outcome.accounts.get(key) or bank.account(key)) for key in watched]


def _describe(outcome: Outcome) -> dict[str, Any]:
    return {
        "accounts": None,
        "err": outcome.err,
        "innerInstructions": outcome.inner,
        "logs": outcome.logs,
        "replacementBlockhash": None,
        "returnData": outcome.return_data,
        "unitsConsumed": outcome.units,
    }


def _blockhash(head: Block) -> dict[str, Any]:
    return {"blockhash": str(head.blockhash), "lastValidBlockHeight": head.last_valid_height}


def _message(err: object) -> str:
    match err:
        case {"InstructionError": [index, {"Custom": code}]}:
            return f"Error processing Instruction {index}: custom program error: {code:#x}"
        case {"InstructionError": [index, reason]}:
            return f"Error processing Instruction {index}: {reason}"
        case str(name):
            return _MESSAGES.get(name, name)
    return str(err)
