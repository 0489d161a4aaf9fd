"""The scene of every scenario."""

import pytest

from tests.partner_app import PartnerApp
from tests.scenarios.scene import Scene


@pytest.fixture
def scene(app: PartnerApp) -> Scene:
    return Scene(app)
