"""Gives wallets what tests and the demo need: SOL, mints of either token program, token accounts, lookup tables."""

from collections.abc import Sequence
from struct import pack

from solders.account import Account
from solders.address_lookup_table_account import ID as LOOKUP_TABLE_PROGRAM
from solders.instruction import Instruction
from solders.keypair import Keypair
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.system_program import ID as SYSTEM_PROGRAM
from solders.system_program import CreateAccountParams, TransferParams, create_account, transfer
from solders.transaction import VersionedTransaction
from spl.token import instructions as token
from spl.token import models
from spl.token.constants import ACCOUNT_LEN, TOKEN_PROGRAM_ID, WRAPPED_SOL_MINT

from dev.solana.bank import Bank
from dev.solana.extensions import Extension, mint_space

LAMPORTS_PER_SOL = 10**9
METADATA_PROGRAM = Pubkey.from_string("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
_LOOKUP_TABLE_STATE = 1  # followed by: the slot of deactivation (never), of the last extension, and the authority
_WEALTH_LAMPORTS = 10**17


class Faucet:
    """The authority of every mint that it creates."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self.keypair = Keypair()
        self.key = self.keypair.pubkey()
        bank.set_account(self.key, Account(_WEALTH_LAMPORTS, b"", SYSTEM_PROGRAM))

    def run(self, instructions: Sequence[Instruction], *signers: Keypair) -> Signature:
        """Land instructions in a transaction paid by the faucet; they must succeed."""
        blockhash = self.bank.blocks.latest.blockhash
        message = MessageV0.try_compile(self.key, list(instructions), [], blockhash)
        transaction = VersionedTransaction(message, [self.keypair, *signers])
        outcome = self.bank.send(transaction)
        if outcome.err is not None:
            raise RuntimeError(f"{outcome.err}: {outcome.logs}")
        return transaction.signatures[0]

    def give_lamports(self, recipient: Pubkey, lamports: int) -> Signature:
        return self.run([transfer(TransferParams(from_pubkey=self.key, to_pubkey=recipient, lamports=lamports))])

    def create_mint(
        self,
        decimals: int,
        *,
        program: Pubkey = TOKEN_PROGRAM_ID,
        extensions: Sequence[Extension] = (),
        keypair: Keypair | None = None,
    ) -> Pubkey:
        """Create a mint; extensions need the Token-2022 program."""
        keypair = keypair or Keypair()
        mint = keypair.pubkey()
        space = mint_space(extensions)
        final_space = space + sum(extension.added_bytes for extension in extensions)
        account = CreateAccountParams(
            from_pubkey=self.key,
            to_pubkey=mint,
            lamports=self.bank.svm.minimum_balance_for_rent_exemption(final_space),
            space=space,
            owner=program,
        )
        initialize = models.InitializeMint2Params(
            decimals=decimals, program_id=program, mint=mint, mint_authority=self.key, freeze_authority=self.key
        )
        before = [extension.instruction(mint, self.key) for extension in extensions if not extension.added_bytes]
        after = [extension.instruction(mint, self.key) for extension in extensions if extension.added_bytes]
        self.run([create_account(account), *before, token.initialize_mint2(initialize), *after], keypair)
        return mint

    def associated_account(self, wallet: Pubkey, mint: Pubkey) -> Pubkey:
        return token.get_associated_token_address(wallet, mint, self.program_of(mint))

    def create_account(self, wallet: Pubkey, mint: Pubkey) -> Pubkey:
        """Create a wallet's associated token account if it is missing; returns its address."""
        self.run([self._associate(wallet, mint)])
        return self.associated_account(wallet, mint)

    def give_tokens(self, wallet: Pubkey, mint: Pubkey, amount: int) -> Pubkey:
        """Mint tokens to a wallet's associated account, which is created if missing; returns its address."""
        account = self.associated_account(wallet, mint)
        if mint == WRAPPED_SOL_MINT:
            give = transfer(TransferParams(from_pubkey=self.key, to_pubkey=account, lamports=amount))
            sync = token.sync_native(models.SyncNativeParams(program_id=TOKEN_PROGRAM_ID, account=account))
            self.run([self._associate(wallet, mint), give, sync])
        else:
            self.run([self._associate(wallet, mint), self._mint_to(account, mint, amount)])
        return account

    def mint_to(self, account: Pubkey, mint: Pubkey, amount: int) -> None:
        """Mint tokens to a token account."""
        self.run([self._mint_to(account, mint, amount)])

    def _associate(self, wallet: Pubkey, mint: Pubkey) -> Instruction:
        return token.create_idempotent_associated_token_account(self.key, wallet, mint, self.program_of(mint))

    def _mint_to(self, account: Pubkey, mint: Pubkey, amount: int) -> Instruction:
        return token.mint_to(
            models.MintToParams(
                program_id=self.program_of(mint), mint=mint, dest=account, mint_authority=self.key, amount=amount
            )
        )

    def create_other_account(self, wallet: Pubkey, mint: Pubkey) -> Pubkey:
        """Create a token account of the wallet at an address of its own, not the associated one."""
        keypair, program = Keypair(), self.program_of(mint)
        account = CreateAccountParams(
            from_pubkey=self.key,
            to_pubkey=keypair.pubkey(),
            lamports=self.bank.svm.minimum_balance_for_rent_exemption(ACCOUNT_LEN),
            space=ACCOUNT_LEN,
            owner=program,
        )
        initialize = models.InitializeAccount3Params(
            program_id=program, account=keypair.pubkey(), mint=mint, owner=wallet
        )
        self.run([create_account(account), token.initialize_account3(initialize)], keypair)
        return keypair.pubkey()

    def freeze(self, account: Pubkey, mint: Pubkey) -> None:
        """Freeze a token account, as the issuer of a token may."""
        params = models.FreezeAccountParams(
            program_id=self.program_of(mint), account=account, mint=mint, authority=self.key
        )
        self.run([token.freeze_account(params)])

    def program_of(self, mint: Pubkey) -> Pubkey:
        account = self.bank.account(mint)
        if account is None:
            raise LookupError(f"unknown mint {mint}")
        return account.owner

    def create_lookup_table(self, addresses: Sequence[Pubkey], *, key: Pubkey | None = None) -> Pubkey:
        """Write an address lookup table, at a key of its own unless one is given; returns its address."""
        head = pack("<IQQBB32sH", _LOOKUP_TABLE_STATE, 2**64 - 1, 0, 0, 1, bytes(self.key), 0)
        data, key = head + b"".join(map(bytes, addresses)), key or Keypair().pubkey()
        lamports = self.bank.svm.minimum_balance_for_rent_exemption(len(data))
        self.bank.set_account(key, Account(lamports, data, LOOKUP_TABLE_PROGRAM))
        return key

    def name_mint(self, mint: Pubkey, name: str, symbol: str, uri: str = "") -> Pubkey:
        """Write the metadata account that Metaplex' program keeps for a mint; returns its address."""
        seeds = [b"metadata", bytes(METADATA_PROGRAM), bytes(mint)]
        key, _bump = Pubkey.find_program_address(seeds, METADATA_PROGRAM)
        texts = b"".join(_padded(text, size) for text, size in ((name, 32), (symbol, 10), (uri, 200)))
        # After the texts: seller fee, no creators, not sold, mutable, and room for the optional fields.
        data = b"\x04" + bytes(self.key) + bytes(mint) + texts + bytes([0, 0, 0, 0, 1])
        lamports = self.bank.svm.minimum_balance_for_rent_exemption(679)
        self.bank.set_account(key, Account(lamports, data.ljust(679, b"\0"), METADATA_PROGRAM))
        return key


def _padded(text: str, size: int) -> bytes:
    return pack("<I", size) + text.encode().ljust(size, b"\0")
