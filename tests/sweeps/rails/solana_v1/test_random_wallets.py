"""Random wallets get back what their discovery promises, and end with what their build answers, to the lamport.

``make lab-solana`` draws more of them: ``WALLETS`` says how many.
"""

import os
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from solders.pubkey import Pubkey

from dev.solana import extensions
from dev.solana.faucet import LAMPORTS_PER_SOL
from sweepapi.solana.encoding.addresses import TOKEN, TOKEN_2022, WRAPPED_SOL
from tests.solana_discovery import look
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

WALLETS = int(os.environ.get("WALLETS", "8"))
RENTS = (6_960, 5_080)  # lamports for a byte and two years: of before and of today


@dataclass
class RandomWallet:
    """What a random user holds, and what the user asks for."""

    user: SolanaUser
    random: Random
    sold: dict[Pubkey, int] = field(default_factory=dict)  # the amount of each mint
    choices: dict[str, Any] = field(default_factory=dict)

    def fill(self) -> None:
        """Give it empty accounts, tokens to sell whole or in part, and wrapped SOL, at rents of two times."""
        random, user = self.random, self.user
        for _ in range(random.choice([1, 7, 30, 45])):
            self._rent()
            user.cluster.faucet.create_account(user.key, self._mint())
        for _ in range(random.choice([0, 1, 3, 6])):
            self._rent()
            amount, mint = random.randint(DOLLAR, 900 * DOLLAR), self._mint()
            user.cluster.faucet.give_tokens(user.key, mint, amount)
            self.sold[mint] = amount if random.random() < 0.8 else amount // 2
        if random.random() < 0.5:
            user.cluster.faucet.give_tokens(user.key, WRAPPED_SOL, random.randint(1, LAMPORTS_PER_SOL))
        output = random.choice([user.cluster.usdc, WRAPPED_SOL])
        self.choices = {"output_asset": str(output), "unwraps_coin": random.random() < 0.5, "accepts_uneconomic": True}
        self._rent()

    def _mint(self) -> Pubkey:
        kinds: list[dict[str, Any]] = [
            {"program": TOKEN},
            {"program": TOKEN_2022},
            {"program": TOKEN_2022, "extensions": [extensions.transfer_fee(self.random.randint(1, 300))]},
        ]
        return self.user.market.create_token(micro_usd=self.random.randint(10**5, 10**7), **self.random.choice(kinds))

    def _rent(self) -> None:
        self.user.cluster.set_rent(self.random.choice(RENTS))


@pytest.mark.parametrize("seed", range(WALLETS))
def test_it_gets_back_what_was_promised_and_ends_with_what_was_answered(user: SolanaUser, seed: int) -> None:
    wallet = RandomWallet(user, Random(seed))  # noqa: S311 - the same wallets each time
    wallet.fill()
    promised = look(user, output_asset=wallet.choices["output_asset"])
    empty, overfunded = amounts(promised["emptyAccounts"]), amounts(promised["overfundedAccounts"])
    usdc = user.cluster.usdc
    before = user.lamports, user.balance(usdc), {mint: user.balance(mint) for mint in wallet.sold}

    built = user.build(wallet.sold, **wallet.choices)
    user.send(built)

    closed, withdrawn = amounts(built["closedAccounts"]), amounts(built["overfundedAccounts"])
    assert sum([*empty.values(), *overfunded.values()]) == int(promised["totals"]["reclaimableLamports"])
    assert empty.items() <= closed.items()
    assert {key: lamports for key, lamports in overfunded.items() if key not in closed} == withdrawn
    assert {mint: before[2][mint] - user.balance(mint) for mint in wallet.sold} == wallet.sold
    received = int(built["estimatedOutput"]["user"])
    ends_in_sol = wallet.choices["output_asset"] != str(usdc)
    assert user.balance(usdc) - before[1] == (0 if ends_in_sol else received)
    assert user.lamports - before[0] == gained(built) + (received if ends_in_sol else 0)


def amounts(accounts: list[dict[str, str]]) -> dict[str, int]:
    """Return the lamports of each account."""
    return {account["tokenAccount"]: int(account["lamports"]) for account in accounts}


def gained(built: dict[str, Any]) -> int:
    """Return the lamports that a build says the wallet gains beside its output."""
    paid = int(built["networkFeeLamports"]) + int(built["rentLamports"])
    return int(built["reclaimedLamports"]) + int(built["unwrappedLamports"]) - paid
