"""Puts hostile code in place of UNI's on the local chain; its balances and its pools stay as they are."""

import json
from enum import IntEnum

from dev.chain.artifacts import CONTRACTS
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.tokens.erc20 import APPROVE
from tests.partner_app import PartnerApp

ARM = Function("arm(uint8,uint8)")
TREAT = Function("treat(address,uint8,uint8)")
AIM = Function("aim(address,bool)")


class Condition(IntEnum):
    """As in TrapToken.sol."""

    NEVER = 0
    SENDER_HAS_NO_CODE = 1
    GAS_HAS_A_PRICE = 2
    BLOCK_HAS_A_BASE_FEE = 3
    CONTRACT_CALLS = 4
    BLOCK_HAS_A_COINBASE = 5


class Harm(IntEnum):
    """As in TrapToken.sol."""

    REFUSE = 0
    DELIVER_NOTHING = 1
    BURN_ALL_GAS = 2
    REVERT_WITH_A_MEGABYTE = 3
    TAKE_ALL = 4
    LIE_ABOUT_BALANCES = 5


class Treatment(IntEnum):
    """As in HoneypotToken.sol."""

    HONEST = 0
    TAXED = 1
    REFUSED = 2


def put_contract(app: PartnerApp, contract: str) -> str:
    """Give UNI the code of a contract of the local world, and return its address."""
    compiled = json.loads((CONTRACTS / f"out/{contract}.sol/{contract}.json").read_text(encoding="utf-8"))
    code: str = compiled["deployedBytecode"]["object"]
    return app.chain.put_code(app.chain.token("UNI").address, code.removeprefix("0x"))


def put_thief(app: PartnerApp, prey: str, *, when_approved: bool) -> str:
    """Give UNI the code of a token that takes the prey, which the user lets it; returns its address."""
    thief = put_contract(app, "ThiefToken")
    for to, data in ((prey, APPROVE.encode(thief, 1)), (thief, AIM.encode(prey, when_approved))):
        assert app.chain.receipt(app.chain.send(app.user, {"to": to, "data": f"0x{data.hex()}"}))["status"] == 1
    return thief


def arm(app: PartnerApp, condition: Condition, harm: Harm = Harm.REFUSE) -> str:
    """Have UNI, with the code of TrapToken, do this harm under this condition; returns its address."""
    return _called(app, ARM.encode(condition, harm))


def treat(
    app: PartnerApp,
    account: str,
    *,
    as_sender: Treatment = Treatment.HONEST,
    as_receiver: Treatment = Treatment.HONEST,
) -> str:
    """Have UNI, with the code of HoneypotToken, treat an account in this way; returns its address."""
    return _called(app, TREAT.encode(account, as_sender, as_receiver))


def _called(app: PartnerApp, data: bytes) -> str:
    token = app.chain.token("UNI").address
    assert app.chain.receipt(app.chain.send(app.user, {"to": token, "data": f"0x{data.hex()}"}))["status"] == 1
    return token
