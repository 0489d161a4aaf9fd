"""An operation is described once, as a `Call`; the runner of the client decides if it is run or awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload
from urllib.parse import quote
from uuid import uuid4

if TYPE_CHECKING:
    from sweepapi_client.runners import AsyncRunner, SyncRunner

P = ParamSpec("P")
Data = TypeVar("Data")
Runner = TypeVar("Runner", bound="SyncRunner | AsyncRunner")


@dataclass(frozen=True)
class Call(Generic[Data]):
    """One request; `Data` is the type of what its answer has, or of one item if the answer is a page."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = True  # False if it must not happen twice
    has_envelope: bool = True

    def from_cursor(self, cursor: str) -> Self:
        """Return the call for another page."""
        return replace(self, query={**self.query, "cursor": cursor})


def path_of(template: str, *ids: str) -> str:
    """Put ids into a path, where each stays one segment whatever it contains."""
    return template.format(*(quote(one, safe="") for one in ids))


def keyed(idempotency_key: str | None) -> Mapping[str, str]:
    """Return the header that makes a request safe to repeat, with a new key unless there is one."""
    return {"Idempotency-Key": idempotency_key or str(uuid4())}


class Operations(Generic[Runner]):
    """A group of operations, and what runs them."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner


class Described(Generic[P, Data]):
    """A method that describes a call, in the class body of a group."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[Data]]) -> None:
        self.describe = describe
        self.__doc__ = describe.__doc__


class operation(Described[P, Data]):  # noqa: N801 - a decorator
    """Makes a method of it that returns the data of the answer, or a coroutine that does."""

    @overload
    def __get__(self, group: Operations[SyncRunner], owner: type) -> Callable[P, Data]: ...
    @overload
    def __get__(self, group: Operations[AsyncRunner], owner: type) -> Callable[P, Coroutine[Any, Any, Data]]: ...
    @overload
    def __get__(self, group: None, owner: type) -> Self: ...
    def __get__(self, group: Operations[Any] | None, owner: type) -> object:
        if group is None:
            return self
        return _composed(self.describe.__get__(group), group._runner.data)  # noqa: SLF001


class pages(Described[P, Data]):  # noqa: N801 - a decorator
    """Makes a method of it that iterates over the items of all pages, from the cursor in the query on."""

    @overload
    def __get__(self, group: Operations[SyncRunner], owner: type) -> Callable[P, Iterator[Data]]: ...
    @overload
    def __get__(self, group: Operations[AsyncRunner], owner: type) -> Callable[P, AsyncIterator[Data]]: ...
    @overload
    def __get__(self, group: None, owner: type) -> Self: ...
    def __get__(self, group: Operations[Any] | None, owner: type) -> object:
        if group is None:
            return self
        return _composed(self.describe.__get__(group), group._runner.items)  # noqa: SLF001


def _composed(describe: Callable[..., Call[Any]], run: Callable[[Call[Any]], object]) -> Callable[..., object]:
    @wraps(describe)
    def method(*arguments: object, **named: object) -> object:
        return run(describe(*arguments, **named))

    return method
