"""What strangers give to an account that a sweep opens and closes again is neither output nor a reason to refuse it."""

import pytest
from solders.pubkey import Pubkey
from spl.token.constants import WRAPPED_SOL_MINT

from sweepapi.solana.encoding.addresses import TOKEN, associated_account
from sweeps.models import Sweep
from tests.solana_user import DOLLAR, SolanaUser
from tests.sweeps.rails.solana_v1.checks import look_at

pytestmark = pytest.mark.django_db

GIFT_LAMPORTS = 1_000_000


def wrapped_account(user: SolanaUser) -> Pubkey:
    """Return the account through which the user receives SOL, which does not exist yet."""
    return associated_account(user.key, WRAPPED_SOL_MINT, TOKEN)


@pytest.mark.parametrize("is_given_before_the_build", [True, False])
def test_a_gift_to_the_account_of_wrapped_sol_is_not_output(
    user: SolanaUser, *, is_given_before_the_build: bool
) -> None:
    mint = user.hold(5 * DOLLAR)
    sold = {mint: 5 * DOLLAR}
    if is_given_before_the_build:
        user.cluster.faucet.give_lamports(wrapped_account(user), GIFT_LAMPORTS)
    built = user.build(sold, output_asset=str(WRAPPED_SOL_MINT))
    if not is_given_before_the_build:
        user.cluster.faucet.give_lamports(wrapped_account(user), GIFT_LAMPORTS)
    rent = user.cluster.lamports(user.cluster.faucet.associated_account(user.key, mint))
    before = user.lamports
    (landed,) = user.send(built)
    sweep = look_at(Sweep.objects.get())
    assert landed.outcome.err is None, landed.outcome.logs
    assert (sweep.status, sweep.flags) == ("completed", [])
    (execution,) = sweep.executions.all()
    gained = user.lamports - before + landed.outcome.fee
    assert execution.amounts.user_amount == gained - GIFT_LAMPORTS - rent
