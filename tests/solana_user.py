"""A user on the local Solana cluster, whose tokens the local swap API buys, and who signs what a build answers."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from solders.instruction import AccountMeta, Instruction
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction
from spl.token.constants import TOKEN_PROGRAM_ID
from spl.token.instructions import transfer, transfer_checked
from spl.token.models import TransferCheckedParams, TransferParams

from dev.solana import extensions
from dev.solana.history.addresses import resolve
from dev.solana.history.records import Landed
from partners.models import Partner
from sweepapi import networks
from sweepapi.solana.encoding.addresses import TOKEN_2022
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.rails.solana_v1.build.planning import plan_v1
from sweeps.rails.solana_v1.build.stages import SolanaSimulated
from sweeps.story.build import build_sweep
from tests.solana_swap_api import SwapMarket

DOLLAR = 10**6  # of a token with 6 decimals that costs a dollar


class SolanaUser:
    """A user of a partner's application; has SOL for fees, and no account for the output yet."""

    def __init__(self, market: SwapMarket, partner: Partner, **wallet: int) -> None:
        self.market, self.cluster, self.partner = market, market.cluster, partner
        self.keypair = self.cluster.create_wallet(**wallet)
        self.key = self.keypair.pubkey()

    def hold(self, amount: int = 5 * DOLLAR, **token: Any) -> Pubkey:
        """Give the user this amount of a new token; returns its mint."""
        mint = self.market.create_token(**token)
        self.cluster.faucet.give_tokens(self.key, mint, amount)
        return mint

    def request(self, sold: Mapping[Pubkey, int], /, **fields: Any) -> BuildRequest:
        """Return the request for these amounts of these mints into USDC, with fields changed."""
        request = BuildRequest(
            network=self.cluster.network,
            wallet=str(self.key),
            tokens=[TokenInput(str(mint), amount) for mint, amount in sold.items()],
            output_asset=str(self.cluster.usdc),
            slippage_bps=50,
        )
        return replace(request, **fields)

    def plan(self, sold: Mapping[Pubkey, int], /, **fields: Any) -> SolanaSimulated:
        return plan_v1(registry=networks.current(), partner=self.partner, request=self.request(sold, **fields))

    def build(self, sold: Mapping[Pubkey, int], /, **fields: Any) -> dict[str, Any]:
        return build_sweep(
            networks.current(), partner=self.partner, request=self.request(sold, **fields), answered=dict
        )

    def sign(self, transaction: Mapping[str, Any]) -> VersionedTransaction:
        """Sign a transaction of an answer."""
        return VersionedTransaction(_message(transaction), [self.keypair])

    def sign_with_newest_blockhash(self, transaction: Mapping[str, Any]) -> VersionedTransaction:
        """Put the newest blockhash into a transaction of an answer, and sign that."""
        given = _message(transaction)
        message = MessageV0(
            given.header,
            given.account_keys,
            self.cluster.bank.blocks.latest.blockhash,
            given.instructions,
            given.address_table_lookups,
        )
        return VersionedTransaction(message, [self.keypair])

    def sign_v1(self, transaction: Mapping[str, Any]) -> VersionedTransaction:
        """Rewrite a transaction of an answer in version 1, which has no lookup tables, and sign that."""
        message = _message(transaction)
        keys = resolve(self.cluster.bank.account, message)
        writable = [key for i, key in enumerate(keys.static) if message.is_maybe_writable(i)] + keys.writable
        named = [AccountMeta(key, is_signer=key == self.key, is_writable=key in writable) for key in keys.all]
        instructions = [
            Instruction(keys.all[one.program_id_index], one.data, [named[i] for i in one.accounts])
            for one in message.instructions
        ]
        return self.cluster.sign_v1(self.keypair, instructions)

    def send(self, built: Mapping[str, Any], *, version: int = 0) -> list[Landed]:
        """Sign and land every transaction of an answer."""
        sign = [self.sign, self.sign_v1][version]
        return [self.cluster.send(sign(transaction)) for transaction in built["transactions"]]

    def spend(self, account: Pubkey, mint: Pubkey, amount: int) -> None:
        """Send tokens to a new wallet."""
        recipient = self.cluster.faucet.create_account(self.cluster.create_wallet().pubkey(), mint)
        params = TransferParams(
            program_id=TOKEN_PROGRAM_ID, source=account, dest=recipient, owner=self.key, amount=amount
        )
        self.cluster.faucet.run([transfer(params)], self.keypair)

    def balance(self, mint: Pubkey) -> int:
        return self.cluster.token_balance(self.key, mint)

    def has_account(self, mint: Pubkey) -> bool:
        return self.cluster.bank.account(self.cluster.faucet.associated_account(self.key, mint)) is not None

    @property
    def lamports(self) -> int:
        return self.cluster.lamports(self.key)


def hold_withholding(user: SolanaUser) -> Pubkey:
    """Give the user a token with a transfer fee, of which the account withholds some; returns its mint."""
    faucet = user.cluster.faucet
    mint = user.market.create_token(program=TOKEN_2022, extensions=[extensions.transfer_fee(100)])
    payer = user.cluster.create_wallet()
    paid = transfer_checked(
        TransferCheckedParams(
            program_id=TOKEN_2022,
            source=faucet.give_tokens(payer.pubkey(), mint, 200 * DOLLAR),
            mint=mint,
            dest=faucet.create_account(user.key, mint),
            owner=payer.pubkey(),
            amount=200 * DOLLAR,
            decimals=6,
        )
    )
    faucet.run([paid], payer)
    return mint


def _message(transaction: Mapping[str, Any]) -> MessageV0:
    """Return what the user is asked to sign."""
    message = VersionedTransaction.from_bytes(base64.b64decode(transaction["transaction"])).message
    assert isinstance(message, MessageV0)
    return message
