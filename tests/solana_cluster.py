"""The local Solana cluster for tests: nodes over HTTP, wallets with SOL and tokens, and control of blocks."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import requests
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.instruction import Instruction
from solders.keypair import Keypair
from solders.message import MessageV0, MessageV1
from solders.message.v1 import TransactionConfig
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction
from spl.token.constants import NATIVE_DECIMALS, WRAPPED_SOL_MINT

from dev.solana.bank import Bank
from dev.solana.faucet import LAMPORTS_PER_SOL, Faucet
from dev.solana.history.blocks import BLOCKHASH_BLOCKS
from dev.solana.history.records import Landed
from dev.solana.node import FINAL_AFTER_SLOTS, Node
from dev.solana.server import serving
from sweepapi.solana.cluster.clusters import Cluster, OutputToken

USDC_DECIMALS = 6
MAX_UNITS, MAX_LOADED_BYTES = 1_400_000, 64 * 2**20  # that a transaction can ask for


class SolanaCluster:
    """A cluster of its own for one test; `node` is its first provider, at `url`.

    Sweeps can end in `usdc` and in wrapped SOL: `fee_wallet` has an account for each.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.bank = Bank()
        self.faucet = Faucet(self.bank)
        self.node = Node(self.bank)
        self.url = stack.enter_context(serving(self.node))
        self.usdc = self.faucet.create_mint(USDC_DECIMALS)
        self.fee_wallet = self.create_wallet().pubkey()
        for mint in (self.usdc, WRAPPED_SOL_MINT):
            self.faucet.create_account(self.fee_wallet, mint)

    def facts(self) -> Cluster:
        """Return the cluster's public facts, as the clusters file would have them."""
        usdc = OutputToken(mint=str(self.usdc), symbol="USDC", decimals=USDC_DECIMALS)
        return Cluster(
            name="solana",
            genesis_hash=self.genesis_hash,
            native_symbol="SOL",
            block_explorer_url="https://explorer.example",
            output_tokens=(usdc, OutputToken(mint=str(WRAPPED_SOL_MINT), symbol="SOL", decimals=NATIVE_DECIMALS)),
            reference_token=usdc,
            swap_programs=frozenset(),
            rent_programs=frozenset(),
            max_priority_fee_lamports=500_000,
            recheck_seconds=5,
            payout_senders=(),
            sandbox=True,
        )

    @property
    def genesis_hash(self) -> str:
        return str(self.bank.genesis_hash)

    @property
    def network(self) -> str:
        """The cluster's CAIP-2 identifier."""
        return self.facts().network

    def add_node(self, **view: Any) -> str:
        """Start another provider of the same cluster, with fields of Node such as `lag_slots`; returns its URL."""
        return self._stack.enter_context(serving(Node(self.bank, **view)))

    def rpc(self, method: str, *params: Any) -> Any:
        """Make one call over HTTP and return its result; fails on an error."""
        answered = self.ask(method, *params)
        assert "error" not in answered, answered
        return answered["result"]

    def ask(self, method: str, *params: Any) -> dict[str, Any]:
        """Make one call over HTTP and return the whole response."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        response: dict[str, Any] = requests.post(self.url, json=request, timeout=10).json()
        return response

    def create_wallet(self, lamports: int = 10 * LAMPORTS_PER_SOL) -> Keypair:
        """Return a new wallet with SOL; with 0 lamports, the cluster does not know it."""
        wallet = Keypair()
        if lamports:
            self.faucet.give_lamports(wallet.pubkey(), lamports)
        return wallet

    def message(
        self,
        payer: Pubkey,
        instructions: Sequence[Instruction],
        lookup_tables: Sequence[AddressLookupTableAccount] = (),
    ) -> MessageV0:
        """Compile a message with the latest blockhash."""
        return MessageV0.try_compile(payer, list(instructions), list(lookup_tables), self.bank.blocks.latest.blockhash)

    def sign(
        self,
        wallet: Keypair,
        instructions: Sequence[Instruction],
        lookup_tables: Sequence[AddressLookupTableAccount] = (),
    ) -> VersionedTransaction:
        """Sign instructions as a wallet that pays their fee."""
        return VersionedTransaction(self.message(wallet.pubkey(), instructions, lookup_tables), [wallet])

    def sign_v1(self, wallet: Keypair, instructions: Sequence[Instruction]) -> VersionedTransaction:
        """Sign instructions in a transaction of version 1, which has its compute budget beside them."""
        budget = TransactionConfig(compute_unit_limit=MAX_UNITS, loaded_accounts_data_size_limit=MAX_LOADED_BYTES)
        blockhash = self.bank.blocks.latest.blockhash
        message = MessageV1.try_compile(wallet.pubkey(), list(instructions), blockhash, budget)
        return VersionedTransaction(message, [wallet])

    def send(self, transaction: VersionedTransaction) -> Landed:
        """Land a transaction, successful or not."""
        outcome = self.bank.send(transaction)
        assert outcome.executed, outcome.err
        landed = self.bank.records.get(transaction.signatures[0])
        assert landed is not None
        return landed

    def finalize(self) -> None:
        """Make every block so far final."""
        self.bank.advance(FINAL_AFTER_SLOTS)

    def expire_blockhashes(self) -> None:
        """Make every blockhash so far too old, and that final."""
        self.bank.advance(BLOCKHASH_BLOCKS + 1 + FINAL_AFTER_SLOTS)

    def drop(self, signature: Signature) -> None:
        """Remove a transaction from the records, as when its fork is abandoned; sent again, it lands again."""
        self.bank.drop(signature)

    def set_rent(self, lamports_per_byte: int) -> None:
        """Change what new accounts must hold; existing ones keep what they have, as when rent falls on mainnet."""
        self.bank.set_rent(lamports_per_byte)

    def lamports(self, key: Pubkey) -> int:
        return self.bank.svm.get_balance(key) or 0

    def token_balance(self, wallet: Pubkey, mint: Pubkey) -> int:
        """Return the balance of a wallet's associated token account; 0 if it has none."""
        account = self.bank.account(self.faucet.associated_account(wallet, mint))
        return int.from_bytes(account.data[64:72], "little") if account else 0


@contextmanager
def running() -> Iterator[SolanaCluster]:
    """Run a cluster until the end of the `with` block."""
    with ExitStack() as stack:
        yield SolanaCluster(stack)
