"""A hostile swap API, end to end: whatever it tries, the build fails and nothing is stored.

The error is `swap_unavailable`, unless the simulated sale fails: then the token is named.
"""

from base64 import b64encode
from collections.abc import Callable
from struct import pack
from typing import Any

import pytest
from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer
from spl.token import instructions as token
from spl.token import models
from spl.token.models import AuthorityType
from structlog.testing import capture_logs

from dev.solana.swap_api.answers import instruction
from partners.models import Partner
from sweepapi.errors import SwapUnavailable, TokensRefused
from sweepapi.solana.encoding.addresses import SYSTEM, TOKEN
from sweeps.models import Execution, Offer, Sweep
from sweeps.rails.solana_v1.models import BuiltTransaction
from tests.solana_swap_api import SwapMarket
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

ATTACKER = Pubkey.from_bytes(b"\x66" * 32)
GUARDED, FAILED = "Error: insufficient funds", "simulation_failed"
Body = dict[str, Any]


class Scene:
    """A user who sweeps one token and holds another, and the answer that is attacked."""

    def __init__(self, market: SwapMarket, partner: Partner) -> None:
        self.user = SolanaUser(market, partner)
        self.wallet, self.faucet = self.user.key, self.user.cluster.faucet
        self.swept, self.kept = self.user.hold(), self.user.hold()
        self.usdc = market.cluster.usdc
        self.faucet.give_tokens(self.wallet, self.usdc, 1)
        self.thiefs = self.faucet.create_account(ATTACKER, self.kept)
        self.thiefs_usdc = self.faucet.create_other_account(ATTACKER, self.usdc)

    def account(self, mint: Pubkey) -> Pubkey:
        return self.faucet.associated_account(self.wallet, mint)

    def transfer(self, source: Pubkey, recipient: Pubkey, amount: int) -> Instruction:
        return token.transfer(
            models.TransferParams(program_id=TOKEN, source=source, dest=recipient, owner=self.wallet, amount=amount)
        )


@pytest.fixture
def scene(swap_api: SwapMarket, partner: Partner) -> Scene:
    return Scene(swap_api, partner)


def added(part: str, make: Callable[[Scene], Instruction]) -> Callable[[Scene, Body], None]:
    """Return the attack that adds an instruction to a part of the answer."""

    def attack(scene: Scene, body: Body) -> None:
        body[part].append(instruction(make(scene)))

    return attack


def approval(scene: Scene) -> Instruction:
    kept = scene.account(scene.kept)
    return token.approve(
        models.ApproveParams(program_id=TOKEN, source=kept, delegate=ATTACKER, owner=scene.wallet, amount=1)
    )


def ownership(scene: Scene) -> Instruction:
    return token.set_authority(
        models.SetAuthorityParams(
            program_id=TOKEN,
            account=scene.account(scene.kept),
            authority=AuthorityType.ACCOUNT_OWNER,
            current_authority=scene.wallet,
            new_authority=ATTACKER,
        )
    )


def foreign_signer(scene: Scene) -> Instruction:
    one = scene.transfer(scene.account(scene.swept), scene.thiefs, 1)
    return Instruction(TOKEN, one.data, [*one.accounts, AccountMeta(ATTACKER, is_signer=True, is_writable=False)])


def rent_thief(scene: Scene) -> Instruction:
    swept = scene.account(scene.swept)
    return token.close_account(
        models.CloseAccountParams(program_id=TOKEN, account=swept, dest=ATTACKER, owner=scene.wallet)
    )


def paid_for_another(scene: Scene) -> Instruction:
    return token.create_idempotent_associated_token_account(scene.wallet, ATTACKER, scene.usdc)


def underpaid(_scene: Scene, body: Body) -> None:
    """Pay the user less than the minimum that the quote promises."""
    body["otherInstructions"] = body["otherInstructions"][1:]


def without_fee(_scene: Scene, body: Body) -> None:
    body["otherInstructions"] = body["otherInstructions"][:1]


def redirected(scene: Scene, body: Body) -> None:
    """Pay the output into an account of the attacker."""
    body["otherInstructions"][0]["accounts"][2]["pubkey"] = str(scene.thiefs_usdc)


def lamports(payer: Pubkey) -> Instruction:
    return transfer(TransferParams(from_pubkey=payer, to_pubkey=ATTACKER, lamports=1))


def tip(scene: Scene, body: Body) -> None:
    body["tipInstruction"] = instruction(lamports(scene.wallet))


def invented_table(_scene: Scene, body: Body) -> None:
    body["addressesByLookupTableAddress"] = {str(ATTACKER): [str(TOKEN), str(SYSTEM)]}


def unknown_program(_scene: Scene, body: Body) -> None:
    body["swapInstruction"]["programId"] = str(ATTACKER)


