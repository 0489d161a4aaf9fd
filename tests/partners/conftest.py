"""What tests of limits share."""

from collections.abc import Iterator

import pytest

from sweepapi.limits import shared_buckets
from sweepapi.limits.token_buckets import LocalBuckets


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Redis may be slow, as on a busy machine, and was not given up by an earlier test; buckets in memory are full."""
    shared_buckets._shared.cache_clear()  # noqa: SLF001 it keeps connections with another deadline
    monkeypatch.setattr(shared_buckets, "TIMEOUT_SECONDS", 10.0)
    monkeypatch.setattr(shared_buckets, "_local", LocalBuckets())
    yield
    shared_buckets._shared.cache_clear()  # noqa: SLF001 as above
