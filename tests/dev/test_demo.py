"""The demo is a promise to partners: it plays through, and it says so when it does not."""

import json
import os
import subprocess
import sys
from pathlib import Path

from dev.engines.machine import free_port

ROOT = Path(__file__).parents[2]


def test_the_whole_story_holds() -> None:
    own = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    played = subprocess.run(
        [sys.executable, "-m", "dev", "demo"], cwd=ROOT, env=own, capture_output=True, text=True, check=False
    )
    assert played.returncode == 0, played.stdout + played.stderr
    told = json.loads((ROOT / "var" / "demo.json").read_text())
    assert told["ok"]
    assert [(step["step"], step["sweep"]["status"]) for step in told["steps"]] == [
        ("a", "completed"),
        ("b", "completed"),
        ("c", "completed"),
        ("d", "completed"),
        ("e", "failed"),
        ("f", "expired"),
        ("g", "completed"),
    ]


def test_a_step_that_does_not_hold_ends_the_demo_with_a_sentence_and_an_error_code(tmp_path: Path) -> None:
    world = json.loads(Path(os.environ["DEV_WORLD_FILE"]).read_text())
    nobody_there = {"baseUrl": f"http://127.0.0.1:{free_port()}", "apiKeys": ["one", "two"]}
    world_file, result_file = tmp_path / "world.json", tmp_path / "result.json"
    world_file.write_text(json.dumps(world | nobody_there))
    played = subprocess.run(
        [sys.executable, "-m", "dev.demo", str(world_file), str(result_file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 1
    told = json.loads(result_file.read_text())
    assert not told["ok"]
    assert told["failure"].startswith("a, five tokens into the wrapped coin: ")
