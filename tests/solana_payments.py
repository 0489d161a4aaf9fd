"""Payments on the local Solana cluster, as our treasury makes them."""

from collections.abc import Sequence
from dataclasses import dataclass

from solders.instruction import Instruction
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from spl.token import instructions as token
from spl.token import models

from tests.solana_cluster import SolanaCluster

FUNDS = 10**9


@dataclass(frozen=True)
class ClusterTreasury:
    """A wallet with USDC and, once it paid any, other tokens."""

    cluster: SolanaCluster
    keypair: Keypair

    @property
    def address(self) -> str:
        return str(self.keypair.pubkey())

    def transfer(
        self, recipient: str, amount: int, mint: Pubkey | None = None, *, sender: Keypair | None = None
    ) -> Instruction:
        """Return the transfer of a token, by default USDC, to a wallet's account, which exists then."""
        mint, owner = mint or self.cluster.usdc, (sender or self.keypair).pubkey()
        faucet = self.cluster.faucet
        mint_account = self.cluster.bank.account(mint)
        assert mint_account is not None
        return token.transfer_checked(
            models.TransferCheckedParams(
                program_id=faucet.program_of(mint),
                source=faucet.give_tokens(owner, mint, FUNDS),
                mint=mint,
                dest=faucet.create_account(Pubkey.from_string(recipient), mint),
                owner=owner,
                amount=amount,
                decimals=mint_account.data[44],
            )
        )

    def land(self, instructions: Sequence[Instruction]) -> str:
        """Land instructions, successful or not; returns the signature."""
        return str(self.cluster.send(self.cluster.sign(self.keypair, instructions)).signature)

    def land_v1(self, instructions: Sequence[Instruction]) -> str:
        """Land instructions in a transaction of version 1; returns the signature."""
        return str(self.cluster.send(self.cluster.sign_v1(self.keypair, instructions)).signature)

    def send(self, recipient: str, amount: int, mint: Pubkey | None = None) -> str:
        """Send a token, by default USDC; returns the signature of the transaction."""
        return self.land([self.transfer(recipient, amount, mint)])

    def pay(self, recipient: str, amount: int, mint: Pubkey | None = None) -> str:
        """Send a token, by default USDC, and wait until that is final; returns the signature of the transaction."""
        signature = self.send(recipient, amount, mint)
        self.cluster.finalize()
        return signature
