"""An honest transaction passes all checks, with the amounts that it moves."""

import pytest

from sweepapi.solana.compute_budget import LAMPORTS_PER_SIGNATURE
from sweepapi.solana.effects import Effects
from tests.solana_cluster import SolanaCluster
from tests.sweepapi.solana.swap_scene import BOUGHT, FEE, Scene


@pytest.fixture
def scene(cluster: SolanaCluster) -> Scene:
    return Scene(cluster)


def test_an_honest_swap_moves_what_was_agreed(scene: Scene) -> None:
    instructions = scene.honest()

    scene.inspect(instructions)

    assert scene.effects(instructions) == Effects(BOUGHT - FEE, FEE, LAMPORTS_PER_SIGNATURE)
