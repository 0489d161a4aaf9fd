"""Builds and refreshes at the same time reserve each nonce once, and offer a sweep only while it may be offered."""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import pytest
from django.db import transaction

from partners.models import Partner
from sweepapi import networks
from sweeps.models import Sweep
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.rails.evm.build.issuing import FIRST_PERMIT_WORD, reserve_permit_nonce
from sweeps.rails.registry import RAILS
from sweeps.story.build import build_sweep, renew_offer
from tests.factories.sweeps import LOCAL, SweepTransactionFactory, random_checksum_address
from tests.local_chain import LocalChain
from tests.races import scenes
from tests.races.interleaving import Operation, Race, assert_serial
from tests.races.scenes import Scene

pytestmark = pytest.mark.django_db(transaction=True)

# --- nonces -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wallet:
    """A wallet and what was reserved for it."""

    address: str = field(default_factory=random_checksum_address)
    nonces: list[int] = field(default_factory=list)


def wallet_with_a_nonce() -> Wallet:
    wallet = Wallet()
    reserved(wallet)
    return wallet


def reserved(wallet: Wallet) -> None:
    with transaction.atomic():
        wallet.nonces.append(reserve_permit_nonce(network=LOCAL, wallet=wallet.address, used_words={}))


def reserved_nonces(wallet: Wallet) -> list[int]:
    return [nonce - FIRST_PERMIT_WORD * 256 for nonce in sorted(wallet.nonces)]


@pytest.mark.parametrize("stage", [Wallet, wallet_with_a_nonce])
def test_two_builds_of_a_wallet_reserve_two_nonces(stage: Callable[[], Wallet]) -> None:
    assert_serial(Race(stage, reserved, reserved, reserved_nonces))


# --- offers -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def build(chain: LocalChain, partner: Partner, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Scene]:
    """Build sweeps from one plan, without reading the chain."""
    usdc, weth = chain.token("USDC"), chain.token("WETH")
    rail = RAILS["evm_v5"]
    request = BuildRequest(
        network=LOCAL,
        wallet=chain.users[0].address,
        tokens=[TokenInput(usdc.address, usdc.units(3))],
        output_asset=weth.address,
        slippage_bps=100,
    )
    planned = rail.plan(registry=networks.current(), partner=partner, request=request)
    monkeypatch.setattr(type(rail), "plan", staticmethod(lambda **_options: planned))

    def stage() -> Scene:
        sweep = Sweep.objects.get(
            id=build_sweep(networks.current(), partner=partner, request=request, answered=itemgetter("sweepId"))
        )
        return Scene(sweep, SweepTransactionFactory.build(sweep=sweep, execution=sweep.executions.get()))

    return stage


def refreshed(scene: Scene) -> None:
    renew_offer(networks.current(), Sweep.objects.get(id=scene.sweep.id), answered=dict)


def offered(scene: Scene) -> Any:
    return scenes.outcome(scene), [offer.sequence for offer in scene.sweep.offers.order_by("sequence")]


@pytest.mark.parametrize("meanwhile", [refreshed, scenes.voided, scenes.executed])
def test_a_sweep_that_is_refreshed(build: Callable[[], Scene], meanwhile: Operation[Scene]) -> None:
    assert_serial(Race(build, refreshed, meanwhile, offered))
