"""What is measured of the detector: real tokens that it suspects, imitations that it finds, and its CPU.

The allow-list is off: tokens are judged by their symbols and names, whether listed or not. They are compared with what
discover compares with: the symbols of the chain's own tokens and of listed ones.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import cycle, islice
from pathlib import Path

from django.conf import settings

from lab.bench.deception.real_tokens import LISTS, RealToken
from lab.bench.report import Section, Target
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.chains_file import load_chains
from sweepapi.evm.tokens.deception import Deception, KnownSymbols, deception
from sweepapi.evm.tokens.erc20 import token_identity
from sweepapi.evm.tokens.listed_tokens import listed_symbols

IMITATIONS = Path(__file__).parent / "imitations.json"
CHAINS = {chain.chain_id: chain for chain in load_chains(settings.BASE_DIR / "config" / "chains.toml").values()}
ETHEREUM = 1
MOST_ALARMS_PERCENT, LEAST_FOUND_PERCENT = 1.0, 95.0
CANDIDATES, MOST_MILLISECONDS = 500, 20.0


@contextmanager
def prepared() -> Iterator[Sequence[Callable[[], Section]]]:
    """Yield what to measure."""
    yield [false_alarms, imitations, cpu]


def false_alarms() -> Section:
    """Judge each list twice: with all listed symbols, and as if the token's own were not listed, so not equal to it."""
    rows, targets = [], []
    for name, read in LISTS.items():
        tokens = [token for token in read() if not _is_own(token)]
        alarms = [token for token in tokens if _judged(token) is not None]
        unlisted = [token for token in tokens if _judged(token, unlisted=token.symbol) is not None]
        row = {"list": name, "tokens": len(tokens), "suspects": len(alarms), "suspectsIfUnlisted": len(unlisted)}
        rows.append(row | {"names": ", ".join(sorted({token.name for token in unlisted}))})
        title = f"percent of the tokens on {name}'s list that are suspects"
        targets.append(Target(title, _percent(alarms, tokens), MOST_ALARMS_PERCENT))
        targets.append(Target(f"{title} if unlisted", _percent(unlisted, tokens), MOST_ALARMS_PERCENT))
    return Section("Real tokens", rows, targets)


def imitations() -> Section:
    """Judge the imitations as symbols of tokens on Ethereum; only ``imitates_symbol`` counts as found."""
    kinds = json.loads(IMITATIONS.read_text(encoding="utf-8"))
    rows, found_in_all, all_of_them = [], [], []
    for kind, ones in kinds.items():
        found = [one for one in ones if _judged(_named(one["symbol"])) is Deception.IMITATION]
        missed = ", ".join(ascii(one["symbol"]) for one in ones if one not in found)
        rows.append({"kind": kind, "imitations": len(ones), "found": len(found), "missed": missed})
        found_in_all += found
        all_of_them += ones
    title = f"percent of {len(all_of_them)} imitations that are found"
    target = Target(title, _percent(found_in_all, all_of_them), LEAST_FOUND_PERCENT, at_least=True)
    return Section("Imitations", rows, [target])


def cpu() -> Section:
    """Judge as many tokens as a wallet may name."""
    tokens = list(islice(cycle(LISTS["Uniswap"]()), CANDIDATES))
    _judged(tokens[0])
    started = time.process_time()
    for token in tokens:
        _judged(token)
    used = round(1_000 * (time.process_time() - started), 1)
    rows = [{"tokens": CANDIDATES, "cpuMilliseconds": used}]
    return Section("CPU", rows, [Target(f"milliseconds of CPU for {CANDIDATES} tokens", used, MOST_MILLISECONDS)])


def _judged(token: RealToken, *, unlisted: str | None = None) -> Deception | None:
    identity = token_identity([(18,), (token.symbol,), (token.name,)])
    return None if identity is None else deception(*identity.reported, known=_known(_chain(token).chain_id, unlisted))


@lru_cache(maxsize=256)
def _known(chain_id: int, unlisted: str | None) -> KnownSymbols:
    own, same = (CHAINS[chain_id].native_symbol, *CHAINS[chain_id].tokens), (unlisted or "").casefold()
    return KnownSymbols.of(own, [symbol for symbol in listed_symbols() if symbol.casefold() != same])


def _chain(token: RealToken) -> Chain:
    """Return the token's chain, or Ethereum for one that has no entry in the chains file."""
    return CHAINS.get(token.chain_id, CHAINS[ETHEREUM])


def _is_own(token: RealToken) -> bool:
    """Return whether the chains file lists the token, or would list it by its symbol if it had the chain."""
    chain = _chain(token)
    if chain.chain_id != token.chain_id:
        return token.symbol in chain.tokens or token.symbol == chain.native_symbol
    return token.address in map(str.lower, (chain.wrapped_native, chain.reference_token, *chain.tokens.values()))


def _named(symbol: str) -> RealToken:
    return RealToken(ETHEREUM, "", symbol, "")


def _percent(part: Sequence[object], whole: Sequence[object]) -> float:
    return round(100 * len(part) / len(whole), 2)
