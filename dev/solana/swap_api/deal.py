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
class Between:
    """What a route of two steps buys with the first and sells with the second."""

    mint: Mint
    amount: int


@dataclass(frozen=True)
class Deal:
    """An order at the maker's price.

    ``stash`` owns the accounts that hold the output, and what is between: a key made for this quote alone, so that no
    other quote can spend its tokens. The taker never has what is between.
    """

    order: Order
    maker: Pubkey
    stash: Pubkey
    sold: Mint  # by the taker
    bought: Mint
    gross: int  # that the maker pays: to the taker, and the platform fee
    between: Between | None = None

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

    def preparation(self) -> list[Instruction]:
        """Return what the maker and the stash sign before the quote is sent."""
        between = [] if self.between is None else self._stashing(self.between.mint, self.between.amount)
        return [
            self.sold.create_account(self.maker, self.maker),
            *between,
            *self._stashing(self.bought, self.gross),
        ]

    def _stashing(self, mint: Mint, amount: int) -> list[Instruction]:
        """Return what puts tokens of the maker aside, for the taker to move."""
        stashed = mint.account_of(self.stash)
        taker = ApproveParams(
            program_id=mint.program, source=stashed, delegate=self.order.taker, owner=self.stash, amount=amount
        )
        return [
            mint.create_account(self.maker, self.stash),
            mint.transfer(mint.account_of(self.maker), stashed, self.maker, amount),
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
        stashed = self.bought.account_of(self.stash)
        paid = [self.bought.transfer(stashed, recipient, taker, amount) for recipient, amount in payments]
        return paid if self.between is None else [self._step_between(self.between), *paid]

    def _step_between(self, between: Between) -> Instruction:
        stashed, received = between.mint.account_of(self.stash), between.mint.account_of(self.maker)
        return between.mint.transfer(stashed, received, self.order.taker, between.amount)

    def cleanup(self) -> Instruction | None:
        """Return what turns wrapped SOL into SOL, if the taker buys it and did not ask for the wrapped form."""
        if self.bought.key != WRAPPED_SOL_MINT or not self.order.wraps_sol:
            return None
        taker, account = self.order.taker, self.bought.account_of(self.order.taker)
        return token.close_account(
            CloseAccountParams(program_id=self.bought.program, account=account, dest=taker, owner=taker)
        )
