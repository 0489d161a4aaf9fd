"""Says what changed between two versions of the API, and which of it breaks clients.

Requests are closed: a client may send what was allowed, and nothing else. Answers are open: a client ignores fields and
codes that it does not know, and relies on the rest.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

# Of a number, a text or a list: those at which a greater value allows more, and those at which it allows less.
_GREATEST = ("maximum", "maxLength", "maxItems", "maxProperties")
_LEAST = ("minimum", "minLength", "minItems", "minProperties")
_SAME = ("pattern", "format", "additionalProperties", "propertyNames", "not", "anyOf")
_NULL = {"type": "null"}

Schema = dict[str, Any]


@dataclass(frozen=True, order=True)
class ApiChange:
    """One difference, as a sentence of the changelog."""

    sentence: str
    is_breaking: bool


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[ApiChange]:
    """Return what changed between two surfaces, each difference once."""
    return sorted({*_of_operations(old, new), *_of_messages(old, new), *_of_types(old, new)})


def _of_operations(old: dict[str, Any], new: dict[str, Any]) -> Iterator[ApiChange]:
    before, after = old["operations"], new["operations"]
    yield from (ApiChange(f"`{name}` is new.", is_breaking=False) for name in after.keys() - before.keys())
    for name in before.keys() - after.keys():
        # It was announced by ``Deprecation`` and ``Sunset``.
        yield ApiChange(f"`{name}` is gone.", is_breaking=not before[name]["deprecated"])
    for name in before.keys() & after.keys():
        yield from _of_operation(_Schemas(old["types"], new["types"]), name, before[name], after[name])


def _of_operation(schemas: "_Schemas", name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[ApiChange]:
    for code in set(new["codes"]) - set(old["codes"]):
        yield ApiChange(f"`{name}` can fail with `{code}`.", is_breaking=False)
    for code in set(old["codes"]) - set(new["codes"]):
        yield ApiChange(f"`{name}` no longer fails with `{code}`.", is_breaking=False)
    if new["deprecated"] and not old["deprecated"]:
        yield ApiChange(f"`{name}` is deprecated.", is_breaking=False)
    if new["answers"].keys() != old["answers"].keys():
        yield ApiChange(f"`{name}` succeeds with another status.", is_breaking=True)
    for status in old["answers"].keys() & new["answers"].keys():
        if not schemas.answer_fits(old["answers"][status], new["answers"][status]):
            yield ApiChange(f"`{name}` answers with another type.", is_breaking=True)
    old_body, new_body = old.get("body"), new.get("body")
    if old_body != new_body:
        yield ApiChange(f"`{name}` takes another body.", is_breaking=not schemas.body_fits(old_body, new_body))
    yield from _of_parameters(schemas, name, old["parameters"], new["parameters"])


def _of_parameters(schemas: "_Schemas", name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[ApiChange]:
    for parameter in new.keys() - old.keys():
        is_required = new[parameter]["required"]
        verb = "requires" if is_required else "takes"
        yield ApiChange(f"`{name}` {verb} the parameter `{parameter}`.", is_breaking=is_required)
    for parameter in old.keys() - new.keys():
        yield ApiChange(f"`{name}` no longer takes the parameter `{parameter}`.", is_breaking=True)
    for parameter in old.keys() & new.keys():
        before, after = old[parameter], new[parameter]
        fits = schemas.request_fits(before["schema"], after["schema"])
        is_wider = fits and before["in"] == after["in"] and before["required"] >= after["required"]
        what = "more" if is_wider else "other values"
        if not is_wider or not schemas.answer_fits(before["schema"], after["schema"]):
            yield ApiChange(f"`{name}` takes {what} in the parameter `{parameter}`.", is_breaking=not is_wider)


def _of_messages(old: dict[str, Any], new: dict[str, Any]) -> Iterator[ApiChange]:
    before, after = old["messages"], new["messages"]
    yield from (ApiChange(f"The message `{name}` is new.", is_breaking=False) for name in after.keys() - before.keys())
    yield from (ApiChange(f"The message `{name}` is gone.", is_breaking=True) for name in before.keys() - after.keys())
    schemas = _Schemas(old["types"], new["types"])
    for name in before.keys() & after.keys():
        if not schemas.answer_fits(before[name], after[name]):
            yield ApiChange(f"The message `{name}` has another type.", is_breaking=True)


def _of_types(old: dict[str, Any], new: dict[str, Any]) -> Iterator[ApiChange]:
    schemas = _Schemas(old["types"], new["types"])
    sent = _reachable(new["types"], (one["body"]["schema"] for one in new["operations"].values() if "body" in one))
    for name in old["types"].keys() & new["types"].keys():
        before, after = old["types"][name], new["types"][name]
        if "properties" in before and "properties" in after:
            compare = _of_request if name in sent else _of_answer
            yield from compare(schemas, name, before, after)


def _of_request(schemas: "_Schemas", name: str, old: Schema, new: Schema) -> Iterator[ApiChange]:
    before, after = old["properties"], new["properties"]
    required = set(new.get("required", ()))
    for field in after.keys() - before.keys():
        verb = "requires" if field in required else "takes"
        yield ApiChange(f"`{name}` {verb} `{field}`.", is_breaking=field in required)
    for field in before.keys() - after.keys():
        yield ApiChange(f"`{name}` no longer takes `{field}`.", is_breaking=True)
    for field in before.keys() & after.keys():
        if field in required and field not in old.get("required", ()):
            yield ApiChange(f"`{name}` requires `{field}`.", is_breaking=True)
        default = after[field].get("default")
        fits = schemas.request_fits(before[field], after[field]) and before[field].get("default", default) == default
        if not fits or not schemas.answer_fits(before[field], after[field]):
            yield ApiChange(f"`{name}` takes {'more' if fits else 'other values'} in `{field}`.", is_breaking=not fits)


def _of_answer(schemas: "_Schemas", name: str, old: Schema, new: Schema) -> Iterator[ApiChange]:
    before, after = old["properties"], new["properties"]
    for field in after.keys() - before.keys():
        yield ApiChange(f"`{name}` has `{field}`.", is_breaking=False)
    for field in before.keys() - after.keys():
        yield ApiChange(f"`{name}` no longer has `{field}`.", is_breaking=True)
    for field in before.keys() & after.keys():
        if field in old.get("required", ()) and field not in new.get("required", ()):
            yield ApiChange(f"`{name}` may lack `{field}`.", is_breaking=True)
        if not schemas.answer_fits(before[field], after[field]):
            yield ApiChange(f"`{name}` has other values in `{field}`.", is_breaking=True)


def _reachable(types: dict[str, Schema], schemas: Iterable[Any]) -> set[str]:
    """Return the names of the types that these schemas refer to, directly or not."""
    found: set[str] = set()
    left = list(schemas)
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
        elif isinstance(node, dict):
            name = _referred(node)
            if name is not None and name not in found:
                found.add(name)
                left.append(types[name])
            left += node.values()
    return found


def _referred(schema: Any) -> str | None:  # noqa: ANN401 - any part of a schema
    reference = schema.get("$ref") if isinstance(schema, dict) else None
    return None if reference is None else reference.rpartition("/")[2]


@dataclass(frozen=True)
class _Schemas:
    """Compares schemas of two versions whose types have these definitions."""

    old: dict[str, Schema]
    new: dict[str, Schema]

    def request_fits(self, old: Schema, new: Schema) -> bool:
        """Whether everything that could be sent still can."""
        return _fits(_Side(old, self.old), _Side(new, self.new))

    def body_fits(self, old: Schema | None, new: Schema | None) -> bool:
        """Whether every body that could be sent, or left out, still can."""
        if old is None or new is None:
            return False
        return old["required"] >= new["required"] and self.request_fits(old["schema"], new["schema"])

    def answer_fits(self, old: Schema, new: Schema) -> bool:
        """Whether everything that is answered, or can be sent, was possible before."""
        return _fits(_Side(new, self.new), _Side(old, self.old))


@dataclass(frozen=True)
class _Side:
    schema: Schema
    types: dict[str, Schema]

    def alternatives(self) -> list["_Side"]:
        """Return the schemas of which a value fits one; a type with a list of names is one for each."""
        name = _referred(self.schema)
        if name is not None and "properties" not in self.types[name]:
            return _Side(self.types[name], self.types).alternatives()
        if "allOf" in self.schema:  # one reference, with a default beside it
            return _Side(self.schema["allOf"][0], self.types).alternatives()
        if "oneOf" in self.schema:
            return [found for one in self.schema["oneOf"] for found in _Side(one, self.types).alternatives()]
        if isinstance(self.schema.get("type"), list):
            return [self._of_type(one) for one in self.schema["type"]]
        return [self]

    def _of_type(self, name: str) -> "_Side":
        return _Side(_NULL if name == "null" else {**self.schema, "type": name}, self.types)


def _fits(narrow: _Side, wide: _Side) -> bool:
    """Whether every value of one schema is a value of the other."""
    return all(any(_one_fits(one, other) for other in wide.alternatives()) for one in narrow.alternatives())


def _one_fits(narrow: _Side, wide: _Side) -> bool:
    one, other = narrow.schema, wide.schema
    if one == other:  # for types with a name as well, because their fields are compared apart
        return True
    if _referred(one) or _referred(other):
        return False
    types = one.get("type"), other.get("type")
    return (types[0] == types[1] or types == ("integer", "number")) and _keywords_fit(narrow, wide)


def _keywords_fit(narrow: _Side, wide: _Side) -> bool:
    one, other = narrow.schema, wide.schema
    return (
        all(key not in other or one.get(key, float("inf")) <= other[key] for key in _GREATEST)
        and all(key not in other or one.get(key, float("-inf")) >= other[key] for key in _LEAST)
        and all(key not in other or one.get(key) == other[key] for key in _SAME)
        and _values_fit(one, other)
        and one.get("properties") == other.get("properties")
        and ("items" not in other or ("items" in one and _fits(_items(narrow), _items(wide))))
    )


def _items(side: _Side) -> _Side:
    return _Side(side.schema["items"], side.types)


def _values_fit(one: Schema, other: Schema) -> bool:
    allowed = _values(other)
    return allowed is None or (_values(one) or {None}) <= allowed


def _values(schema: Schema) -> set[Any] | None:
    """Return the values that a schema lists; None if it lists none."""
    if "const" in schema:
        return {schema["const"]}
    return set(schema["enum"]) if "enum" in schema else None
