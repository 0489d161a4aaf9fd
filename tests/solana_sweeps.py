"""Sweeps on the local Solana cluster: stored as a build stores them, signed and landed as their users do."""

import base64
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone
from solders.compute_budget import set_compute_unit_limit
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer
from solders.transaction import VersionedTransaction
from spl.token import instructions as token
from spl.token import models
from spl.token.constants import TOKEN_PROGRAM_ID, WRAPPED_SOL_MINT

from dev.solana.history.records import Landed
from indexer import checks
from ledger.models import Settlement
from sweeps.models import Execution, Sweep
from sweeps.rails.solana_v1.models import BuiltTransaction
from tests.factories.sweeps import ExecutionFactory, SweepFactory
from tests.solana_cluster import SolanaCluster

GROSS, FEE = 1_000_000, 7_500
PARTNER_FEE = 3_000  # 4000 bps of the fee
SWEPT = 500


class LocalSweep:
    """A sweep of one token per transaction; the user may spend from the account of the maker, who pays the output."""

    def __init__(
        self, cluster: SolanaCluster, *, transactions: int = 1, output: Pubkey | None = None, fee: int = FEE
    ) -> None:
        self.cluster = cluster
        self.fee = fee
        self.output = output or cluster.usdc
        self.user = cluster.create_wallet()
        self.maker = cluster.create_wallet()
        self.user_account = cluster.faucet.create_account(self.user.pubkey(), self.output)
        self.maker_account = cluster.faucet.give_tokens(self.maker.pubkey(), self.output, 10 * transactions * GROSS)
        self._let_user_spend(10 * transactions * GROSS)
        self.row: Sweep = SweepFactory.create(
            rail="solana_v1",
            network=cluster.network,
            wallet=str(self.user.pubkey()),
            output_asset=str(self.output),
            output_symbol="USDC",
            output_decimals=6,
            partner_recipient=None,
            protocol_recipient=str(cluster.fee_wallet),
            settlement=Settlement.PAYABLE,
            min_gross=transactions * GROSS * 99 // 100,
            execution=None,
        )
        self.instructions = [self._add_execution(position) for position in range(transactions)]

    @property
    def fee_account(self) -> Pubkey:
        return self.cluster.faucet.associated_account(self.cluster.fee_wallet, self.output)

    @property
    def executions(self) -> Sequence[Execution]:
        return list(self.row.executions.all())

    def reference(self, position: int = 0) -> Pubkey:
        return Pubkey.from_string(self.executions[position].execution_id)

    def swept(self) -> Pubkey:
        """Return the mint of the sweep's only token."""
        return Pubkey.from_string(self.row.tokens.get().asset)

    def refreshed(self) -> Sweep:
        self.row.refresh_from_db()
        return self.row

    def sign(self, instructions: Sequence[Instruction]) -> VersionedTransaction:
        """Sign instructions as the user, with the newest blockhash."""
        return self.cluster.sign(self.user, instructions)

    def land(self, position: int = 0, *, extra: Sequence[Instruction] = ()) -> Landed:
        """Land what was built, behind what the wallet adds."""
        limit = set_compute_unit_limit(200_000)
        return self.cluster.send(self.sign([limit, *extra, *self.instructions[position]]))

    def empty_maker(self) -> None:
        """Take away what the output is paid with, so that the transactions fail."""
        self.cluster.faucet.run([self._transfer(self.maker.pubkey(), self.fee_account, 10 * GROSS)], self.maker)

    def spam(self, position: int = 0, *, count: int = 1) -> list[Landed]:
        """Land transactions of a stranger that name the reference key."""
        stranger, seen = self.cluster.create_wallet(), []
        for number in range(count):
            lamports = number + 1  # so that no two are the same transaction
            to = TransferParams(from_pubkey=stranger.pubkey(), to_pubkey=self.cluster.fee_wallet, lamports=lamports)
            named = with_reference(transfer(to), self.reference(position))
            seen.append(self.cluster.send(self.cluster.sign(stranger, [named])))
        return seen

    def _let_user_spend(self, amount: int) -> None:
        params = models.ApproveParams(
            program_id=TOKEN_PROGRAM_ID,
            source=self.maker_account,
            delegate=self.user.pubkey(),
            owner=self.maker.pubkey(),
            amount=amount,
        )
        self.cluster.faucet.run([token.approve(params)], self.maker)

    def _add_execution(self, position: int) -> list[Instruction]:
        mint = self.cluster.faucet.create_mint(6)
        swept = self.cluster.faucet.give_tokens(self.user.pubkey(), mint, SWEPT)
        taken = self.cluster.faucet.create_account(self.maker.pubkey(), mint)
        reference = Keypair().pubkey()
        instructions = [
            marker(self.user.pubkey(), reference),
            self._transfer(self.user.pubkey(), taken, SWEPT, source=swept),
            self._transfer(self.user.pubkey(), self.user_account, GROSS - FEE),
            self._transfer(self.user.pubkey(), self.fee_account, self.fee),
        ]
        if self.output == WRAPPED_SOL_MINT:
            instructions.append(self._close(self.user_account))
        self._store(position, reference, mint, instructions)
        return instructions

    def _store(self, position: int, reference: Pubkey, mint: Pubkey, instructions: Sequence[Instruction]) -> None:
        block = self.cluster.bank.blocks.latest
        execution = ExecutionFactory.create(
            sweep=self.row,
            position=position,
            venue=str(self.cluster.fee_wallet),
            execution_id=str(reference),
            min_gross=GROSS * 99 // 100,
            built_at_height=block.slot,
            token__position=position,
            token__asset=str(mint),
            token__amount=SWEPT,
        )
        BuiltTransaction.objects.create(
            execution=execution,
            last_valid_block_height=block.last_valid_height,
            awaited_until_height=block.last_valid_height,
            fee_account=str(self.fee_account),
            instructions=[stored(one) for one in instructions],
        )

    def _transfer(self, authority: Pubkey, to: Pubkey, amount: int, *, source: Pubkey | None = None) -> Instruction:
        params = models.TransferParams(
            program_id=TOKEN_PROGRAM_ID, source=source or self.maker_account, dest=to, owner=authority, amount=amount
        )
        return token.transfer(params)

    def _close(self, account: Pubkey) -> Instruction:
        params = models.CloseAccountParams(
            program_id=TOKEN_PROGRAM_ID, account=account, dest=self.user.pubkey(), owner=self.user.pubkey()
        )
        return token.close_account(params)


def looked_at() -> Sweep:
    """Have the worker check the only sweep."""
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    assert checks.check_due() == 1
    return Sweep.objects.get()


def marker(wallet: Pubkey, reference: Pubkey) -> Instruction:
    """Return the transfer of nothing that names a reference key."""
    nothing = TransferParams(from_pubkey=wallet, to_pubkey=wallet, lamports=0)
    return with_reference(transfer(nothing), reference)


def with_reference(instruction: Instruction, reference: Pubkey) -> Instruction:
    """Return an instruction that names a reference key as well."""
    accounts = [*instruction.accounts, AccountMeta(reference, is_signer=False, is_writable=False)]
    return Instruction(instruction.program_id, instruction.data, accounts)


def stored(instruction: Instruction) -> dict[str, Any]:
    """Return an instruction as a build stores it."""
    return {
        "program": str(instruction.program_id),
        "accounts": [str(meta.pubkey) for meta in instruction.accounts],
        "data": base64.b64encode(instruction.data).decode(),
    }
