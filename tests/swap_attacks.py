"""Answers of a hostile swap API: each function changes an honest answer, for `LocalSwapApi.alter`."""

import base64
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer
from spl.token import instructions as token
from spl.token import models
from spl.token.constants import TOKEN_PROGRAM_ID

from dev.solana.swap_api.answers import instruction

Query: TypeAlias = Mapping[str, str]
Body: TypeAlias = dict[str, Any]
Alter: TypeAlias = Callable[[Query, Body], Body]


def changing(**changed: Any) -> Alter:
    """Return these fields instead of the honest ones."""
    return lambda _query, body: body | changed


def adding(make: Callable[[Query], Instruction], *, to: str = "otherInstructions") -> Alter:
    """Add an instruction that is made for the taker."""
    return lambda query, body: body | {to: [*body[to], instruction(make(query))]}


def taker(query: Query) -> Pubkey:
    return Pubkey.from_string(query["taker"])


def account(owner: Pubkey, query: Query, mint: str) -> Pubkey:
    """Return the owner's associated account of the query's mint of this name."""
    return token.get_associated_token_address(owner, Pubkey.from_string(query[mint]))


# These keep the terms of the quote, so only the inspection and the simulation can stop them.


def lamports(thief: Pubkey) -> Alter:
    def make(query: Query) -> Instruction:
        return transfer(TransferParams(from_pubkey=taker(query), to_pubkey=thief, lamports=10**6))

    return adding(make)


def more_of_the_input(thief: Pubkey) -> Alter:
    def make(query: Query) -> Instruction:
        source, dest = (account(owner, query, "inputMint") for owner in (taker(query), thief))
        params = models.TransferParams(
            program_id=TOKEN_PROGRAM_ID, source=source, dest=dest, owner=taker(query), amount=1
        )
        return token.transfer(params)

    return adding(make)


def approval(thief: Pubkey) -> Alter:
    def make(query: Query) -> Instruction:
        source = account(taker(query), query, "outputMint")
        params = models.ApproveParams(
            program_id=TOKEN_PROGRAM_ID, source=source, delegate=thief, owner=taker(query), amount=2**64 - 1
        )
        return token.approve(params)

    return adding(make)


def ownership(thief: Pubkey) -> Alter:
    def make(query: Query) -> Instruction:
        params = models.SetAuthorityParams(
            program_id=TOKEN_PROGRAM_ID,
            account=account(taker(query), query, "outputMint"),
            authority=models.AuthorityType.ACCOUNT_OWNER,
            current_authority=taker(query),
            new_authority=thief,
        )
        return token.set_authority(params)

    return adding(make)


def rent_for(thief: Pubkey) -> Alter:
    """Let the taker pay for a token account of the thief."""

    def make(query: Query) -> Instruction:
        mint = Pubkey.from_string(query["inputMint"])
        return token.create_idempotent_associated_token_account(taker(query), thief, mint)

    return adding(make, to="setupInstructions")


def unknown_program(thief: Pubkey) -> Alter:
    return adding(lambda query: Instruction(thief, b"", [AccountMeta(taker(query), is_signer=True, is_writable=True)]))


def another_signer(thief: Pubkey) -> Alter:
    def alter(_query: Query, body: Body) -> Body:
        body["swapInstruction"]["accounts"].append({"pubkey": str(thief), "isSigner": True, "isWritable": True})
        return body

    return alter


def output_to(thief: Pubkey) -> Alter:
    return _recipient(0, thief)


def fee_to(thief: Pubkey) -> Alter:
    return _recipient(1, thief)


def _recipient(position: int, thief: Pubkey) -> Alter:
    def alter(query: Query, body: Body) -> Body:
        recipient = account(thief, query, "outputMint")
        body["otherInstructions"][position]["accounts"][2]["pubkey"] = str(recipient)
        return body

    return alter


def without_fee(_thief: Pubkey) -> Alter:
    return lambda _query, body: body | {"otherInstructions": body["otherInstructions"][:1]}


def less_output(_thief: Pubkey) -> Alter:
    """Transfer half of what the quote promises."""

    def alter(_query: Query, body: Body) -> Body:
        payment = body["otherInstructions"][0]
        data = base64.b64decode(payment["data"])  # its number, the amount, the decimals
        halved = (int.from_bytes(data[1:9], "little") // 2).to_bytes(8, "little")
        payment["data"] = base64.b64encode(data[:1] + halved + data[9:]).decode()
        return body

    return alter


def forged_lookup_table(thief: Pubkey) -> Alter:
    """Name a lookup table that the cluster does not have."""
    return changing(addressesByLookupTableAddress={str(thief): [str(thief)]})


HOSTILE: dict[str, Callable[[Pubkey], Alter]] = {
    attack.__name__: attack
    for attack in (
        lamports,
        more_of_the_input,
        approval,
        ownership,
        rent_for,
        unknown_program,
        another_signer,
        output_to,
        fee_to,
        without_fee,
        less_output,
        forged_lookup_table,
    )
}

# These contradict the request, which the client sees.
FALSE_TERMS: dict[str, Alter] = {
    "another input mint": lambda query, body: body | {"inputMint": query["outputMint"]},
    "another output mint": lambda query, body: body | {"outputMint": query["inputMint"]},
    "another amount": changing(inAmount="1"),
    "a minimum above the expected output": lambda _query, body: (
        body | {"otherAmountThreshold": str(int(body["outAmount"]) + 1)}
    ),
    "a minimum below what the slippage allows": lambda _query, body: (
        body | {"otherAmountThreshold": str(int(body["otherAmountThreshold"]) - 1)}
    ),
    "a tip": lambda _query, body: body | {"tipInstruction": body["swapInstruction"]},
}
