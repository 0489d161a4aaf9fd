"""Saying in one sentence what a revert reason means, for the person who sent the transaction."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.evm.reverts.decoding import RevertReason

PERMIT2_TRANSFER_FAILED = "TRANSFER_FROM_FAILED"  # solmate's SafeTransferLib, in Permit2 alone
WRONG_SIGNATURE = "The Permit2 signature is not the sender's signature of this sweep."
HOSTILE_POOL = "A pool does not swap as the pools of its venue do."

# Errors that a sweep as this service builds it can meet; any other is named as it is.
ERRORS = {
    "AuthorizationExpired": "The transaction was mined after the authorization's deadline.",
    "WrongUser": "The authorization is for {authorizedUser}, and {sender} called the contract.",
    "NonceAlreadyUsed": "The authorization was executed or cancelled before.",
    "SweepRefAlreadyUsed": "The sweep was executed before.",
    "FeeMismatch": "The contract's fee changed to {configuredBps} bps; the user signed {orderedBps} bps.",
    "EnforcedPause": "The contract is paused.",
    "InvalidAuthorizationSignature": "The authorization's signature is not one of the contract's fee signer.",
    "LegsHashMismatch": "The route is not the one that the service signed.",
    "BelowLeast": "The price moved: the swap would give {got}, less than the minimum of {least}.",
    "NotFilled": "The pool has too little liquidity: it can take {owed} of {amount}.",
    "TooManySkipped": "{skipped} tokens would have to be left out, and the user allowed {maxSkipped}.",
    "AllLegsSkipped": "All tokens would have to be left out.",
    "NoPool": "The pool {pool} does not exist.",
    "UnknownVenue": "The contract no longer lists the venue {id}.",
    "NotCalledBack": HOSTILE_POOL,
    "CallbackDataChanged": HOSTILE_POOL,
    "UnexpectedCallback": "{caller} called the contract as only a pool of the sweep may.",
    "PullFailed": "The tokens could not be taken from the wallet.",
    "RouterNotAllowed": "The contract does not allow this call of the router {router}.",
    "InsufficientUserOutput": "The user would have received {received}, less than the signed minimum of {minimum}.",
    "FeeTransferFailed": "The fee could not be paid to {recipient} in {token}.",
    "NativeTransferFailed": "{recipient} did not accept the native coin.",
    "SafeERC20FailedOperation": "The token {token} refused a transfer or an approval.",
    "InvalidNonce": "The Permit2 signature was used or cancelled before.",
    "SignatureExpired": "The transaction was mined after the Permit2 signature's deadline.",
    "InvalidSigner": WRONG_SIGNATURE,
    "InvalidSignature": WRONG_SIGNATURE,
    "InvalidSignatureLength": WRONG_SIGNATURE,
    "InvalidContractSignature": WRONG_SIGNATURE,
    "ERC20InsufficientAllowance": "The allowance of {spender} is {allowance}, less than the {needed} needed.",
    "ERC20InsufficientBalance": "{sender} holds {balance}, less than the {needed} needed.",
}
MESSAGES = {
    PERMIT2_TRANSFER_FAILED: "Permit2 could not take a token: its allowance or the user's balance is too low.",
    "Too little received": "The price moved: the output was below the minimum.",
    "STF": "The token refused to be transferred into the pool.",
    "TF": "The pool could not pay out the token.",
    "IIA": "Less of the token arrived at the pool than was sent.",
    "UniswapV2: TRANSFER_FAILED": "The pool could not pay out the token.",
    "LOK": "The pool is in use by another call.",
    "SPL": "The pool was emptied: its price is beyond the limit of the swap.",
    "UniswapV2: LOCKED": "The pool is in use by another call.",
    "UniswapV2: K": "Less of the token arrived at the pool than was sent.",
    "UniswapV2: INSUFFICIENT_INPUT_AMOUNT": "The token did not arrive at the pool.",
    "UniswapV2: INSUFFICIENT_OUTPUT_AMOUNT": "The amount is too small to give anything.",
    "UniswapV2: INSUFFICIENT_LIQUIDITY": "The pool has too little liquidity.",
}
PANICS = {
    "1": "an assertion failed",
    "17": "an arithmetic operation overflowed",
    "18": "a division by zero",
    "50": "an array index out of bounds",
}


@dataclass(frozen=True)
class Explanation:
    """A sentence for people, and the token that it concerns."""

    message: str
    token: str | None  # None if it concerns the whole sweep or the token is not known


def explain(reason: RevertReason, *, tokens: Sequence[str]) -> Explanation:
    """Return what a reason means for a sweep whose legs are of these tokens, in order."""
    if reason.name == "PullFailed" and reason.cause is not None:
        return explain(reason.cause, tokens=tokens)
    return Explanation(message=_located(reason, tokens), token=_token(reason, tokens))


def _token(reason: RevertReason, tokens: Sequence[str]) -> str | None:
    if reason.leg_index is not None:
        return tokens[reason.leg_index] if reason.leg_index < len(tokens) else None
    if reason.arguments.get("message") == PERMIT2_TRANSFER_FAILED and len(tokens) == 1:
        return tokens[0]
    named = reason.arguments.get("token")
    return named if named in tokens else None


def _located(reason: RevertReason, tokens: Sequence[str]) -> str:
    """Return the sentence about a reason, after one that says where it arose."""
    is_last_hop = reason.leg_index == len(tokens)
    if reason.name != "LegFailed":
        return f"The last hop failed. {_sentence(reason)}" if is_last_hop else _sentence(reason)
    failed = "The last hop failed." if is_last_hop else "The swap of the token failed."
    return f"{failed} {_sentence(reason.cause)}" if reason.cause is not None else failed


def _sentence(reason: RevertReason) -> str:
    if reason.name == "Error":
        message = reason.arguments["message"]
        return MESSAGES.get(message, f'The call failed with the message "{message}".')
    if reason.name == "Panic":
        code = reason.arguments["code"]
        return f"The called code panicked: {PANICS.get(code, f'code {code}')}."
    if reason.name in ERRORS:
        return ERRORS[reason.name].format(**reason.arguments)
    if not reason.name:
        return "The call failed without a reason, as it does when the gas runs out."
    arguments = ", ".join(f"{name}: {value}" for name, value in reason.arguments.items())
    return f"The call failed with the error {reason.name}({arguments})."