def failing(_scene: Scene, body: Body) -> None:
    body["swapInstruction"]["accounts"][1]["pubkey"] = str(SYSTEM)


def changed(**fields: Any) -> Callable[[Scene, Body], None]:
    """Return the attack that changes fields of the answer."""
    return lambda _scene, body: body.update(fields)


ATTACKS: dict[str, tuple[Callable[[Scene, Body], None], str]] = {
    "takes another token": (
        added("otherInstructions", lambda scene: scene.transfer(scene.account(scene.kept), scene.thiefs, 1)),
        "transfers 1 of",
    ),
    "takes more of the swept token": (
        added("setupInstructions", lambda scene: scene.transfer(scene.account(scene.swept), scene.thiefs, 1)),
        "of which 2000000 are swept",
    ),
    "takes lamports": (
        added(
            "setupInstructions",
            lambda scene: transfer(TransferParams(from_pubkey=scene.wallet, to_pubkey=ATTACKER, lamports=1)),
        ),
        "calls the program 1111",
    ),
    "approves a delegate": (added("setupInstructions", approval), "instruction 4"),
    "takes an account over": (added("setupInstructions", ownership), "instruction 6"),
    "needs another signature": (added("setupInstructions", foreign_signer), "signature of"),
    "takes the rent": (added("otherInstructions", rent_thief), "closes the account"),
    "has another's account paid": (added("setupInstructions", paid_for_another), "creates a token account of"),
    "pays less than the minimum": (underpaid, GUARDED),
    "pays no fee": (without_fee, "the fee account receives 0"),
    "pays another": (redirected, GUARDED),
    "asks for a tip": (tip, "a tip"),
    "invents a lookup table": (invented_table, "is not a lookup table"),
    "calls a program of its own": (unknown_program, "calls the program"),
    "sends instructions that fail": (failing, FAILED),
    "quotes another input": (changed(inputMint=str(ATTACKER)), "another input mint"),
    "quotes another output": (changed(outputMint=str(ATTACKER)), "another output mint"),
    "quotes another amount": (changed(inAmount="1"), "another amount"),
    "hides a low minimum": (changed(otherAmountThreshold="1"), "minimum below"),
    "promises more than it pays": (
        changed(outAmount="9000000", otherAmountThreshold="9000000"),
        GUARDED,
    ),
    "promises more than an account can hold": (
        changed(outAmount=str(2**64 - 1), otherAmountThreshold=str(2**64 - 1)),
        "more than an account can hold",
    ),
}


@pytest.mark.parametrize(("attack", "stopped_by"), ATTACKS.values(), ids=ATTACKS)
def test_it_gets_nothing(scene: Scene, attack: Callable[[Scene, Body], None], stopped_by: str) -> None:
    def altered(_query: object, body: Body) -> Body:
        attack(scene, body)
        return body

    scene.user.market.api.alter = altered
    error = TokensRefused if stopped_by in (GUARDED, FAILED) else SwapUnavailable
    with capture_logs() as logs, pytest.raises(error) as caught:
        scene.user.build({scene.swept: 2 * DOLLAR})

    assert stopped_by in str(logs)
    assert stopped_by not in str(caught.value)  # the reason is for operators
    for model in (Sweep, Execution, Offer, BuiltTransaction):
        assert not model.objects.exists()


@pytest.mark.usefixtures("nothing_is_stored")
def test_it_can_not_take_output_after_the_guard_has_counted_it(user: SolanaUser) -> None:
    """In the simulation the minimum is left, but a swap that pays less by then would have passed the guard, too."""
    faucet, usdc = user.cluster.faucet, user.cluster.usdc
    mint, thiefs = user.hold(), faucet.create_account(ATTACKER, usdc)
    new = faucet.associated_account(user.key, usdc)  # does not exist yet, so no list of the wallet's accounts has it

    def altered(_query: object, body: Body) -> Body:
        minimum = int(body["otherAmountThreshold"])
        fee = minimum * 75 // 9_925  # of what is left
        body["otherInstructions"][1]["data"] = b64encode(pack("<BQB", 12, fee, 6)).decode()
        amount = int(body["outAmount"]) - minimum
        taking = models.TransferParams(program_id=TOKEN, source=new, dest=thiefs, owner=user.key, amount=amount)
        return {**body, "cleanupInstruction": instruction(token.transfer(taking))}

    user.market.api.alter = altered
    with capture_logs() as logs, pytest.raises(SwapUnavailable):
        user.build({mint: 5 * DOLLAR})
    assert "cleanup does more than unwrap SOL" in str(logs)


def test_an_honest_answer_is_built(scene: Scene) -> None:
    assert scene.user.build({scene.swept: 2 * DOLLAR})["transactions"]
