"""Methods that read accounts; each answers with the latest state, whatever commitment is asked for."""

import base64
from typing import Any

from solders.account import Account
from solders.pubkey import Pubkey

from dev.solana.errors import InvalidParamsError
from dev.solana.history.balances import TOKEN_PROGRAMS, is_token_account, mint_of, owner_of
from dev.solana.node import Node, with_context
from dev.solana.params import Params, public_key

MAX_ACCOUNTS = 100
RENT_EPOCH = 2**64 - 1  # as in every account on mainnet: none pays rent
_OPTIONS = ("encoding", "commitment", "minContextSlot")


def encode_account(account: Account | None) -> dict[str, Any] | None:
    """Return an account as a node shows it."""
    if account is None:
        return None
    return {
        "data": [base64.b64encode(account.data).decode(), "base64"],
        "executable": account.executable,
        "lamports": account.lamports,
        "owner": str(account.owner),
        "rentEpoch": RENT_EPOCH,
        "space": len(account.data),
    }


def get_account_info(node: Node, params: Params) -> dict[str, Any]:
    key, config = params.key(0), params.config(1, *_OPTIONS)
    config.require_base64()
    return with_context(node.head_for(config), encode_account(node.bank.account(key)))


def get_multiple_accounts(node: Node, params: Params) -> dict[str, Any]:
    keys, config = params.keys(0, at_most=MAX_ACCOUNTS), params.config(1, *_OPTIONS)
    config.require_base64()
    return with_context(node.head_for(config), [encode_account(node.bank.account(key)) for key in keys])


def get_token_accounts_by_owner(node: Node, params: Params) -> dict[str, Any]:
    """Return the token accounts of a wallet, either of a token program or of a mint."""
    owner, (name, wanted), config = params.key(0), _filter(params), params.config(2, *_OPTIONS)
    config.require_base64()
    head = node.head_for(config)
    if name == "mint":
        mint = node.bank.account(wanted)
        if mint is None or mint.owner not in TOKEN_PROGRAMS:
            raise InvalidParamsError("Invalid param: could not find mint")
        program = mint.owner
    elif (program := wanted) not in TOKEN_PROGRAMS:
        raise InvalidParamsError("Invalid param: unrecognized Token program id")
    found = [
        {"pubkey": str(key), "account": encode_account(account)}
        for key, account in node.bank.svm.get_program_accounts(program)
        if is_token_account(account) and owner_of(account) == owner and (name != "mint" or mint_of(account) == wanted)
    ]
    return with_context(head, sorted(found, key=lambda each: str(each["pubkey"])))


def _filter(params: Params) -> tuple[str, Pubkey]:
    given = params.record(1)
    match list(given.items()):
        case [("mint" | "programId" as name, str(text))]:
            return name, public_key(text)
    raise InvalidParamsError("Invalid param: expected either `mint` or `programId`")
