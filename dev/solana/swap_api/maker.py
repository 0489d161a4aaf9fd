"""The maker: prices an order, puts the output aside on the cluster, and answers with the taker's instructions."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from solders.address_lookup_table_account import AddressLookupTable
from solders.hash import Hash
from solders.keypair import Keypair
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction
from spl.token.constants import WRAPPED_SOL_MINT

from dev.chain.rpc import Rpc
from dev.solana.swap_api import answers
from dev.solana.swap_api.deal import Between, Deal, Mint
from dev.solana.swap_api.orders import Order, RefusedError

BASE64 = {"encoding": "base64", "commitment": "confirmed"}
TWO_STEPS_ACCOUNTS = 16  # of a route with a token between


@dataclass(frozen=True)
class Price:
    """What a whole token costs, in millionths of a dollar."""

    decimals: int
    micro_usd: int
    through: Pubkey | None = None  # the token through which it is sold, if the route may have the accounts


@dataclass(frozen=True)
class Maker:
    """Trades the tokens that have a price, and needs a balance of those that it sells."""

    rpc: Rpc
    keypair: Keypair
    prices: Mapping[Pubkey, Price]
    lookup_tables: Sequence[Pubkey] = ()  # named in every answer

    @property
    def key(self) -> Pubkey:
        return self.keypair.pubkey()

    def build(self, order: Order) -> dict[str, Any]:
        """Return the answer to an order; raises ``RefusedError`` if the maker does not fill it."""
        if order.input_mint == WRAPPED_SOL_MINT and order.wraps_sol:
            raise RefusedError("The maker does not wrap SOL")
        gross, stash = self._worth(order.amount, order.input_mint, order.output_mint), Keypair()
        sold, bought, between = self._mints(order)
        deal = Deal(
            order=order, maker=self.key, stash=stash.pubkey(), sold=sold, bought=bought, gross=gross, between=between
        )
        if deal.net == 0:
            raise RefusedError("The amount is too small")
        latest = self.rpc.call("getLatestBlockhash", {"commitment": "confirmed"})["value"]
        self._land(deal, stash, Hash.from_string(latest["blockhash"]))
        return answers.build_answer(deal, self._tables(), latest, unit_price=self._unit_price(order.price_percentile))

    def dollars(self, mint: str) -> tuple[float, int] | None:
        """Return what a whole token costs, and its decimals; None for one that the maker does not trade."""
        price = self.prices.get(Pubkey.from_string(mint))
        return None if price is None else (price.micro_usd / 1_000_000, price.decimals)

    def _worth(self, amount: int, sold_mint: Pubkey, bought_mint: Pubkey) -> int:
        """Return the amount of another token that is worth this one; raises if either has no price."""
        sold, bought = self.prices.get(sold_mint), self.prices.get(bought_mint)
        if sold is None or bought is None:
            raise RefusedError("No routes found")
        worth: int
        worth = amount * sold.micro_usd * 10**bought.decimals // (bought.micro_usd * 10**sold.decimals)
        return worth

    def _mints(self, order: Order) -> tuple[Mint, Mint, Between | None]:
        """Return the mints of an order, with their token programs; raises if it can't be paid its fee."""
        through = self._through(order)
        wanted = [order.input_mint, order.output_mint, *([through] if through else [])]
        found = self._accounts([*wanted, *([order.fee_account] if order.fee_account else [])])
        if order.fee_account and (found[-1] is None or _data(found[-1])[:32] != bytes(order.output_mint)):
            raise RefusedError("feeAccount is not a token account of outputMint")
        sold, bought, *rest = [self._mint(key, account) for key, account in zip(wanted, found, strict=False)]
        amount = 0 if through is None else self._worth(order.amount, order.input_mint, through)
        return sold, bought, Between(rest[0], amount) if rest else None

    def _through(self, order: Order) -> Pubkey | None:
        through = self.prices[order.input_mint].through
        is_short = order.max_accounts < TWO_STEPS_ACCOUNTS or through == order.output_mint
        return None if is_short else through

    def _mint(self, key: Pubkey, account: dict[str, Any] | None) -> Mint:
        if account is None:
            raise RefusedError("No such mint")
        return Mint(key, self.prices[key].decimals, Pubkey.from_string(account["owner"]))

    def _unit_price(self, percentile: int) -> int:
        """Return the price of a compute unit, in micro-lamports, that so many recent blocks did not exceed."""
        recent = sorted(row["prioritizationFee"] for row in self.rpc.call("getRecentPrioritizationFees", []))
        return recent[(len(recent) - 1) * percentile // 100] if recent else 0

    def _tables(self) -> dict[Pubkey, list[Pubkey]]:
        accounts = self._accounts(self.lookup_tables) if self.lookup_tables else []
        contents = [AddressLookupTable.deserialize(_data(account)).addresses for account in accounts if account]
        return dict(zip(self.lookup_tables, contents, strict=True))

    def _accounts(self, keys: Sequence[Pubkey]) -> list[dict[str, Any] | None]:
        accounts: list[dict[str, Any] | None]
        accounts = self.rpc.call("getMultipleAccounts", [str(key) for key in keys], BASE64)["value"]
        return accounts

    def _land(self, deal: Deal, stash: Keypair, blockhash: Hash) -> None:
        message = MessageV0.try_compile(self.key, deal.preparation(), [], blockhash)
        transaction = VersionedTransaction(message, [self.keypair, stash])
        encoded = base64.b64encode(bytes(transaction)).decode()
        # Both local clusters execute a transaction before they answer; their preflight refuses one that would fail.
        self.rpc.call("sendTransaction", encoded, {"encoding": "base64", "preflightCommitment": "confirmed"})


def _data(account: dict[str, Any]) -> bytes:
    return base64.b64decode(account["data"][0])
