"""The public facts of each chain, as ``chains_file`` reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from eth_abi.abi import encode
from eth_abi.packed import encode_packed

from sweepapi.evm.chain.fee_models.costs import DataReads, FeeModel, UnsignedTransaction


@dataclass(frozen=True)
class FinalityRule:
    """When a block counts as safe and as final.

    ``safe`` and ``final`` are a block tag of the chain (``"safe"``, ``"finalized"``) or, for chains whose nodes do not
    support such tags, a number of blocks below the head.
    """

    safe: str | int
    final: str | int
    recheck_seconds: int
    max_head_age_seconds: int | None  # None if the chain produces no blocks while idle


class HoldingsSource(StrEnum):
    """What names the tokens that a wallet may hold."""

    CANDIDATES = "candidates"  # the caller
    TOKEN_LIST = "token_list"  # noqa: S105 - no password: those of the file, and of Uniswap's list
    TRANSFER_LOGS = "transfer_logs"
    ALCHEMY = "alchemy"  # asked if the environment has its URL, as the next one
    BLOCKSCOUT = "blockscout"


class SaltRule(IntEnum):
    """What the salt of a pool's CREATE2 address is the hash of, numbered as in the contracts.

    Their third rule, a pair without a fee, is for pools of Algebra, which no kind of venue quotes yet.
    """

    PAIR_AND_FEE = 0
    PACKED_PAIR = 2

    def source(self, pair: Sequence[str], fee: int) -> bytes:
        """Return what the salt is the hash of, for a sorted pair of tokens."""
        match self:
            case SaltRule.PAIR_AND_FEE:
                return encode(["address", "address", "uint24"], [*pair, fee])
            case SaltRule.PACKED_PAIR:
                return encode_packed(["address", "address"], pair)


@dataclass(frozen=True)
class PoolKind:
    """What all venues of a kind have in common, and in which fee and callback their forks may differ."""

    number: int  # in the contracts
    salt_rule: SaltRule
    fee_bps: int
    callback: str


POOL_KINDS = {
    "uniswap_v3": PoolKind(1, SaltRule.PAIR_AND_FEE, 0, "uniswapV3SwapCallback(int256,int256,bytes)"),
    "uniswap_v2": PoolKind(2, SaltRule.PACKED_PAIR, 30, "uniswapV2Call(address,uint256,uint256,bytes)"),
}


@dataclass(frozen=True)
class Venue:
    """A family of pools that the contracts call directly, with the contracts that find and price them."""

    name: str
    id: int  # never one that another venue of the chain had: signed routes refer to it
    kind: str  # as ``POOL_KINDS`` names it
    factory: str
    deployer: str  # creates the pools; the factory, unless the venue has an account for that
    salt_rule: SaltRule
    fee_bps: int  # what V2 pools keep of the input; zero for V3, whose pools know their fee
    callback: bytes  # the selector of the function that the pools call to be paid
    init_code_hash: str  # of a pool, 32 bytes as hex
    quoter: str
    fee_tiers: tuple[int, ...]  # in hundredths of a basis point; empty for V2


@dataclass(frozen=True)
class Router:
    """A swap router for what pool legs can't carry, with the contracts that find and price its pools."""

    name: str
    kind: str  # the module that quotes it, as ``pools/sources.py`` names it
    address: str
    factory: str
    quoter: str
    fee_tiers: tuple[int, ...]  # in hundredths of a basis point; empty for kinds with a single fee


@dataclass(frozen=True)
class Chain:
    """The configuration of one EVM chain."""

    name: str
    sandbox: bool  # for test keys only
    chain_id: int
    genesis_hash: str | None  # of the first block; None if the chain id alone tells the chain from others
    native_symbol: str
    wrapped_native: str
    reference_token: str  # the stablecoin in which values are stated
    tokens: Mapping[str, str]  # well-known ones, by symbol
    sandbox_tokens: Mapping[str, str]  # that force outcomes, by their names in sweeps/sandbox/outcomes.py
    holdings_sources: tuple[HoldingsSource, ...]  # in the order in which what they name is looked at
    connectors: tuple[str, ...]  # tokens, in addition to the wrapped coin, over which routers may swap
    fee_model: FeeModel  # how it charges for the data of transactions
    permit2: str
    multicall3: str
    block_explorer_url: str
    protocol_recipient: str | None  # None until the contracts are configured
    v4_fee_bps: int | None  # as above; the V4 contract's fixed fee, paid to the protocol's recipient
    payout_senders: tuple[str, ...]  # the wallets that pay partners what the ledger owes them; empty until then
    role_holders: Mapping[str, tuple[str, ...]]  # by role names of contracts/roles.json; empty until then
    change_signers: tuple[str, ...]  # who may announce changes of the contracts
    v5_contract: str | None  # None until the contracts are deployed
    v4_contract: str | None  # as above
    access_manager: str | None  # as above
    deployed_at_block: int | None  # as above; not after the block of the first of these contracts
    previous_fee_signer: str | None  # whose signatures may still be valid; set only during a rotation
    finality: FinalityRule
    venues: tuple[Venue, ...]
    routers: tuple[Router, ...]

    @property
    def network(self) -> str:
        """The chain's CAIP-2 identifier."""
        return f"eip155:{self.chain_id}"

    @property
    def middle_tokens(self) -> tuple[str, ...]:
        """The tokens over which a swap may go."""
        return (self.wrapped_native, *self.connectors)

    def data_reads(self, transactions: Sequence[UnsignedTransaction]) -> DataReads:
        """Return how to read what the data of each of these transactions costs."""
        return self.fee_model.reads(transactions, chain_id=self.chain_id, multicall3=self.multicall3)
