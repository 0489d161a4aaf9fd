"""The TypeScript client passes its own tests against the service, as a partner's server and page would use it."""

import os
import subprocess
from pathlib import Path

import pytest

from dev.node import node_folder

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"

pytestmark = pytest.mark.django_db(transaction=True)


def test_its_stories_end_as_they_say(world_env: Path) -> None:
    variables = dict(line.removeprefix("export ").split("=", 1) for line in world_env.read_text().splitlines())
    tests = sorted(CLIENT.glob("test/*.test.ts"))
    # One after the other, because they share the wallet.
    ran = subprocess.run(
        [node_folder() / "node", "--test", "--test-concurrency=1", "--test-reporter=spec", *tests],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
