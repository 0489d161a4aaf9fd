"""Lets others, such as metrics, observe every batch that was sent to a provider.

Pools are made and read by any thread of a process; observers are registered once, before the first request.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Batch:
    """A batch that was sent to a provider. Nothing in it shows the URL."""

    network: str  # as CAIP-2
    position: int  # of the provider, in the order of the configuration
    methods: Mapping[str, int]  # how many calls of each
    outcome: str  # "answered", or the ``outcome`` of the error
    seconds: float


Observer = Callable[[Batch], None]

_observers: list[Observer] = []


def observe(observer: Observer) -> None:
    """Call this for every batch from now on, in the thread of the request; it must be quick and never raise."""
    _observers.append(observer)


def publish(batch: Batch) -> None:
    for observer in _observers:
        observer(batch)
