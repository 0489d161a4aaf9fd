"""Checks of what sweeps may call: the venues, and the functions of routers. A deployment lists what is missing."""

from collections.abc import Iterator
from typing import Any

from sweepapi.evm.chain.chains import POOL_KINDS, Venue
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.deployment import access_manager as manager
from sweepapi.evm.deployment.differences import Check, DeploymentDifference, Operation, display
from sweepapi.evm.deployment.specification import Addresses, AllowedCall, Specification
from sweepapi.evm.encoding.abi import Function

ALLOWED_ROUTERS = Function("allowedRouters()", "((address,bytes4,address)[])")
ALLOW_ROUTER = Function("allowRouter(address,bytes4,address)")
_VENUE = "(address,uint8,uint8,uint16,bytes4,bytes32)"
VENUES = Function("venues()", f"((uint16,{_VENUE})[])")
LIST_VENUE = Function(f"listVenue(uint16,{_VENUE})")


def allow_lists(specification: Specification, at: Addresses, name: str) -> Iterator[Check]:
    """Yield the checks of one contract."""
    yield _venues(specification, at, name)
    yield _routers(specification, at, name)


def _venues(specification: Specification, at: Addresses, name: str) -> Check:
    configured = {venue.id: venue for venue in specification.chain.venues}

    def compare(answer: Any, _now: int) -> Iterator[DeploymentDifference]:  # noqa: ANN401 - as the ABI decodes it
        listed: dict[int, tuple[Any, ...]] = dict((answer or [[]])[0])
        for number, venue in configured.items():
            yield from _compare_venue(at, name, venue, listed.get(number))
        for number in sorted(listed.keys() - configured.keys()):
            yield DeploymentDifference(f"{name} lists venue {number}", "no", _venue_text(listed[number]))

    return Check(Read(at.of(name), VENUES), compare)


def _compare_venue(
    at: Addresses, name: str, venue: Venue, listed: tuple[Any, ...] | None
) -> Iterator[DeploymentDifference]:
    wanted = _venue_tuple(venue)
    if listed == wanted:
        return
    what = f"{name} lists venue {venue.id} ({venue.name})"
    if listed is not None:  # the contract never lists another venue under an id
        yield DeploymentDifference(what, _venue_text(wanted), _venue_text(listed))
        return
    # The admin may call `listVenue` until it is assigned to a role.
    remedy = Operation(what, manager.EXECUTE.encode(at.of(name), LIST_VENUE.encode(venue.id, wanted)))
    yield DeploymentDifference(what, _venue_text(wanted), "no", remedy)


def _venue_tuple(venue: Venue) -> tuple[Any, ...]:
    """Return the venue as the ABI encodes and decodes it."""
    kind, code_hash = POOL_KINDS[venue.kind].number, bytes.fromhex(venue.init_code_hash[2:])
    return (venue.deployer.lower(), kind, venue.salt_rule.value, venue.fee_bps, venue.callback, code_hash)


def _venue_text(venue: tuple[Any, ...]) -> str:
    deployer, kind, salt_rule, fee_bps, callback, code_hash = (display(value) for value in venue)
    pools = f"kind {kind}, fee {fee_bps} bps, callback {callback}"
    return f"{pools}, created by {deployer} with salt rule {salt_rule} and code hash {code_hash}"


def _routers(specification: Specification, at: Addresses, name: str) -> Check:
    wanted = {(call.router.lower(), call.function.selector): call for call in specification.allowed_calls}

    def compare(answer: Any, _now: int) -> Iterator[DeploymentDifference]:  # noqa: ANN401 - as the ABI decodes it
        spenders = {(router, selector): spender for router, selector, spender in (answer or [[]])[0]}
        for key, call in wanted.items():
            yield from _compare_call(at, name, call, spenders.get(key))
        for router, selector in sorted(spenders.keys() - wanted.keys()):
            what = f"{name} allows {display(selector)} of {display(router)}"
            yield DeploymentDifference(what, "no", _spender_text(spenders[router, selector]))

    return Check(Read(at.of(name), ALLOWED_ROUTERS), compare)


def _compare_call(at: Addresses, name: str, call: AllowedCall, spender: str | None) -> Iterator[DeploymentDifference]:
    if spender == call.router.lower():  # every supported kind of router pulls approved tokens itself
        return
    function = call.function.signature.partition("(")[0]
    allow = ALLOW_ROUTER.encode(call.router, call.function.selector, call.router)
    yield DeploymentDifference(
        f"{name} allows {function} {display(call.function.selector)} of {call.router}",
        _spender_text(call.router),
        "no" if spender is None else _spender_text(spender),
        # The admin may call `allowRouter` until it is assigned to a role.
        Operation(f"{name} allows {function} of {call.router}", manager.EXECUTE.encode(at.of(name), allow)),
    )


def _spender_text(spender: str) -> str:
    return f"spender {display(spender)}"
