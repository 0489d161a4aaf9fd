"""The proxy that compose.yaml ships waits for callers in web's place, and answers in our envelope; the lab runs it."""

import json
import re
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.urls import reverse

from partners.limits import DEFAULTS, READ
from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.input.budgets import MAX_BODY_BYTES
from tests.operator_browser import reverse as console_path

CONFIGURATION = (settings.BASE_DIR / "config" / "nginx" / "nginx.conf").read_text()
COMPOSE = yaml.safe_load((settings.BASE_DIR / "compose.yaml").read_text())
ROWS = {row.code: row for row in ERROR_TABLE.values()}
# Those that nginx makes up itself, and the code that each is answered with where no class of errors has that status.
OWN = {408: "", 413: "", 429: "", 502: "", 504: "", 414: "invalid_request", 431: "invalid_request"}


def mapped(variable: str, status: int) -> str:
    """Return what nginx gives the variable at this status."""
    (block,) = re.findall(rf"map \$status \${variable} \{{(.*?)\n    \}}", CONFIGURATION, re.DOTALL)
    rules = re.findall(r'^\s+(\S+) "?(.*?)"?;$', block, re.MULTILINE)
    plain, default = dict(rules), dict(rules)["default"]
    patterns = ((name.removeprefix("~"), value) for name, value in rules if name.startswith("~"))
    matched = next((value for pattern, value in patterns if re.search(pattern, str(status))), default)
    return str(plain.get(str(status), matched))


def body(status: int) -> dict[str, Any]:
    (template,) = re.findall(r"return 200 '(.*)';", CONFIGURATION)
    values = {name: mapped(name, status) for name in ("error_code", "error_message", "error_retryable")}
    filled = re.sub(r"\$(error_\w+)", lambda match: values[match[1]], template)
    answer: dict[str, Any] = json.loads(filled.replace("$request_id", "0" * 32))
    return answer


@pytest.mark.parametrize("status", OWN)
def test_its_own_errors_are_in_the_envelope_under_a_code_of_the_table(status: int) -> None:
    (page,) = re.findall(r"error_page ([0-9 ]+) /proxy-error;", CONFIGURATION)
    assert str(status) in page.split()
    answer = body(status)
    assert answer.keys() == {"ok", "error"}
    error = answer["error"]
    assert error.keys() == {"code", "message", "details", "retryable", "requestId", "docUrl"}
    row = ROWS[error["code"]]
    assert row.code == OWN[status] or row.status == status
    assert (error["retryable"], error["docUrl"]) == (row.retryable, f"/docs/errors#{row.code}")


def test_requests_and_answers_are_buffered_whole() -> None:
    assert re.search(r"^\s*proxy_request_buffering on;", CONFIGURATION, re.MULTILINE)
    assert re.search(r"^\s*proxy_buffering on;", CONFIGURATION, re.MULTILINE)


def test_its_bound_of_bodies_is_that_of_the_api() -> None:
    first, _ = re.findall(r"client_max_body_size (\d+)[km];", CONFIGURATION)
    assert int(first) * 1024 == MAX_BODY_BYTES


def test_only_nginx_is_published_and_web_trusts_its_address_alone() -> None:
    services = COMPOSE["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["nginx"]
    address = services["nginx"]["networks"]["front"]["ipv4_address"]
    assert services["web"]["environment"]["TRUSTED_PROXIES"].split("$")[0] == address
    assert "front" in services["web"]["networks"]
    assert services["nginx"]["volumes"] == ["./config/nginx/nginx.conf:/etc/nginx/nginx.conf:ro"]


@pytest.mark.parametrize(("service", "port", "index"), [("web", "8000", 0), ("console", "8100", 1)])
def test_nginx_asks_each_service_where_it_listens(service: str, port: str, index: int) -> None:
    assert f"server {service}:8000;" in CONFIGURATION
    published, listens = COMPOSE["services"]["nginx"]["ports"][index].split(":")
    assert (published, f"listen {listens} " in CONFIGURATION) == (port, True)


def test_no_path_leads_from_the_apis_port_to_the_console() -> None:
    api, console = CONFIGURATION.split("    server {\n")[1:]
    assert set(re.findall(r"proxy_pass (\S+);", api)) == {"http://web"}
    assert set(re.findall(r"proxy_pass (\S+);", console)) == {"http://console"}


def test_the_forms_that_take_a_password_or_a_code_are_slowed_down() -> None:
    (pattern,) = re.findall(r"location ~ (\S+) \{\s+limit_req zone=logins ", CONFIGURATION)
    for name in ("account_login", "account_reauthenticate", "mfa_authenticate", "mfa_reauthenticate"):
        assert re.match(pattern, console_path(name)), name
    assert not re.match(pattern, console_path("mfa_login_webauthn"))


def test_the_document_that_it_slows_down_is_the_one_that_is_served() -> None:
    (path,) = re.findall(r"location = (\S+) \{\s+limit_req zone=documents ", CONFIGURATION)
    assert path == reverse("openapi")


def test_who_stays_within_the_limit_of_a_key_does_not_wait_here() -> None:
    limit = DEFAULTS[READ]
    assert f"$posting_key zone=keys:10m rate={limit.per_second:.0f}r/s;" in CONFIGURATION
    assert f"limit_req zone=keys burst={2 * limit.burst} delay={limit.burst};" in CONFIGURATION
