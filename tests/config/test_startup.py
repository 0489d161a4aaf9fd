"""What processes do at their start: one with a wrong configuration exits at once and says why; on real processes."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from django.conf import settings

from dev.processes.process import Program
from sweepapi.startup.needs import KEYS
from tests.resilience.engines import BIN, Engines

START_SECONDS = 120  # far above what a start takes
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


def start(argv: Sequence[str], environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run what is expected to exit at its start."""
    return subprocess.run(
        [sys.executable, *argv],
        env={**os.environ, "PYTHONPATH": str(settings.BASE_DIR), **environment},
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_with_wrong_settings_exits_and_says_why(name: str, tmp_path: Path) -> None:
    ended = start(PROCESSES[name], WRONG, tmp_path)
    said = ended.stderr
    assert ended.returncode > 0, "it exited, and not because of a signal"
    assert "SERVICE_EVM_BUILD_MODE_LOCAL is 'v4_falback'; it must be one of v5_partner_fees, v4_fallback." in said
    assert "SERVICE_EVM_BUILD_MODE_LOCL is set for an unknown chain; the chains of chains.toml are local." in said
    assert "SOLANA_FEE_WALLET must be a wallet's key in base58." in said
    assert "SWAP_API_URL must be the URL of a swap API." in said


UNSAFE = {
    "SECRET_KEY": "x",
    "FEE_SIGNER_KEY": "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "PROOF_KEY": "00" * 31 + "01",
    "WEBHOOK_KEYS": "00" * 31 + "01",
    "API_KEY_PEPPER": "",
    "TRUSTED_PROXIES": "0.0.0.0/0",
    "DEBUG": "true",
    "ALLOWED_HOSTS": "*",
}
SAID = [
    "SECRET_KEY is too short: it must be 50 random characters or more.",
    "FEE_SIGNER_KEY is one that everyone knows: it is in documentation, or in a development tool.",
    "PROOF_KEY is not random: it repeats itself or counts.",
    "WEBHOOK_KEYS is not random: it repeats itself or counts.",
    "PROOF_KEY and WEBHOOK_KEYS are equal: each needs a secret of its own.",
    "API_KEY_PEPPER must be set.",
    "TRUSTED_PROXIES must name your proxies alone",
    "ALLOWED_HOSTS must name the hosts that the API is served under, and not all with *.",
    "DEBUG is for local development",
    "INSECURE_HTTP is for local development",
    "WEBHOOK_ALLOW_PRIVATE is for local development",
]


def test_unsafe_settings_are_all_named_at_once_and_no_secret_is_shown(tmp_path: Path) -> None:
    ended = start(PROCESSES["web"], UNSAFE, tmp_path)
    assert ended.returncode > 0
    assert [sentence for sentence in SAID if sentence not in ended.stderr] == []
    for name in ("FEE_SIGNER_KEY", "PROOF_KEY"):
        assert UNSAFE[name].removeprefix("0x") not in ended.stderr


def test_a_development_switch_is_refused_where_web_listens_for_others(tmp_path: Path) -> None:
    argv = ["-m", "gunicorn", "--config", "python:config.gunicorn", "--bind", "0.0.0.0:0", "config.wsgi"]
    ended = start(argv, {"WEB_PROCESSES": "1", "TRUSTED_PROXIES": "192.0.2.1"}, tmp_path)
    assert (ended.returncode > 0, "INSECURE_HTTP is for local development" in ended.stderr) == (True, True)


def test_a_part_of_a_password_that_breaks_the_database_url_is_not_shown(tmp_path: Path) -> None:
    ended = start(PROCESSES["a command"], {"DATABASE_URL": "postgres://owner:half/other@127.0.0.1/name"}, tmp_path)
    assert (ended.returncode > 0, "DATABASE_URL must be a URL" in ended.stderr) == (True, True)
    assert "half" not in ended.stderr


@pytest.mark.parametrize(
    ("job", "needed"), [("numbering", []), ("signing", ["PROOF_KEY"]), ("webhooks", ["WEBHOOK_KEYS"])]
)
def test_the_loop_starts_with_the_secrets_of_its_jobs_alone(job: str, needed: list[str], tmp_path: Path) -> None:
    others = {name: "" for name in KEYS if name not in needed}
    with Engines(tmp_path) as engines:
        engines.start_loop(others, jobs=job)
    for name in needed:
        ended = start([*PROCESSES["work"], "--jobs", job], others | {name: ""}, tmp_path)
        assert (ended.returncode > 0, f"{name} must be set." in ended.stderr) == (True, True)


def test_celery_and_beat_start_without_any_secret(tmp_path: Path) -> None:
    without = dict.fromkeys(KEYS, "")
    with Engines(tmp_path) as engines:
        engines.start_worker(without)
        log = tmp_path / "beat.log"
        argv = [str(BIN / "celery"), "--app", "config.celery", "beat", "--loglevel", "INFO"]
        argv += ["--schedule", str(tmp_path / "schedule"), "--pidfile", ""]
        beat = Program(name="beat", argv=argv, env=without, log=log)
        engines.start(beat, ready=lambda: "beat: Starting" in log.read_text())


def test_images_are_built_and_the_database_is_migrated_without_any_secret(tmp_path: Path) -> None:
    without = dict.fromkeys(KEYS, "")
    migrate = [str(settings.BASE_DIR / "manage.py"), "migrate", "--plan"]
    assert start(migrate, without | {"REDIS_URL": ""}, tmp_path).returncode == 0
    collect = [str(settings.BASE_DIR / "manage.py"), "collectstatic", "--noinput", "--dry-run", "-v", "0"]
    assert start(collect, without | {"REDIS_URL": "", "DATABASE_URL": ""}, tmp_path).returncode == 0


def test_a_loaded_web_process_searches_only_what_requests_make() -> None:
    code = """if True:
        import gc
        from types import SimpleNamespace
        from config import gunicorn
        loaded = [[number] for number in range(100_000)]
        gunicorn.post_worker_init(SimpleNamespace(cfg=SimpleNamespace(address=[])))
        print(gc.get_freeze_count() > len(loaded), len(gc.get_objects()) < len(loaded))
    """
    environment = {**os.environ, "PYTHONPATH": str(settings.BASE_DIR)}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert ended.stdout.split() == ["True", "True"]
