"""Fixtures of the webhook tests: servers of partners, and the process that delivers to them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests import webhook_receiver
from tests.partners.webhooks.stepwise import StepwiseDeliverer
from tests.webhook_receiver import Receiver


@pytest.fixture
def start_receiver() -> Iterator[Callable[[], Receiver]]:
    """Start servers of partners."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(webhook_receiver.running())


@pytest.fixture
def receiver(start_receiver: Callable[[], Receiver]) -> Receiver:
    return start_receiver()


@pytest.fixture
def deliverer() -> StepwiseDeliverer:
    """A process that delivers, and shows sweeps by their ids alone."""
    return StepwiseDeliverer(lambda ids: {sweep_id: {"sweepId": str(sweep_id), "open": True} for sweep_id in ids})
