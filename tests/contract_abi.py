"""The exported ABIs of our contracts, as tests compare them with Python's types."""

from typing import Any

from sweepapi.evm.encoding.abi import exported_abi


def entry(contract: str, kind: str, name: str) -> dict[str, Any]:
    """Return the only entry of this kind and name."""
    found: dict[str, Any]
    (found,) = [item for item in exported_abi(contract) if item["type"] == kind and item.get("name") == name]
    return found


def names(components: list[dict[str, Any]]) -> list[str]:
    return [component["name"] for component in components]


def camel(name: str) -> str:
    """Return a Python name as Solidity spells it."""
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def camel_fields(struct: type) -> list[str]:
    """Return the fields of a dataclass as Solidity spells them."""
    return [camel(name) for name in struct.__dataclass_fields__]  # type: ignore[attr-defined]
