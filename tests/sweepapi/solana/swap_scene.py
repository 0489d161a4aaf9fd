"""A wallet, a market maker and a thief on a local cluster, for transactions that are honest but for one instruction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from solders.account import Account as SvmAccount
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.instruction import Instruction
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction
from spl.token import instructions as token
from spl.token import models

from dev.solana.extensions import Extension, transfer_fee
from dev.solana.faucet import LAMPORTS_PER_SOL
from sweepapi import networks
from sweepapi.fees import FeeRates
from sweepapi.solana.cluster import reads
from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.encoding.addresses import TOKEN, TOKEN_2022, WRAPPED_SOL, associated_account
from sweepapi.solana.packing import packing
from sweepapi.solana.packing.compute_budget import LAMPORTS_PER_SIGNATURE, MAX_UNITS
from sweepapi.solana.packing.guard import Output
from sweepapi.solana.packing.lookup_tables import writable_keys
from sweepapi.solana.swap_api.inspection import inspect
from sweepapi.solana.trial.effects import Effects, TransactionTerms, check_effects
from sweepapi.solana.trial.simulation import ClusterSimulation, simulate_call
from tests.solana_cluster import SolanaCluster

SOLD = 1_000
BOUGHT = 10_000  # before the fee
FEE_BPS = 100
FEE = BOUGHT * FEE_BPS // 10_000
MINIMUM = 9_800


class Scene:
    """The wallet sells all it has of `sold` for USDC; of `kept` and `empty` nothing may change."""

    def __init__(self, cluster: SolanaCluster) -> None:
        self.cluster, self.faucet = cluster, cluster.faucet
        self.keypair = cluster.create_wallet()
        self.wallet = self.keypair.pubkey()
        self.maker, self.thief = (cluster.create_wallet().pubkey() for _ in range(2))
        self.sold, self.kept, self.empty = (self.faucet.create_mint(6) for _ in range(3))
        self.sold_account = self.faucet.give_tokens(self.wallet, self.sold, SOLD)
        self.kept_account = self.faucet.give_tokens(self.wallet, self.kept, 500)
        self.empty_account = self.faucet.create_account(self.wallet, self.empty)
        self.guarded = self.faucet.create_mint(6)  # of which the wallet is guaranteed nothing
        self.faucet.create_account(self.wallet, self.guarded)
        self.faucet.create_account(self.maker, self.sold)
        for mint in (self.sold, self.kept, cluster.usdc, WRAPPED_SOL):
            self.faucet.create_account(self.thief, mint)
        self.swept = {self.sold_account: SOLD}
        self.fee_account = associated_account(cluster.fee_wallet, cluster.usdc, TOKEN)

    def terms(self) -> TransactionTerms:
        return TransactionTerms(
            wallet=self.wallet,
            swept=self.swept,
            output_mint=self.cluster.usdc,
            minimum=MINIMUM,
            fee_account=self.fee_account,
            fees=FeeRates(FEE_BPS, 0),
            legs=1,
            closed=frozenset([self.sold_account]),
            changed_mints=frozenset(),
            fee_lamports=LAMPORTS_PER_SIGNATURE,
            token_account_rent=self.rent(165),
            rent_programs=frozenset(),
        )

    def honest(self) -> list[Instruction]:
        return [
            self.create_account(self.cluster.usdc),
            self.sell(SOLD),
            self.buy(BOUGHT - FEE),
            self.pay_fee(),
        ]

    def create_account(self, mint: Pubkey, program: Pubkey = TOKEN) -> Instruction:
        return token.create_idempotent_associated_token_account(self.wallet, self.wallet, mint, program)

    def sell(self, amount: int) -> Instruction:
        return self.move(self.sold_account, self.account(self.maker, self.sold), self.sold, amount)

    def buy(self, amount: int, *, recipient: Pubkey | None = None, mint: Pubkey | None = None) -> Instruction:
        """Take output from a fresh account of the maker, whose delegate the wallet is."""
        mint = mint or self.cluster.usdc
        source = self.stocked(mint, amount)
        return self.move(source, self.account(recipient or self.wallet, mint), mint, amount)

    def pay_fee(self, recipient: Pubkey | None = None, mint: Pubkey | None = None) -> Instruction:
        return self.buy(FEE, recipient=recipient or self.cluster.fee_wallet, mint=mint)

    def stocked(self, mint: Pubkey, amount: int) -> Pubkey:
        """Return an account with tokens that the wallet may move, as its delegate."""
        maker = self.cluster.create_wallet()
        source = self.faucet.give_tokens(maker.pubkey(), mint, amount)
        approved = models.ApproveParams(
            program_id=self.faucet.program_of(mint),
            source=source,
            delegate=self.wallet,
            owner=maker.pubkey(),
            amount=amount,
        )
        self.faucet.run([token.approve(approved)], maker)
        return source

    def move(self, source: Pubkey, dest: Pubkey, mint: Pubkey, amount: int) -> Instruction:
        """Transfer tokens with the wallet's signature."""
        params = models.TransferCheckedParams(
            program_id=self.faucet.program_of(mint),
            source=source,
            mint=mint,
            dest=dest,
            owner=self.wallet,
            amount=amount,
            decimals=6 if mint != WRAPPED_SOL else 9,
        )
        return token.transfer_checked(params)

    def close(self, account: Pubkey, dest: Pubkey, program: Pubkey = TOKEN) -> Instruction:
        params = models.CloseAccountParams(program_id=program, account=account, dest=dest, owner=self.wallet)
        return token.close_account(params)

    def account(self, owner: Pubkey, mint: Pubkey) -> Pubkey:
        return associated_account(owner, mint, self.faucet.program_of(mint))

    def create_extended_mint(self) -> None:
        """Make `extended` a mint of Token-2022 that takes fees, which the wallet may withdraw."""
        fee = transfer_fee(500)
        owned = Extension(fee.value_bytes, lambda mint, _authority: fee.instruction(mint, self.wallet))
        self.extended = self.faucet.create_mint(6, program=TOKEN_2022, extensions=[owned])

    def give_extended(self) -> tuple[Pubkey, Pubkey]:
        """Return the accounts of the wallet and of the thief for `extended`; the wallet's holds 500."""
        self.create_extended_mint()
        held = self.faucet.give_tokens(self.wallet, self.extended, 500)
        return held, self.faucet.create_account(self.thief, self.extended)

    def withholding(self) -> Pubkey:
        """Return an account of another for `extended`, which withheld a fee of what it received."""
        self.give_extended()
        payer = self.cluster.create_wallet()
        source = self.faucet.give_tokens(payer.pubkey(), self.extended, 200)
        received = self.faucet.create_account(self.maker, self.extended)
        params = models.TransferCheckedParams(
            program_id=TOKEN_2022,
            source=source,
            mint=self.extended,
            dest=received,
            owner=payer.pubkey(),
            amount=200,
            decimals=6,
        )
        self.faucet.run([token.transfer_checked(params)], payer)
        return received

    def mint_of_wallet(self) -> Pubkey:
        """Return a mint of which the wallet is every authority."""
        mint = self.faucet.create_mint(6)
        self.change(mint, {4: bytes(self.wallet), 50: bytes(self.wallet)})
        return mint

    def put(self, data: bytes, program: Pubkey) -> Pubkey:
        """Write an account of a program, with far more lamports than its rent."""
        key = Keypair().pubkey()
        self.cluster.bank.set_account(key, SvmAccount(LAMPORTS_PER_SOL, data, program))
        return key

    def change(self, key: Pubkey, parts: Mapping[int, bytes]) -> None:
        """Overwrite parts of an account's data, by their offsets."""
        account = self.cluster.bank.account(key)
        assert account is not None
        data = bytearray(account.data)
        for offset, part in parts.items():
            data[offset : offset + len(part)] = part
        self.cluster.bank.set_account(key, SvmAccount(account.lamports, bytes(data), account.owner))

    def rent(self, data_bytes: int) -> int:
        return self.cluster.bank.svm.minimum_balance_for_rent_exemption(data_bytes)

    def inspect(self, instructions: Sequence[Instruction]) -> None:
        accounts = {self.sold_account: self.sold, self.kept_account: self.kept, self.empty_account: self.empty}
        if hasattr(self, "extended"):
            accounts[self.account(self.wallet, self.extended)] = self.extended
        inspect(instructions, wallet=self.wallet, swept=self.swept, mints_of=accounts, allowed_programs=())

    def effects(self, instructions: Sequence[Instruction], **changed: object) -> Effects:
        """Simulate the instructions, then our closing, and compare every account they can change."""
        closing = self.close(self.sold_account, self.wallet)
        before, simulation = self.simulate([*instructions, closing])
        assert simulation.error is None, simulation.logs
        return check_effects(before, simulation.accounts, replace(self.terms(), **changed))  # type: ignore[arg-type]

    def simulate(
        self, instructions: Sequence[Instruction], tables: Sequence[AddressLookupTableAccount] = ()
    ) -> tuple[dict[Pubkey, ClusterAccount | None], ClusterSimulation]:
        leg = packing.SwapLeg(tuple(instructions), 0, None, [], tuple(tables))
        output = Output(
            wallet=self.wallet, mint=self.guarded, program=TOKEN, decimals=6, fee_account=self.fee_account, held=0
        )
        [packed] = packing.pack(output, [leg], disposals=[])
        blockhash = self.cluster.bank.blocks.latest.blockhash
        message = packed.message(blockhash, unit_limit=MAX_UNITS, unit_price=0)
        signatures = [Signature.default()] * message.header.num_required_signatures
        keys = writable_keys(message, packed.lookup_tables)
        call = simulate_call(VersionedTransaction.populate(message, signatures), keys)
        *answers, simulation = (
            networks.current().pool(self.cluster.network).batch([*reads.multiple_accounts(keys), call])
        )
        return reads.by_key(keys, answers), simulation
