"""Checks of the access manager: the role of each function, its holders and delays, and who may cancel their calls."""

from collections.abc import Iterator, Sequence
from typing import Any

from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.deployment import access_manager as manager
from sweepapi.evm.deployment.differences import (
    NO_ANSWER,
    Check,
    DeploymentDifference,
    Operation,
    equals,
    only_affecting,
)
from sweepapi.evm.deployment.roles import ADMIN, Role
from sweepapi.evm.deployment.specification import BATCHES, Addresses, RoleGrant, Specification

NO = False


def permissions(specification: Specification, at: Addresses) -> Iterator[Check]:
    """Yield the checks of the access manager; the admin's grant comes last."""
    for name in BATCHES:
        yield from only_affecting(name, _function_roles(specification, at, name))
    for name in BATCHES:
        yield from only_affecting(name, _target(at, name))
    for role in specification.roles.listed:
        yield from _role(specification, at, role)
    for number in (ADMIN, *(role.number for role in specification.roles.listed)):
        grant_delay = Read(at.manager, manager.GET_ROLE_GRANT_DELAY, (number,))
        yield equals(f"grant delay of {specification.roles.label(number)} in seconds", grant_delay, 0)
    for grant in specification.grants:
        yield _grant(specification, at, grant)


def _function_roles(specification: Specification, at: Addresses, name: str) -> Iterator[Check]:
    roles = specification.roles
    for function, role in specification.function_roles(name):
        signature, selector = function.signature.partition("(")[0], function.selector
        set_role = manager.SET_TARGET_FUNCTION_ROLE.encode(at.of(name), [selector], role)
        remedy = Operation(f"{name}.{signature} needs the role {roles.label(role)}", set_role)
        read = Read(at.manager, manager.GET_TARGET_FUNCTION_ROLE, (at.of(name), selector))
        what = f"role of {name}.{signature}"
        yield equals(what, read, role, remedy=_unless_default(role, remedy), show=roles.label)


def _target(at: Addresses, name: str) -> Iterator[Check]:
    target = (at.of(name),)
    yield equals(f"{name} closed", Read(at.manager, manager.IS_TARGET_CLOSED, target), NO)
    yield equals(f"{name} admin delay in seconds", Read(at.manager, manager.GET_TARGET_ADMIN_DELAY, target), 0)


def _role(specification: Specification, at: Addresses, role: Role) -> Iterator[Check]:
    label = specification.roles.label
    name = label(role.number)
    set_guardian = manager.SET_ROLE_GUARDIAN.encode(role.number, role.guardian)
    remedy = Operation(f"{label(role.guardian)} may cancel what {name} schedules", set_guardian)
    guardian = Read(at.manager, manager.GET_ROLE_GUARDIAN, (role.number,))
    remedy_or_none = _unless_default(role.guardian, remedy)
    yield equals(f"guardian of {name}", guardian, role.guardian, remedy=remedy_or_none, show=label)
    yield equals(f"admin of {name}", Read(at.manager, manager.GET_ROLE_ADMIN, (role.number,)), ADMIN, show=label)


def _unless_default(role: int, remedy: Operation) -> Operation | None:
    """Return the remedy, or None for the admin role, which is a new manager's default."""
    return None if role == ADMIN else remedy


def _grant(specification: Specification, at: Addresses, grant: RoleGrant) -> Check:
    name = specification.roles.label(grant.role)
    remedy = Operation(
        f"{grant.account} holds {name} with a delay of {grant.execution_delay_seconds} s",
        manager.GRANT_ROLE.encode(grant.role, grant.account, grant.execution_delay_seconds),
    )

    def compare(answer: Any, now: int) -> Iterator[DeploymentDifference]:  # noqa: ANN401 - as the ABI decodes it
        since, delay, _, change_at = answer or (0, 0, 0, 0)
        if not 0 < since <= now or delay != grant.execution_delay_seconds or change_at != 0:
            wanted = f"yes, delay {grant.execution_delay_seconds} s"
            yield DeploymentDifference(f"{grant.account} holds {name}", wanted, access_text(answer), remedy)

    return Check(Read(at.manager, manager.GET_ACCESS, (grant.role, grant.account)), compare)


def access_text(answer: Sequence[int] | None) -> str:
    """Describe the result of ``getAccess``."""
    if answer is None:
        return NO_ANSWER
    since, delay, pending_delay, change_at = answer
    change = f", {pending_delay} s from {change_at} on" if change_at else ""
    return f"yes, delay {delay} s{change}, since {since}" if since else "no"
