"""Saying in one sentence what a revert reason means, for the person who sent the transaction."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.evm.reverts.decoding import RevertReason

PERMIT2_TRANSFER_FAILED = "TRANSFER_FROM_FAILED"  # solmate's SafeTransferLib, in Permit2 alone
WRONG_SIGNATURE = "The Permit2 signature is not the sender's signature of this sweep."
ORDER_DIFFERS = "What the user signed differs from what the service signed."

# Errors that a sweep as this service builds it can meet; any other is named as it is.
ERRORS = {
    "AuthorizationExpired": "The transaction was mined after the authorization's deadline.",
    "WrongUser": "The authorization is for {authorizedUser}, and {sender} called the contract.",
    "NonceAlreadyUsed": "The authorization was executed or cancelled before.",
    "SweepRefAlreadyUsed": "The sweep was executed before.",
    "FeeMismatch": "The contract's fee changed to {configuredBps} bps; the user signed {orderedBps} bps.",
    "EnforcedPause": "The contract is paused.",
    "InvalidAuthorizationSignature": "The authorization's signature is not one of the contract's fee signer.",
    "LegsHashMismatch": "The legs are not the ones that the service signed.",
    "OutputTokenMismatch": ORDER_DIFFERS,
    "TotalFeeMismatch": ORDER_DIFFERS,
    "PartnerMismatch": ORDER_DIFFERS,
    "NonceMismatch": ORDER_DIFFERS,
    "RouterNotAllowed": "The contract does not allow this call of the router {router}.",
    "FundingNotAllowed": "The contract does not allow this way of funding the router {router}.",
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
    "UniswapV2: K": "Less of the token arrived at the pool than was sent.",
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
    return Explanation(message=_sentence(reason), token=_token(reason, tokens))


def _token(reason: RevertReason, tokens: Sequence[str]) -> str | None:
    if reason.leg_index is not None:
        return tokens[reason.leg_index] if reason.leg_index < len(tokens) else None
    if reason.arguments.get("message") == PERMIT2_TRANSFER_FAILED and len(tokens) == 1:
        return tokens[0]
    named = reason.arguments.get("token")
    return named if named in tokens else None


def _sentence(reason: RevertReason) -> str:
    if reason.name == "LegFailed":
        cause = _sentence(reason.cause) if reason.cause is not None else ""
        return f"The swap of the token failed. {cause}".strip()
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
