"""A short run of the chaos suite: one seed, every lane of faults, and no contradiction at its end."""

import json
import os
import subprocess
import sys

from dev.chaos.faults import DECKS
from dev.world import VAR

SEED, SWEEPS = 4, 25


def test_nothing_is_lost_doubled_or_stuck_while_everything_fails() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    chaos = subprocess.run(
        [sys.executable, "-m", "dev.chaos", "--seeds", "1", "--first-seed", str(SEED), "--sweeps", str(SWEEPS)],
        cwd=VAR.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert chaos.returncode == 0, chaos.stdout + chaos.stderr
    result = json.loads((VAR / "chaos" / f"{SEED}.json").read_text())
    assert result["findings"] == []
    assert sum(result["stories"].values()) == SWEEPS
    assert {name.partition(":")[0] for name in result["faults"]} == set(DECKS)
