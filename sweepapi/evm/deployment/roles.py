"""The roles of ``contracts/roles.json``: the functions that each may call, and after which delay."""

import json
from dataclasses import dataclass
from pathlib import Path

# The access manager's built-in role: its holders grant all others, and may call every function without a role.
ADMIN = 0


@dataclass(frozen=True)
class Role:
    """A role of the access manager; ``guardian`` is the role that may cancel what its holders schedule."""

    number: int
    name: str
    execution_delay_seconds: int
    guardian: int
    functions: frozenset[str]  # signatures


@dataclass(frozen=True)
class Roles:
    """All roles except admin."""

    admin_delay_seconds: int
    listed: tuple[Role, ...]

    def of_function(self, signature: str) -> int:
        """Return the role that may call a function: admin if no role lists it."""
        return next((role.number for role in self.listed if signature in role.functions), ADMIN)

    def label(self, number: int) -> str:
        """Return a role's name and number."""
        names = {ADMIN: "admin"} | {role.number: role.name for role in self.listed}
        return f"{names.get(number, 'unnamed')} ({number})"


def load_roles(path: Path) -> Roles:
    fields = json.loads(path.read_text(encoding="utf-8"))
    return Roles(
        admin_delay_seconds=fields["adminDelaySeconds"],
        listed=tuple(
            Role(
                number=role["id"],
                name=role["name"],
                execution_delay_seconds=role["executionDelaySeconds"],
                guardian=role["guardian"],
                functions=frozenset(role["functions"]),
            )
            for role in fields["roles"]
        ),
    )
