"""Who controls the contracts: the role that each function requires, its holders, their delays, and who can cancel."""

from collections.abc import Iterator, Sequence
from typing import Any

from sweepapi.evm.deployment import access_manager as manager
from sweepapi.evm.deployment.differences import NOTHING, Check, Difference, Operation, equal
from sweepapi.evm.deployment.roles import ADMIN, Role
from sweepapi.evm.deployment.specification import BATCHES, Addresses, Grant, Specification
from sweepapi.evm.multicall import Read

NO = False


def rights(specification: Specification, at: Addresses) -> Iterator[Check]:
    """Yield the checks of the access manager; the admin's own grant is the last."""
    yield from _function_roles(specification, at)
    yield from _targets(at)
    for role in specification.roles.listed:
        yield from _role(specification, at, role)
    for number in (ADMIN, *(role.number for role in specification.roles.listed)):
        grant_delay = Read(at.manager, manager.GET_ROLE_GRANT_DELAY, (number,))
        yield equal(f"grant delay of {specification.roles.label(number)} in seconds", grant_delay, 0)
    for grant in specification.grants:
        yield _grant(specification, at, grant)


def _function_roles(specification: Specification, at: Addresses) -> Iterator[Check]:
    roles = specification.roles
    for name in BATCHES:
        for function, role in specification.function_roles(name):
            signature, selector = function.signature.partition("(")[0], function.selector
            set_role = manager.SET_TARGET_FUNCTION_ROLE.encode(at.of(name), [selector], role)
            remedy = Operation(f"{name}.{signature} needs the role {roles.label(role)}", set_role)
            read = Read(at.manager, manager.GET_TARGET_FUNCTION_ROLE, (at.of(name), selector))
            what = f"role of {name}.{signature}"
            yield equal(what, read, role, remedy=_unless_default(role, remedy), show=roles.label)


def _targets(at: Addresses) -> Iterator[Check]:
    for name in BATCHES:
        target = (at.of(name),)
        yield equal(f"{name} closed", Read(at.manager, manager.IS_TARGET_CLOSED, target), NO)
        yield equal(f"{name} admin delay in seconds", Read(at.manager, manager.GET_TARGET_ADMIN_DELAY, target), 0)


def _role(specification: Specification, at: Addresses, role: Role) -> Iterator[Check]:
    label = specification.roles.label
    name = label(role.number)
    set_guardian = manager.SET_ROLE_GUARDIAN.encode(role.number, role.guardian)
    remedy = Operation(f"{label(role.guardian)} may cancel what {name} schedules", set_guardian)
    guardian = Read(at.manager, manager.GET_ROLE_GUARDIAN, (role.number,))
    remedy_or_none = _unless_default(role.guardian, remedy)
    yield equal(f"guardian of {name}", guardian, role.guardian, remedy=remedy_or_none, show=label)
    yield equal(f"admin of {name}", Read(at.manager, manager.GET_ROLE_ADMIN, (role.number,)), ADMIN, show=label)


def _unless_default(role: int, remedy: Operation) -> Operation | None:
    """Return the remedy, except for the default of a new manager, which a deployment never sets."""
    return None if role == ADMIN else remedy


def _grant(specification: Specification, at: Addresses, grant: Grant) -> Check:
    name = specification.roles.label(grant.role)
    remedy = Operation(
        f"{grant.account} holds {name} with a delay of {grant.execution_delay_seconds} s",
        manager.GRANT_ROLE.encode(grant.role, grant.account, grant.execution_delay_seconds),
    )

    def judge(result: Any, now: int) -> Iterator[Difference]:  # noqa: ANN401 - as the ABI decodes it
        since, delay, _, change_at = result or (0, 0, 0, 0)
        if not 0 < since <= now or delay != grant.execution_delay_seconds or change_at != 0:
            wanted = f"yes, delay {grant.execution_delay_seconds} s"
            yield Difference(f"{grant.account} holds {name}", wanted, access_text(result), remedy)

    return Check(Read(at.manager, manager.GET_ACCESS, (grant.role, grant.account)), judge)


def access_text(result: Sequence[int] | None) -> str:
    """Return the result of ``getAccess`` in words."""
    if result is None:
        return NOTHING
    since, delay, pending_delay, change_at = result
    change = f", {pending_delay} s from {change_at} on" if change_at else ""
    return f"yes, delay {delay} s{change}, since {since}" if since else "no"
