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
from dev.solana.swap_api.deal import Deal, Mint
from dev.solana.swap_api.orders import Order, RefusedError

BASE64 = {"encoding": "base64", "commitment": "confirmed"}


@dataclass(frozen=True)
class Price:
    """What a whole token costs, in millionths of a dollar."""

    decimals: int
    micro_usd: int


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
        gross = self._gross(order)
        sold, bought = self._mints(order)
        stash = Keypair()
        deal = Deal(order=order, maker=self.key, stash=stash.pubkey(), sold=sold, bought=bought, gross=gross)
        if deal.net == 0:
            raise RefusedError("The amount is too small")
        latest = self.rpc.call("getLatestBlockhash", {"commitment": "confirmed"})["value"]
        self._land(deal, stash, Hash.from_string(latest["blockhash"]))
        return answers.build_answer(deal, self._tables(), latest)

    def _gross(self, order: Order) -> int:
        sold, bought = self.prices.get(order.input_mint), self.prices.get(order.output_mint)
        if sold is None or bought is None:
            raise RefusedError("No routes found")
        gross: int
        gross = order.amount * sold.micro_usd * 10**bought.decimals // (bought.micro_usd * 10**sold.decimals)
        return gross

    def _mints(self, order: Order) -> tuple[Mint, Mint]:
        """Return the mints of an order, with their token programs; raises if it can't be paid its fee."""
        keys = [order.input_mint, order.output_mint, *([order.fee_account] if order.fee_account else [])]
        sold, bought, *fee_account = self._accounts(keys)
        if fee_account and (fee_account[0] is None or _data(fee_account[0])[:32] != bytes(order.output_mint)):
            raise RefusedError("feeAccount is not a token account of outputMint")
        if sold is None or bought is None:
            raise RefusedError("No such mint")
        return self._mint(order.input_mint, sold), self._mint(order.output_mint, bought)

    def _mint(self, key: Pubkey, account: dict[str, Any]) -> Mint:
        return Mint(key, self.prices[key].decimals, Pubkey.from_string(account["owner"]))

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
        # The local cluster executes a transaction before it answers; its preflight refuses one that would fail.
        self.rpc.call("sendTransaction", encoded, {"encoding": "base64", "preflightCommitment": "confirmed"})


def _data(account: dict[str, Any]) -> bytes:
    return base64.b64decode(account["data"][0])
