"""Mints of both token programs, and what Token-2022's extensions make of a transfer."""

from dataclasses import dataclass

from solders.pubkey import Pubkey
from solders.token.state import Mint as Layout

from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.encoding.addresses import TOKEN_PROGRAMS
from sweepapi.solana.encoding.extensions import AccountType, Extension, extensions_of, key, number

MINT_BYTES = 82  # without extensions
_SUPPLY = slice(36, 44)
# In TransferFeeConfig, after two keys; a fee is its first epoch, its maximum and its rate.
_WITHHELD_AT, _OLDER_FEE_AT, _NEWER_FEE_AT = 64, 72, 90
_AMOUNT_BYTES = 8


@dataclass(frozen=True)
class TransferFee:
    """What a mint withholds of each transfer from an epoch on."""

    epoch: int
    maximum: int
    bps: int


@dataclass(frozen=True)
class Mint:
    """A mint, with the extensions that restrict its transfers."""

    program: Pubkey
    decimals: int
    supply: int
    older_fee: TransferFee | None = None
    newer_fee: TransferFee | None = None
    transfer_hook: Pubkey | None = None
    is_non_transferable: bool = False
    is_paused: bool = False
    metadata: bytes | None = None  # Token-2022's extension
    withheld: int = 0  # the fees of transfers that were harvested, and not taken yet

    @property
    def is_unique(self) -> bool:
        """Whether only one token of it exists, as of a collectible."""
        return self.decimals == 0 and self.supply == 1

    def transfer_tax_bps(self, epoch: int) -> int:
        """Return what it keeps of a transfer in this epoch; less of one for which that exceeds its highest fee."""
        older, newer = self.older_fee, self.newer_fee
        if older is None or newer is None:
            return 0
        fee = newer if epoch >= newer.epoch else older
        return fee.bps if fee.maximum > 0 else 0


def mint(account: ClusterAccount) -> Mint | None:
    """Return the mint that this account is, or None if it is not an initialized one."""
    if account.owner not in TOKEN_PROGRAMS:
        return None
    try:
        return _mint(account)
    except ValueError:
        return None


def has_only_burnt_and_harvested(before: ClusterAccount, after: ClusterAccount | None) -> bool:
    """Whether a mint is as before but for tokens that were burnt, and fees of transfers that were harvested to it."""
    was, becomes = mint(before), None if after is None else mint(after)
    if was is None or becomes is None or after is None or before.lamports != after.lamports:
        return False
    is_direction_right = becomes.supply <= was.supply and becomes.withheld >= was.withheld
    return is_direction_right and _without_amounts(before) == _without_amounts(after)


def _without_amounts(account: ClusterAccount) -> bytes:
    """Return a mint's data without its supply and the fees that were harvested to it."""
    data = bytearray(account.data)
    data[_SUPPLY] = bytes(_AMOUNT_BYTES)
    extensions = extensions_of(account.owner, account.data, base_bytes=MINT_BYTES, account_type=AccountType.MINT)
    if Extension.TRANSFER_FEE_CONFIG in extensions:
        at = data.index(extensions[Extension.TRANSFER_FEE_CONFIG]) + _WITHHELD_AT
        data[at : at + _AMOUNT_BYTES] = bytes(_AMOUNT_BYTES)
    return bytes(data)


def _mint(account: ClusterAccount) -> Mint:
    extensions = extensions_of(account.owner, account.data, base_bytes=MINT_BYTES, account_type=AccountType.MINT)
    base = Layout.from_bytes(account.data[:MINT_BYTES])  # raises ValueError for one that is not initialized
    fees = extensions.get(Extension.TRANSFER_FEE_CONFIG)
    hook, pausable = extensions.get(Extension.TRANSFER_HOOK), extensions.get(Extension.PAUSABLE)
    return Mint(
        program=account.owner,
        decimals=base.decimals,
        supply=base.supply,
        older_fee=None if fees is None else _fee(fees, at=_OLDER_FEE_AT),
        newer_fee=None if fees is None else _fee(fees, at=_NEWER_FEE_AT),
        transfer_hook=None if hook is None else key(hook, at=32),
        is_non_transferable=Extension.NON_TRANSFERABLE in extensions,
        is_paused=pausable is not None and number(pausable, at=32, length=1) != 0,
        metadata=extensions.get(Extension.TOKEN_METADATA),
        withheld=0 if fees is None else number(fees, at=_WITHHELD_AT, length=_AMOUNT_BYTES),
    )


def _fee(config: bytes, *, at: int) -> TransferFee:
    return TransferFee(
        epoch=number(config, at=at, length=8),
        maximum=number(config, at=at + 8, length=8),
        bps=number(config, at=at + 16, length=2),
    )
