"""The demo passes against a running service, and reports a step that fails."""

import json
import os
import subprocess
import sys
from pathlib import Path

from dev.ports import free_port

ROOT = Path(__file__).parents[2]


def test_every_step_passes() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    demo = subprocess.run(
        [sys.executable, "-m", "dev", "demo"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert demo.returncode == 0, demo.stdout + demo.stderr
    result = json.loads((ROOT / "var" / "demo.json").read_text())
    assert result["ok"]
    assert [(step["step"], step["sweep"]["status"]) for step in result["steps"]] == [
        ("a", "completed"),
        ("b", "completed"),
        ("c", "completed"),
        ("d", "completed"),
        ("e", "failed"),
        ("f", "expired"),
        ("g", "completed"),
        ("h", "completed"),
        ("i", "completed"),
        ("j", "completed"),
        ("k", "completed"),
    ]


def test_a_failed_step_stops_the_demo_with_its_reason(tmp_path: Path) -> None:
    world = json.loads(Path(os.environ["DEV_WORLD_FILE"]).read_text())
    url = f"http://127.0.0.1:{free_port()}"
    no_service = {"baseUrl": url, "fallbackBaseUrl": url, "apiKeys": ["one", "two"]}
    world_file, result_file = tmp_path / "world.json", tmp_path / "result.json"
    world_file.write_text(json.dumps(world | no_service))
    demo = subprocess.run(
        [sys.executable, "-m", "dev.demo", str(world_file), str(result_file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert demo.returncode == 1
    result = json.loads(result_file.read_text())
    assert not result["ok"]
    assert result["failure"].startswith("a, five tokens into the wrapped coin: ")
