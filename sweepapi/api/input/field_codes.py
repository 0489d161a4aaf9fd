"""Every code that ``details`` of an error can carry, with its meaning; ``docs/errors.md`` shows it to partners.

As with the codes of errors, a code may be added, never renamed.
"""

FIELD_CODES = {
    "required": "The field is missing.",
    "unknown_field": "No such field; a misspelt field is never ignored.",
    "duplicate_field": "The name occurs twice in one object, or in the query.",
    "forbidden_field": "The API key sets this value, so it cannot be sent.",
    "invalid_type": 'The JSON type is wrong; `"50"`, `50.0` and `true` are not integers.',
    "unknown": "No such object, or it is no longer kept.",
    "invalid_format": "The JSON type is right, but the format is wrong.",
    "invalid_choice": "The value is not one of the choices.",
    "out_of_range": "The number is too small or too large.",
    "too_short": "The list has too few items, or the string too few characters.",
    "too_long": "The list has too many items, the string too many characters, or the object too many fields.",
    "not_applicable": "The field has no effect unless another one has a certain value, which `message` names.",
    "unsupported": "The value is not supported, such as a chain that is not enabled.",
    "bad_checksum": "The address is in mixed case, but does not match its EIP-55 checksum.",
    "zero_address": "The zero address cannot take part in a sweep.",
    "off_curve": "The key is not on the curve, so no wallet can sign for it.",
    "native_coin": "The native coin cannot be used in this field.",
    "duplicate": "The token occurs twice.",
    "is_output": "The token is also the output token.",
    "not_a_token": "The address is not an ERC-20 token.",
    "contradicts_chain": "The hint differs from what the chain reports of the token.",
    "no_route": "No router, or on Solana the swap API, can swap this amount of the token.",
    "transfer_fee": "The token charges a fee on transfer, so no output can be guaranteed.",
    "transfer_refused": "The token cannot be transferred.",
    "transfer_hook": "The token calls another program on each transfer.",
    "non_transferable": "The token is one that no holder can transfer.",
    "frozen": "The token's issuer froze the wallet's account of it.",
    "paused": "The token's issuer paused its transfers.",
    "unknown_mint": "The key is not the mint of a token.",
    "not_associated": "The wallet holds the token outside of its associated token account.",
    "refuses_programs": "The wallet forbids programs to transfer from its account of the token.",
    "too_large": "The swap of the token does not fit into a transaction.",
    "not_a_wallet": "The account is a contract, or a program owns it, so it cannot pay for transactions.",
    "output_too_small": "The minimum output of this amount rounds to zero, or is less SOL than its transaction costs.",
    "uneconomic": "The token, or the whole sweep, brings less than the gas that it costs; `message` shows both.",
    "simulation_failed": "The sweep was simulated, and the token made it fail; `message` says why.",
    "price_impact_too_high": "The amount would be sold far below its price; `message` shows the impact.",
    "fee_wallet": "The wallet is the one that is paid the platform fee, so it cannot sweep.",
    "current": "`message` is the value that the field has now.",
    "required_scope": "`message` is the scope that the key needs.",
    "other_chain": "The transactions are on another chain than the sweep.",
    "accepted_hash": "`message` is the hash of the transaction that was accepted.",
    "insufficient": "The wallet holds less than the sweep needs.",
    "missing": "The transaction did not emit the event of this sweep.",
    "differs": "The value in the event differs from the signed one.",
    "inconsistent": "The amounts in the event contradict the signed fee.",
    "used": "Another transaction has already executed the sweep.",
    "reverted": "`message` is the decoded revert reason of the transaction, `field` the token that caused it.",
    "wrong_count": "The list has another number of items than the sweep needs; `message` says how many.",
    "not_approved": "Permit2 may not take the token yet: send the approval that `issues.allowance` of the build names.",
    "wrong_signer": "The signature is not that of the wallet's key.",
    "not_a_key_signature": "The wallet has no code, and these bytes are not a signature of a key.",
    "not_deployed": "The signature is for an account that is not deployed yet (ERC-6492), which Permit2 can't verify.",
    "refused_by_account": "The wallet's code refuses the signature (EIP-1271).",
    "recovered_address": "`message` is the address that the signature recovers to, if it is of what was to be signed.",
    "signed_instead": "`message` is what the wallet signed instead, which was found out by trying.",
}

# DRF's own codes, by the more general one that callers see.
_CODES_OF_DRF = {
    "blank": "invalid_format",
    "empty": "too_short",
    "invalid": "invalid_format",
    "max_length": "too_long",
    "max_string_length": "too_long",
    "max_value": "out_of_range",
    "min_length": "too_short",
    "min_value": "out_of_range",
    "not_a_list": "invalid_type",
    "null": "invalid_type",
    "null_characters_not_allowed": "invalid_format",
    "surrogate_characters_not_allowed": "invalid_format",
}


def public_code(code: str) -> str:
    """Return the code that callers see for one that a serializer raised."""
    return _CODES_OF_DRF.get(code, code)
