"""The state of the local cluster: LiteSVM, and the records of blocks and transactions that it does not keep.

Each transaction makes a block of its own. LiteSVM has one state and cannot go back: dropping a transaction, as a fork
does, removes it from the records and leaves the accounts as they are.
"""

import time
from threading import RLock

from solders.account import Account
from solders.hash import Hash
from solders.litesvm import LiteSVM
from solders.pubkey import Pubkey
from solders.rent import Rent
from solders.signature import Signature
from solders.token.state import Mint
from solders.transaction import VersionedTransaction
from spl.token.constants import NATIVE_DECIMALS, TOKEN_PROGRAM_ID, WRAPPED_SOL_MINT

from dev.solana.history.addresses import resolve
from dev.solana.history.balances import read_balances
from dev.solana.history.blocks import Block, Blocks
from dev.solana.history.outcome import Outcome, outcome_of
from dev.solana.history.records import Landed, Records

GENESIS_HASH = Hash.hash(b"the local Solana cluster")
SLOT_SECONDS = 0.21  # as on mainnet since SIMD-0525; it was 0.4 before


class Bank:
    """The accounts, blocks and transactions. To read more than one thing at one moment, hold `lock`."""

    def __init__(self, genesis_hash: Hash = GENESIS_HASH, *, slot_seconds: float = SLOT_SECONDS) -> None:
        self.lock = RLock()
        self.genesis_hash = genesis_hash
        self.slot_seconds = slot_seconds  # as nodes report it, and as the program makes blocks
        self.blocks = Blocks(genesis_hash)
        self.priority_fee = 0  # of blocks to come, in micro-lamports per compute unit
        # The blocks here decide which blockhashes are recent, and the records whether a transaction is a duplicate.
        self.svm = LiteSVM().with_blockhash_check(check=False).with_transaction_history(0)
        self.records = Records()
        self._set_clock()
        self._create_wrapped_sol()

    def send(self, transaction: VersionedTransaction) -> Outcome:
        """Execute a transaction in a new block, and record it if it could land, even as a failed one."""
        with self.lock:
            block = self._add_block()
            refused = self._refusal(transaction, block.height)
            if refused:
                return Outcome(err=refused)
            dropped = self.records.dropped(transaction.signatures[0])
            if dropped:
                self.records.restore(dropped.signature, block)
                return dropped.outcome
            keys = resolve(self.svm.get_account, transaction.message)
            before = read_balances(self.svm.get_account, keys.all)
            outcome = outcome_of(self.svm.send_transaction(transaction))
            if outcome.executed:
                after = read_balances(self.svm.get_account, keys.all)
                self.records.add(Landed(transaction, block, keys, outcome, before, after))
            return outcome

    def simulate(
        self, transaction: VersionedTransaction, *, verify_signatures: bool = True, any_blockhash: bool = False
    ) -> Outcome:
        """Execute a transaction and forget what it changed."""
        with self.lock:
            refused = None if any_blockhash else self._refusal(transaction, self.blocks.latest.height)
            if refused:
                return Outcome(err=refused)
            dropped = self.records.dropped(transaction.signatures[0])
            if dropped:
                return dropped.outcome
            self.svm.with_sigverify(verify_signatures)
            try:
                return outcome_of(self.svm.simulate_transaction(transaction))
            finally:
                self.svm.with_sigverify(sigverify=True)

    def advance(self, blocks: int = 1, *, skipped_slots: int = 0) -> None:
        """Produce empty blocks; the first of them comes after this many slots without a block."""
        with self.lock:
            for number in range(blocks):
                self._add_block(skipped_slots=0 if number else skipped_slots)

    def account(self, address: Pubkey) -> Account | None:
        with self.lock:
            return self.svm.get_account(address)

    def set_account(self, address: Pubkey, account: Account) -> None:
        """Write an account without a transaction; one without lamports and data ceases to exist."""
        with self.lock:
            self.svm.set_account(address, account)

    def set_rent(self, lamports_per_byte: int) -> None:
        """Change what new accounts must hold; existing ones keep what they have, as when rent falls on mainnet."""
        with self.lock:
            self.svm.set_rent(Rent(lamports_per_byte))

    def drop(self, signature: Signature) -> None:
        """Remove a landed transaction from the records, as when its fork is abandoned; sent again, it lands again."""
        with self.lock:
            self.records.drop(signature)

    def is_recent(self, blockhash: Hash, height: int) -> bool:
        """Whether a block of this height accepts a transaction with this blockhash."""
        block = self.blocks.of_hash(blockhash)
        return block is not None and block.height <= height <= block.last_valid_height

    def _refusal(self, transaction: VersionedTransaction, height: int) -> str | None:
        if not self.is_recent(transaction.message.recent_blockhash, height):
            return "BlockhashNotFound"
        return "AlreadyProcessed" if self.records.get(transaction.signatures[0]) else None

    def _create_wrapped_sol(self) -> None:
        """Write the mint of wrapped SOL, which a real cluster has from its genesis."""
        mint = bytes(Mint(mint_authority=None, supply=0, decimals=NATIVE_DECIMALS, is_initialized=True))
        lamports = self.svm.minimum_balance_for_rent_exemption(len(mint))
        self.svm.set_account(WRAPPED_SOL_MINT, Account(lamports, mint, TOKEN_PROGRAM_ID))

    def _add_block(self, *, skipped_slots: int = 0) -> Block:
        block = self.blocks.add(skipped_slots=skipped_slots, priority_fee=self.priority_fee)
        self._set_clock()
        return block

    def _set_clock(self) -> None:
        clock = self.svm.get_clock()
        clock.slot = self.blocks.latest.slot
        clock.unix_timestamp = int(time.time())
        self.svm.set_clock(clock)
