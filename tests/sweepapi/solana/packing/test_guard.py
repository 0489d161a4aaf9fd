"""The guard of a transaction, run by the real token programs."""

import pytest
from solders.keypair import Keypair
from solders.pubkey import Pubkey

from dev.solana.history.records import Landed
from sweepapi.solana.encoding.addresses import TOKEN, TOKEN_2022, WRAPPED_SOL
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.packing.guard import Output
from tests.solana_cluster import SolanaCluster

HELD, MINIMUM = 70, 1_000
REFERENCE = Keypair().pubkey()


class Receiver:
    """A wallet with an output account that holds something before the sweep."""

    def __init__(self, cluster: SolanaCluster, kind: str) -> None:
        self.cluster, self.keypair = cluster, cluster.create_wallet()
        self.program = TOKEN_2022 if kind == "Token-2022" else TOKEN
        self.mint = WRAPPED_SOL if kind == "wrapped SOL" else cluster.faucet.create_mint(9, program=self.program)
        self.receive(HELD)
        self.output = Output(
            wallet=self.keypair.pubkey(),
            mint=self.mint,
            program=self.program,
            decimals=9,
            fee_account=REFERENCE,
            held=HELD,
        )

    def receive(self, amount: int) -> Pubkey:
        return self.cluster.faucet.give_tokens(self.keypair.pubkey(), self.mint, amount)

    def land_guard(self) -> Landed:
        return self.cluster.send(self.cluster.sign(self.keypair, [self.output.guard(MINIMUM, REFERENCE)]))


@pytest.fixture(params=["Token", "Token-2022", "wrapped SOL"])
def receiver(cluster: SolanaCluster, request: pytest.FixtureRequest) -> Receiver:
    return Receiver(cluster, request.param)


def test_a_wallet_that_received_its_minimum_passes_and_nothing_moves(receiver: Receiver) -> None:
    account = receiver.receive(MINIMUM)
    before = receiver.cluster.bank.account(account)

    assert receiver.land_guard().outcome.err is None
    assert receiver.cluster.bank.account(account) == before


def test_one_unit_less_than_the_minimum_fails(receiver: Receiver) -> None:
    receiver.receive(MINIMUM - 1)

    landed = receiver.land_guard()

    assert landed.outcome.err is not None
    assert any("insufficient funds" in line for line in landed.outcome.logs)


def test_the_transaction_is_found_by_its_reference(receiver: Receiver) -> None:
    receiver.receive(MINIMUM)
    landed = receiver.land_guard()

    found = receiver.cluster.rpc("getSignaturesForAddress", str(REFERENCE), {"commitment": "confirmed"})

    assert [each["signature"] for each in found] == [str(landed.signature)]


def test_a_minimum_that_no_account_can_hold_is_refused() -> None:
    output = Output(wallet=REFERENCE, mint=WRAPPED_SOL, program=TOKEN, decimals=9, fee_account=REFERENCE, held=1)
    output.guard(2**64 - 2, REFERENCE)

    with pytest.raises(UnsafeSwapError, match="more than an account can hold"):
        output.guard(2**64 - 1, REFERENCE)
