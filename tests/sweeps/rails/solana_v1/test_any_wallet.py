"""Whatever a wallet holds, what a build answers is what its transactions do, in whatever order they land."""

from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from solders.pubkey import Pubkey
from spl.token.instructions import create_idempotent_associated_token_account

from dev.solana import extensions
from dev.solana.faucet import LAMPORTS_PER_SOL, Faucet
from dev.solana.swap_api.answers import instruction
from sweepapi.fees import floor_share
from sweepapi.solana.encoding.addresses import TOKEN, TOKEN_2022, WRAPPED_SOL
from tests.solana_user import SolanaUser

pytestmark = pytest.mark.django_db

FEE_BPS = 75
CASES = 16
PROGRAMS = [TOKEN, TOKEN_2022]
EXTENSIONS = [(), (extensions.transfer_fee(0),), (extensions.metadata_pointer(), extensions.metadata("Name", "NAME"))]


@dataclass(frozen=True)
class Drawn:
    """A wallet, and what it sells, drawn from a seed."""

    user: SolanaUser
    random: Random

    @property
    def faucet(self) -> Faucet:
        return self.user.cluster.faucet

    def output(self) -> Pubkey:
        """Return the output, of which the wallet has no account, an empty one, or some."""
        mint = self.random.choice([self.user.cluster.usdc, WRAPPED_SOL])
        match self.random.choice(["no account", "empty account", "some"]):
            case "empty account":
                self.faucet.create_account(self.user.key, mint)
            case "some":
                self.faucet.give_tokens(self.user.key, mint, self.random.randint(1, 10**10))
        return mint

    def sold(self, output: Pubkey) -> dict[Pubkey, int]:
        """Give the wallet tokens of all kinds; returns how much of each to sell."""
        sold = dict(self._token() for _ in range(self.random.choice([1, 2, 5, 10, 20])))
        if output != WRAPPED_SOL and self.random.random() < 0.5:
            held = self.random.randint(10**6, LAMPORTS_PER_SOL)
            self.faucet.give_tokens(self.user.key, WRAPPED_SOL, held)
            sold[WRAPPED_SOL] = self._all_or_most(held)
        return sold

    def _token(self) -> tuple[Pubkey, int]:
        decimals, program = self.random.randint(0, 9), self.random.choice(PROGRAMS)
        held = self.random.randint(1, 10**4) * 10**decimals
        mint = self.user.hold(
            held,
            decimals=decimals,
            micro_usd=self.random.randint(10**5, 10**7),
            program=program,
            extensions=self.random.choice(EXTENSIONS) if program == TOKEN_2022 else (),
        )
        return mint, self._all_or_most(held)

    def _all_or_most(self, held: int) -> int:
        return held if self.random.random() < 0.7 else self.random.randint(held // 2 + 1, held)

    def hold_empty_accounts(self, output: Pubkey) -> None:
        for _ in range(self.random.randint(0, 12)):
            mint = self.faucet.create_mint(6, program=self.random.choice(PROGRAMS))
            self.faucet.create_account(self.user.key, mint)
        if self.random.random() < 0.5:
            self.faucet.create_other_account(self.user.key, output)

    def change_the_market(self, sold: dict[Pubkey, int]) -> None:
        """Route every swap through the wallet's account of some token, name a lookup table, and raise prices."""
        if self.random.random() < 0.4:
            through = self.random.choice([*sold, self.faucet.create_mint(6)])
            program = self.faucet.program_of(through)
            create = create_idempotent_associated_token_account(self.user.key, self.user.key, through, program)
            self.user.market.api.alter = lambda _query, body: {
                **body,
                "setupInstructions": [*body["setupInstructions"], instruction(create)],
            }
        if self.random.random() < 0.5:
            self.user.market.add_lookup_table()
        self.user.cluster.bank.priority_fee = self.random.choice([0, 50_000, 10**9])
        self.user.cluster.bank.advance(150)


@pytest.mark.parametrize("seed", range(CASES))
def test_what_was_answered_happens(user: SolanaUser, seed: int) -> None:
    drawn = Drawn(user, Random(seed))  # noqa: S311 - the same cases every time
    output = drawn.output()
    sold = drawn.sold(output)
    drawn.hold_empty_accounts(output)
    drawn.change_the_market(sold)
    held, lamports = {mint: user.balance(mint) for mint in [output, *sold]}, user.lamports

    built = user.build(sold, output_asset=str(output), close_empty_accounts=drawn.random.random() < 0.8)
    in_any_order = drawn.random.sample(built["transactions"], len(built["transactions"]))
    landed = user.send({"transactions": in_any_order})

    assert [one.outcome.err for one in landed] == [None] * len(landed)
    assert {mint: held[mint] - user.balance(mint) for mint in sold} == sold
    gained, other_lamports = user.balance(output) - held[output], user.lamports - lamports - rent_and_fees(built)
    if output == WRAPPED_SOL:
        gained, other_lamports = gained + other_lamports, 0  # what the wallet held of it is unwrapped, too
    assert other_lamports == 0
    assert_paid(built["estimatedOutput"], gained, user.cluster.token_balance(user.cluster.fee_wallet, output), sold)
    assert not any(exists(user, account) for account in built["closedAccounts"])
    assert all(exists(user, account) for account in built["createdAccounts"])


def rent_and_fees(built: dict[str, Any]) -> int:
    """Return what the wallet gains in lamports, as answered, without the output."""
    return int(built["reclaimedLamports"]) - int(built["rentLamports"]) - int(built["networkFeeLamports"])


def assert_paid(estimated: dict[str, str], gained: int, fee: int, sold: dict[Pubkey, int]) -> None:
    """Check that the price, which did not change, was paid to the last unit: the fee is rounded down leg by leg."""
    gross = int(estimated["gross"])
    assert gained + fee == gross
    assert 0 <= floor_share(gross, FEE_BPS) - fee < len(sold)
    assert gained >= int(estimated["user"]) >= int(estimated["minUser"])


def exists(user: SolanaUser, answered: dict[str, Any]) -> bool:
    return user.cluster.bank.account(Pubkey.from_string(answered["tokenAccount"])) is not None
