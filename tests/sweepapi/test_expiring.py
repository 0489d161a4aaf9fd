"""A mapping forgets what is too old, and what was used least recently when it is full."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sweepapi.expiring import ExpiringMap

LIMIT = 3


@dataclass
class Clock:
    """A clock that moves when a test says so."""

    seconds: float = 0

    def __call__(self) -> float:
        return self.seconds


def test_an_entry_is_found_until_its_age() -> None:
    clock = Clock()
    entries: ExpiringMap[str, int | None] = ExpiringMap(max_entries=LIMIT, clock=clock)
    entries.keep({"long": 1}, seconds=60)
    entries.keep({"short": None}, seconds=10)
    clock.seconds = 9.9
    assert entries.find(["long", "short", "never"]) == {"long": 1, "short": None}
    clock.seconds = 10
    assert entries.find(["long", "short"]) == {"long": 1}


def test_to_find_an_entry_does_not_make_it_younger() -> None:
    clock = Clock()
    entries: ExpiringMap[str, int] = ExpiringMap(max_entries=LIMIT, clock=clock)
    entries.keep({"one": 1}, seconds=10)
    clock.seconds = 9
    assert entries.find(["one"])
    clock.seconds = 11
    assert not entries.find(["one"])


def test_the_entries_that_were_used_least_recently_make_room() -> None:
    entries: ExpiringMap[str, int] = ExpiringMap(max_entries=LIMIT)
    entries.keep({"a": 1, "b": 2, "c": 3}, seconds=60)
    entries.find(["a"])
    entries.keep({"d": 4, "e": 5}, seconds=60)
    assert entries.find("abcde") == {"a": 1, "d": 4, "e": 5}


def test_an_entry_that_is_kept_again_counts_once() -> None:
    entries: ExpiringMap[str, int] = ExpiringMap(max_entries=LIMIT)
    entries.keep({"a": 1, "b": 2, "c": 3}, seconds=60)
    entries.keep({"c": 4}, seconds=60)
    assert entries.find("abc") == {"a": 1, "b": 2, "c": 4}


def test_threads_share_it() -> None:
    entries: ExpiringMap[int, int] = ExpiringMap(max_entries=100)

    def use(thread: int) -> bool:
        own = range(thread * 1_000, thread * 1_000 + 1_000)
        for key in own:
            entries.keep({key: key}, seconds=60)
            found = entries.find([key - 1, key])
            if any(found[each] != each for each in found):
                return False
        return True

    with ThreadPoolExecutor(max_workers=4) as pool:
        assert all(pool.map(use, range(8)))
    assert len(entries.find(range(8_000))) == 100
