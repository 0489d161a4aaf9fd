"""A port on which nothing can be served is refused at the start."""

import pytest

from sweepapi.monitoring import listener


@pytest.mark.parametrize("bind", ["8001", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:-1"])
def test_a_malformed_place_is_named_in_the_error(bind: str) -> None:
    with pytest.raises(ValueError, match=f"HEALTH_BIND is '{bind}'; it must be host:port."):
        listener.start(bind)
