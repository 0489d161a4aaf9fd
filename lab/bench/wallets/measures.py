"""What is measured of random wallets: promises, alternatives to the recommended basket, discover, and limits."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dev.chain.bad_tokens import OWNER
from dev.chain.deploy import deploying
from lab.bench.report import Section, Target
from lab.bench.service import Service
from lab.bench.wallets.executed import Kept, built, discovered, executed
from lab.bench.wallets.models import Plain, nitro_chain, op_stack, plain
from lab.bench.wallets.purses import Purse, dollars_per_unit, purse

WALLETS_OF_EACH_MODEL = 100
MODELS = {"no charge for data": plain, "OP stack": op_stack, "Nitro": nitro_chain}
MOST_DEVIATION, MOST_GAIN, MOST_DIFFERENCE, MOST_LIMIT = 0.01, 0.01, 0.02, 1.10


@dataclass
class Found:
    """What all wallets showed."""

    kept: list[Kept] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)  # of alternatives, as parts of the basket's value
    differences: list[float] = field(default_factory=list)  # of the nets of discover and build, as parts of the gross
    recommended: int = 0
    lost: int = 0  # recommended sweeps that cost more than they brought
    refused: int = 0


@contextmanager
def prepared() -> Iterator[Sequence[Callable[[], Section]]]:
    """Start the service in this process, and yield what to measure."""
    service = Service.start()
    with deploying(service.rpc, OWNER) as sender:
        delegate = sender.create("BatchAccount")
    worth = dollars_per_unit(service)
    yield [partial(_measure, service, name, worth, delegate) for name in MODELS]


def _measure(service: Service, name: str, worth: Mapping[str, float], delegate: str) -> Section:
    found = Found()
    with service.rolled_back(), MODELS[name](service) as model:
        for number in range(WALLETS_OF_EACH_MODEL):
            with service.rolled_back():
                _look(model, purse(model, worth, number), delegate, found)
    title = f"{WALLETS_OF_EACH_MODEL} wallets of small balances, {name}"
    return Section(title, list(_rows(found)), [replace(one, name=f"{name}: {one.name}") for one in _targets(found)])


def _look(model: Plain, one: Purse, delegate: str, found: Found) -> None:
    discovery = discovered(model, one)
    basket = [token["mint"] for token in discovery["bestBasket"]["tokens"]]
    sellable = [token["mint"] for token in discovery["tokens"] if token["verdict"] in ("sellable", "uneconomic")]
    answer = built(model, one, basket or sellable)
    if answer is None:
        found.refused += 1
        return
    results = [executed(model, one, answer, way, delegate) for way in answer["executions"]]
    found.kept += results
    if basket:
        found.recommended += 1
        found.lost += results[0].net < 0
        stated = int(discovery["bestBasket"]["economics"]["netOutput"])
        found.differences.append(abs(stated - int(answer["economics"]["netOutput"])) / results[0].gross)
    net = results[0].net if basket else 0
    for tokens in _alternatives(basket, sellable):
        other = built(model, one, tokens)
        if other is not None:
            result = executed(model, one, other, other["executions"][0], delegate)
            found.gains.append((result.net - net) / max(results[0].gross, 1))


def _alternatives(basket: Sequence[str], sellable: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the basket without its last token, and with one more; the best token alone if nothing is recommended."""
    if len(basket) > 1:
        yield basket[:-1]
    others = [token for token in sellable if token not in basket]
    if others:
        yield [*basket, others[0]]


def _rows(found: Found) -> Iterator[dict[str, Any]]:
    by_kind = defaultdict(list)
    for one in found.kept:
        by_kind[one.kind].append(one)
    for kind, kept in by_kind.items():
        limits = [one.limit_to_least for one in kept if one.limit_to_least is not None]
        yield {
            "way": kind,
            "executed": len(kept),
            "largest deviation": round(max(one.deviation for one in kept), 4),
            "above 1 %": sum(one.deviation > MOST_DEVIATION for one in kept),
            "largest error of gas": round(max(abs(one.promised_gas - one.gas) / one.gas for one in kept), 4),
            "largest limit to least": round(max(limits, default=0), 3),
        }


def _targets(found: Found) -> Iterator[Target]:
    limits = [one.limit_to_least for one in found.kept if one.limit_to_least is not None]
    yield Target(
        "largest deviation from the promise", round(max(one.deviation for one in found.kept), 4), MOST_DEVIATION
    )
    yield Target(f"recommended sweeps that lost money, of {found.recommended}", found.lost, 0)
    yield Target("largest gain of an alternative", round(max(found.gains, default=0), 4), MOST_GAIN)
    yield Target(
        "largest difference of discover and build", round(max(found.differences, default=0), 4), MOST_DIFFERENCE
    )
    if limits:
        yield Target("largest limit as a multiple of the least that suffices", round(max(limits), 3), MOST_LIMIT)
    yield Target("wallets whose build was refused", found.refused, 0)
