"""Creates sweeps on Solana as a build stores them."""

from factory.declarations import LazyFunction, RelatedFactory, SelfAttribute
from solders.keypair import Keypair

from ledger.models import Settlement
from tests.factories.sweeps import ExecutionFactory, SweepFactory, SweepTokenFactory

MAINNET = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
FEE_WALLET = str(Keypair.from_seed(bytes([7] * 32)).pubkey())


def random_key() -> str:
    """Return the key of an account that does not exist."""
    return str(Keypair().pubkey())


def random_signature() -> str:
    """Return the signature of a transaction that does not exist."""
    return str(Keypair().sign_message(b""))


class SolanaExecutionFactory(ExecutionFactory):
    """One transaction, found by its reference key, of one token."""

    venue = FEE_WALLET
    execution_id = LazyFunction(random_key)
    token = RelatedFactory(
        SweepTokenFactory,
        factory_related_name="execution",
        sweep=SelfAttribute("..sweep"),
        position=SelfAttribute("..position"),
        asset=LazyFunction(random_key),
        symbol="BONK",
    )


class SolanaSweepFactory(SweepFactory):
    """A pending sweep on Solana, in one transaction, whose partner is paid later; nothing is signed before it."""

    class Meta:
        exclude = ("permit",)

    rail = "solana_v1"
    network = MAINNET
    wallet = LazyFunction(random_key)
    output_asset = USDC
    output_symbol = "USDC"
    output_decimals = 6
    partner_recipient = LazyFunction(lambda: None)
    protocol_recipient = FEE_WALLET
    settlement = Settlement.PAYABLE
    execution = RelatedFactory(SolanaExecutionFactory, factory_related_name="sweep", position=0)
    permit = None
