"""Finds the tokens that a wallet may hold: candidates of the caller, the chain's own list, and newly received ones.

Two round trips. The first reads every candidate's balance in one ``eth_call``, in which a token that burns all gas
takes the answers of others with it. So the second asks the tokens without an answer in small groups, and reads the
logs of transfers to the wallet; callers ask what still has no answer one by one. If a provider does not search logs, or
finds too many, only the tokens found there are missing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.chain.blocks import head_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.abi_encoding import WORD_BYTES
from sweepapi.evm.tokens.erc20 import BALANCE_OF, TRANSFER_TOPIC
from sweepapi.evm.trial.attempts import MAX_GAS
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import BadResponseError, CallFailedError, ChainUnavailableError

MAX_CANDIDATES = 500
MAX_LOGS = 5_000
BALANCE_GAS = 200_000  # several times what tokens behind a proxy need
GROUP = 8
ERC20_TOPICS = 3  # an ERC-721 has the same event with its id as another topic


class _BalanceOf(Function):
    """Decodes what is not a balance, as of an account without code, instead of taking it for a call that failed."""

    def decode(self, output: bytes) -> tuple[int | None]:
        """Return the balance, or None."""
        return (int.from_bytes(output[:WORD_BYTES]),) if len(output) >= WORD_BYTES else (None,)


_BALANCE_OF = _BalanceOf(BALANCE_OF.signature)


@dataclass(frozen=True)
class Holdings:
    """The tokens to read again."""

    tokens: Sequence[str]  # with a balance, received lately, or that failed to answer among others
    without_balance: Sequence[str]  # candidates that are not tokens
    omitted_count: int  # candidates above the maximum
    logs_read: bool


@dataclass(frozen=True)
class WalletReading:
    """A reading of one wallet."""

    chain: Chain
    pool: ProviderPool
    wallet: str
    log_blocks: int  # how many of the newest blocks are searched for transfers

    def find(self, candidates: Iterable[str], *, exclude: str) -> Holdings:
        """Find what the wallet holds, without the token that is excluded; raises ``ChainUnavailableError``."""
        known = [token for token in dict.fromkeys([*candidates, *self.chain.tokens.values()]) if token != exclude]
        asked = known[:MAX_CANDIDATES]
        head, answer = self.pool.batch([head_call(), self._balances(asked, gas=MAX_GAS)])
        balances = _answered(asked, answer)
        received, more = self._second_read(head.number, [token for token in asked if token not in balances])
        balances |= more
        new = [token for token in received or () if token not in known and token != exclude]
        room = MAX_CANDIDATES - len(asked)
        return Holdings(
            tokens=[*(token for token in asked if balances.get(token, 1)), *new[:room]],
            without_balance=[token for token in asked if balances.get(token, 0) is None],
            omitted_count=len(known) - len(asked) + max(len(new) - room, 0),
            logs_read=received is not None,
        )

    def _second_read(self, head: int, silent: Sequence[str]) -> tuple[list[str] | None, dict[str, int | None]]:
        """Return the tokens of transfers to the wallet, None if they can't be read, and balances of silent tokens."""
        groups = [silent[start : start + GROUP] for start in range(0, len(silent), GROUP)]
        calls = [self._balances(group, gas=BALANCE_GAS * len(group)) for group in groups]
        try:
            received, *answers = self.pool.batch([self._received(head), *calls])
        except ChainUnavailableError:
            # Anyone can fill the logs; the answer to this query may be what no provider can deliver.
            received, answers = None, self.pool.batch(calls)
        balances: dict[str, int | None] = {}
        for group, answer in zip(groups, answers, strict=True):
            balances |= _answered(group, answer)
        return received if isinstance(received, list) else None, balances

    def _balances(self, tokens: Sequence[str], *, gas: int) -> Call:
        return multicall(
            multicall3=self.chain.multicall3,
            reads=[Read(token, _BALANCE_OF, (self.wallet,)) for token in tokens],
            error_policy=ErrorPolicy.EXECUTION,
            gas=gas,
        )

    def _received(self, head: int) -> Call:
        query = {
            "fromBlock": hex(max(head - self.log_blocks + 1, 0)),
            "toBlock": hex(head),
            "topics": [TRANSFER_TOPIC, None, f"0x{self.wallet[2:].lower():0>64}"],
        }
        return Call("eth_getLogs", (query,), _tokens, ErrorPolicy.ANY)


def _answered(tokens: Sequence[str], answer: Any) -> dict[str, int | None]:  # noqa: ANN401 - reads, or their failure
    """Return the balances, None for what returned something else; a token whose call failed is missing."""
    if isinstance(answer, CallFailedError):
        return {}
    return {
        token: balance for token, found in zip(tokens, answer, strict=True) if found is not None for balance in found
    }


def _tokens(value: object) -> list[str]:
    """Return the tokens whose transfers a node found, the newest first; what is not an ERC-20 is found out later."""
    if not isinstance(value, list) or len(value) > MAX_LOGS:
        raise BadResponseError("expected fewer logs")
    found = {str(log.get("address")): None for log in reversed(value) if _is_of_erc20(log)}
    return [responses.address(address) for address in found]


def _is_of_erc20(log: object) -> bool:
    topics = log.get("topics") if isinstance(log, dict) else None
    return isinstance(topics, list) and len(topics) == ERC20_TOPICS
