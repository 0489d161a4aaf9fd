"""One swap between a taker and the maker: what each pays, and the instructions that the taker signs for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from solders.instruction import Instruction
from solders.pubkey import Pubkey
from spl.token import instructions as token
from spl.token.constants import WRAPPED_SOL_MINT
from spl.token.models import ApproveParams, CloseAccountParams, TransferCheckedParams

from dev.solana.swap_api.orders import BPS, Order


@dataclass(frozen=True)
class Mint:
    """A mint that the maker trades; its token program is read from the cluster."""

    key: Pubkey
    decimals: int
    program: Pubkey

    def account_of(self, owner: Pubkey) -> Pubkey:
        """Return the address of the owner's associated token account."""
        return token.get_associated_token_address(owner, self.key, self.program)

    def create_account(self, payer: Pubkey, owner: Pubkey) -> Instruction:
        return token.create_idempotent_associated_token_account(payer, owner, self.key, self.program)

    def transfer(self, source: Pubkey, recipient: Pubkey, signer: Pubkey, amount: int) -> Instruction:
        """Transfer tokens between token accounts; the signer owns the source or is its delegate."""
        return token.transfer_checked(
            TransferCheckedParams(
                program_id=self.program,
                source=source,
                mint=self.key,
                dest=recipient,
                owner=signer,
                amount=amount,
                decimals=self.decimals,
            )
        )


@dataclass(frozen=True)
class Deal:
    """An order at the maker's price.

    ``stash`` owns the account that holds the output: a key made for this quote alone, so that no other quote can spend
    its tokens.
    """

    order: Order
    maker: Pubkey
    stash: Pubkey
    sold: Mint  # by the taker
    bought: Mint
    gross: int  # that the maker pays: to the taker, and the platform fee

    @property
    def fee(self) -> int:
        return self.gross * self.order.platform_fee_bps // BPS

    @property
    def net(self) -> int:
        """What the taker receives."""
        return self.gross - self.fee

    @property
    def threshold(self) -> int:
        """What the taker receives at least, rounded as Jupiter rounds it."""
        return self.net - self.net * self.order.slippage_bps // BPS

    @property
    def _stashed(self) -> Pubkey:
        return self.bought.account_of(self.stash)

    def preparation(self) -> list[Instruction]:
        """Return what the maker and the stash sign before the quote is sent."""
        taker = ApproveParams(
            program_id=self.bought.program,
            source=self._stashed,
            delegate=self.order.taker,
            owner=self.stash,
            amount=self.gross,
        )
        return [
            self.sold.create_account(self.maker, self.maker),
            self.bought.create_account(self.maker, self.stash),
            self.bought.transfer(self.bought.account_of(self.maker), self._stashed, self.maker, self.gross),
            token.approve(taker),
        ]

    def setup(self) -> list[Instruction]:
        return [self.bought.create_account(self.order.taker, self.order.taker)]

    def swap(self) -> Instruction:
        taker = self.order.taker
        paid, received = self.sold.account_of(taker), self.sold.account_of(self.maker)
        return self.sold.transfer(paid, received, taker, self.order.amount)

    def other(self) -> Sequence[Instruction]:
        taker = self.order.taker
        payments = [(self.bought.account_of(taker), self.net)]
        if self.order.fee_account is not None and self.fee:
            payments.append((self.order.fee_account, self.fee))
        return [self.bought.transfer(self._stashed, recipient, taker, amount) for recipient, amount in payments]

    def cleanup(self) -> Instruction | None:
        """Return what turns wrapped SOL into SOL, if the taker buys it and did not ask for the wrapped form."""
        if self.bought.key != WRAPPED_SOL_MINT or not self.order.wraps_sol:
            return None
        taker, account = self.order.taker, self.bought.account_of(self.order.taker)
        return token.close_account(
            CloseAccountParams(program_id=self.bought.program, account=account, dest=taker, owner=taker)
        )
