"""What processes do at their start: one with a wrong configuration exits at once and says why; on real processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

START_SECONDS = 60  # far above what a start takes
PROCESSES = {
    "web": ["-m", "gunicorn", "--config", "python:config.gunicorn", "--bind", "127.0.0.1:0", "config.wsgi"],
    "celery": ["-m", "celery", "-A", "config", "worker", "--concurrency", "1"],
    "beat": ["-m", "celery", "-A", "config", "beat"],
    "work": [str(settings.BASE_DIR / "manage.py"), "work"],
    "a command": [str(settings.BASE_DIR / "manage.py"), "migrate", "--check"],
}
WRONG = {
    "SERVICE_EVM_BUILD_MODE_LOCAL": "v4_falback",
    "SERVICE_EVM_BUILD_MODE_LOCL": "v4_fallback",
    "RPC_URLS_SOLANA": "http://127.0.0.1:1",
    "SOLANA_FEE_WALLET": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "SWAP_API_URL": "",
}


@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_with_wrong_settings_exits_and_says_why(name: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, *PROCESSES[name]],
        env={**os.environ, "PYTHONPATH": str(settings.BASE_DIR), **WRONG},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )
    said = ended.stderr
    assert ended.returncode > 0, "it exited, and not because of a signal"
    assert "SERVICE_EVM_BUILD_MODE_LOCAL is 'v4_falback'; it must be one of v5_partner_fees, v4_fallback." in said
    assert "SERVICE_EVM_BUILD_MODE_LOCL is set for an unknown chain; the chains of chains.toml are local." in said
    assert "SOLANA_FEE_WALLET must be a wallet's key in base58." in said
    assert "SWAP_API_URL must be the URL of a swap API." in said


def test_a_loaded_web_process_searches_only_what_requests_make() -> None:
    code = """if True:
        import gc
        from config import gunicorn
        loaded = [[number] for number in range(100_000)]
        gunicorn.post_worker_init(None)
        print(gc.get_freeze_count() > len(loaded), len(gc.get_objects()) < len(loaded))
    """
    environment = {**os.environ, "PYTHONPATH": str(settings.BASE_DIR)}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert ended.stdout.split() == ["True", "True"]
