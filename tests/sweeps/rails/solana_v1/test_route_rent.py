"""A route may open accounts of listed programs at the wallet's expense: at most their rent, capped, and shown."""

from collections.abc import Callable
from dataclasses import replace
from struct import pack
from typing import Any

import pytest
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from structlog.testing import capture_logs

from dev.solana.faucet import LAMPORTS_PER_SOL
from dev.solana.swap_api.answers import instruction
from sweepapi.errors import SwapUnavailable
from sweepapi.networks import Networks
from sweepapi.solana.encoding.addresses import LOOKUP_TABLE, SYSTEM, WRAPPED_SOL
from sweeps.models import Sweep
from tests.solana_cluster import SolanaCluster
from tests.solana_discovery import look, reasons
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

OWNER = Pubkey.from_bytes(b"\x66" * 32)
TABLE_BYTES = 56
SLOTS = (9, 8, 7, 6)


@pytest.fixture
def opening(user: SolanaUser) -> Callable[[int], int]:
    """Have each route open so many lookup tables; returns the rent of one."""
    svm = user.cluster.bank.svm
    svm.set_slot_hashes([(slot, Hash.default()) for slot in SLOTS])  # of which a table's key is derived

    def opens(count: int) -> int:
        tables = [open_table(user.key, slot) for slot in SLOTS[:count]]

        def alter(query: Any, body: Any) -> Any:
            more = [] if query["inputMint"] == str(WRAPPED_SOL) else tables
            return {**body, "otherInstructions": [*body["otherInstructions"], *more]}

        user.market.api.alter = alter
        return svm.minimum_balance_for_rent_exemption(TABLE_BYTES)

    return opens


def open_table(payer: Pubkey, slot: int) -> Any:
    """Return what creates a lookup table of a stranger that the payer pays the rent of."""
    key, bump = Pubkey.find_program_address([bytes(OWNER), pack("<Q", slot)], LOOKUP_TABLE)
    accounts = [
        AccountMeta(key, is_signer=False, is_writable=True),
        AccountMeta(OWNER, is_signer=False, is_writable=False),
        AccountMeta(payer, is_signer=True, is_writable=True),
        AccountMeta(SYSTEM, is_signer=False, is_writable=False),
    ]
    return instruction(Instruction(LOOKUP_TABLE, pack("<IQB", 0, slot, bump), accounts))


@pytest.fixture
def list_programs(cluster: SolanaCluster, change_networks: Callable[..., Networks]) -> Callable[..., None]:
    """List the program of lookup tables among those that routes may call, and those whose accounts they may open."""

    def lists(*, rent: bool) -> None:
        programs = frozenset([str(LOOKUP_TABLE)])
        facts = replace(cluster.facts(), swap_programs=programs, rent_programs=programs if rent else frozenset())
        change_networks(clusters={"solana": facts})

    return lists


@pytest.mark.parametrize("output", ["usdc", "sol"])
def test_the_rent_of_an_account_that_a_route_opens_is_shown_and_paid(
    user: SolanaUser, opening: Callable[[int], int], list_programs: Callable[..., None], output: str
) -> None:
    list_programs(rent=True)
    rent, mint, before = opening(1), user.hold(150 * DOLLAR), user.lamports
    asset = user.cluster.usdc if output == "usdc" else WRAPPED_SOL

    built = user.build({mint: 150 * DOLLAR}, output_asset=str(asset))
    user.send(built)

    (part,) = (one for one in built["economics"]["costs"] if one["kind"] == "route_rent")
    assert part["lamports"] == str(rent)
    received = int(built["estimatedOutput"]["user"]) if output == "sol" else 0
    assert user.lamports == before - int(built["economics"]["cost"]) + received
    assert built["estimatedOutput"]["gross"] == str(150 * DOLLAR if output == "usdc" else LAMPORTS_PER_SOL)


def test_a_discovery_counts_the_rent_that_the_simulation_shows(
    user: SolanaUser, opening: Callable[[int], int], list_programs: Callable[..., None]
) -> None:
    """The quote does not say it: a cent pays for the sale only while its account's rent is more than the route's."""
    list_programs(rent=True)
    opening(2)
    good, dust = user.hold(150 * DOLLAR), user.hold(DOLLAR // 100)

    answer = look(user)

    assert reasons(answer) == {str(good): (True, None), str(dust): (False, "uneconomic")}
    assert [one["mint"] for one in answer["bestBasket"]["tokens"]] == [str(good)]


@pytest.mark.parametrize("output", ["usdc", "sol"])
def test_rent_of_programs_that_are_not_listed_is_refused(
    user: SolanaUser, opening: Callable[[int], int], list_programs: Callable[..., None], output: str
) -> None:
    list_programs(rent=False)
    opening(1)
    asset = user.cluster.usdc if output == "usdc" else WRAPPED_SOL
    with capture_logs() as logs, pytest.raises(SwapUnavailable):
        user.build({user.hold(150 * DOLLAR): 150 * DOLLAR}, output_asset=str(asset))
    assert "unsafe_swap_refused" in [log["event"] for log in logs]
    assert not Sweep.objects.exists()


def test_more_rent_than_a_leg_may_charge_is_refused(
    user: SolanaUser, opening: Callable[[int], int], list_programs: Callable[..., None]
) -> None:
    list_programs(rent=True)
    rent = opening(4)
    assert 3 * rent < 5_000_000 < 4 * rent
    with capture_logs() as logs, pytest.raises(SwapUnavailable):
        user.build({user.hold(): 5 * DOLLAR})
    assert "it takes" in str(logs)
    opening(3)
    assert user.build({user.hold(): 5 * DOLLAR}, accepts_uneconomic=True)["transactions"]
