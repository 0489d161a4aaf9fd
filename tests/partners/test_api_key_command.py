"""manage.py api_key: API keys from the command line."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from partners.models import SCOPES, ApiKey, Partner
from sweepapi.modes import Mode
from tests.factories.partners import PartnerFactory

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("api_key", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.usefixtures("two_chains")
def test_issue_prints_only_a_working_key_to_standard_output(partner: Partner) -> None:
    out, err = run("issue", "--partner", partner.name, "--name", "production", "--mode", "test")
    response = Client().get("/v2/partner", headers={"x-api-key": out.strip()})
    assert response.json()["data"]["name"] == partner.name
    assert out.strip() not in err
    assert ApiKey.objects.get().expires_at is None


def test_a_key_is_live_and_may_do_everything_unless_issue_limits_it(partner: Partner) -> None:
    run("issue", "--partner", partner.name, "--name", "all")
    key = ApiKey.objects.get()
    assert (key.mode, key.scopes, key.allowed_ips) == ("live", list(SCOPES), [])


def test_issue_can_limit_a_key(partner: Partner) -> None:
    limits = ["--mode", "test", "--scopes", "read,ledger", "--allow-ip", "198.51.100.7", "--allow-ip", "10.0.0.0/8"]
    run("issue", "--partner", partner.name, "--name", "reports", *limits)
    key = ApiKey.objects.get()
    assert (key.mode, key.scopes) == ("test", ["read", "ledger"])
    assert key.allowed_ips == ["198.51.100.7/32", "10.0.0.0/8"]


@pytest.mark.parametrize("limit", ["--scopes=admin", "--scopes=", "--mode=dev", "--allow-ip=10.0.0.1/8"])
def test_issue_refuses_a_limit_that_it_does_not_know(partner: Partner, limit: str) -> None:
    with pytest.raises(CommandError, match=limit.partition("=")[0]):
        run("issue", "--partner", partner.name, "--name", "x", limit)
    assert not ApiKey.objects.exists()


def test_issue_can_set_an_expiry(partner: Partner) -> None:
    run("issue", "--partner", partner.name, "--name", "trial", "--expires-in-days", "30")
    api_key = ApiKey.objects.get()
    assert api_key.expires_at is not None
    assert (api_key.expires_at - api_key.created_at).days in (29, 30)


@pytest.mark.parametrize("days", ["0", "-1", "x", "1.5", "36501", "9" * 12, "9" * 5_000])
def test_issue_refuses_an_expiry_that_is_not_a_number_of_days(partner: Partner, days: str) -> None:
    with pytest.raises(CommandError, match="expires-in-days"):
        run("issue", "--partner", partner.name, "--name", "trial", f"--expires-in-days={days}")


def test_issue_refuses_an_unknown_partner() -> None:
    with pytest.raises(CommandError, match="No partner named Nobody"):
        run("issue", "--partner", "Nobody", "--name", "x")


def test_rotate_prints_only_the_successor_to_standard_output(partner: Partner) -> None:
    old, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    out, err = run("rotate", old.key_id)
    old.refresh_from_db()
    assert old.replaced_by is not None
    assert out.strip().split("_")[2] == old.replaced_by.key_id
    assert f"{old.expires_at:%Y-%m-%d %H:%M}" in err
    assert out.strip() not in err


@pytest.mark.parametrize(("options", "hours"), [([], 24), (["--overlap-hours", "1"], 1), (["--overlap-hours=0"], 0)])
def test_rotate_lets_the_old_key_work_for_the_overlap(partner: Partner, options: list[str], hours: int) -> None:
    old, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    run("rotate", old.key_id, *options)
    old.refresh_from_db()
    assert old.expires_at is not None
    assert abs(old.expires_at - timezone.now() - timedelta(hours=hours)) < timedelta(minutes=1)


@pytest.mark.parametrize("hours", ["-1", "x", "876001", "9" * 12, "9" * 5_000])
def test_rotate_refuses_an_overlap_that_is_not_a_number_of_hours(partner: Partner, hours: str) -> None:
    old, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    with pytest.raises(CommandError, match="overlap-hours"):
        run("rotate", old.key_id, f"--overlap-hours={hours}")
    assert ApiKey.objects.count() == 1


def test_rotate_refuses_a_revoked_key(partner: Partner) -> None:
    old, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    old.revoke()
    with pytest.raises(CommandError, match="The key is revoked"):
        run("rotate", old.key_id)


def test_revoke_refuses_the_key_from_now_on(partner: Partner) -> None:
    api_key, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    out, _ = run("revoke", api_key.key_id)
    api_key.refresh_from_db()
    assert api_key.revoked_at is not None
    assert api_key.key_id in out


def test_revoke_refuses_an_unknown_key() -> None:
    with pytest.raises(CommandError, match="No key nonsense"):
        run("revoke", "nonsense")


def test_list_shows_states_but_not_secrets(partner: Partner) -> None:
    live, plaintext = ApiKey.issue(partner=partner, name="one", mode=Mode.TEST)
    revoked, _ = ApiKey.issue(partner=PartnerFactory.create(), name="two", mode=Mode.TEST)
    revoked.revoke()
    out, _ = run("list")
    lines = out.splitlines()
    assert [line.split()[:2] for line in lines] == [[revoked.key_id, "revoked"], [live.key_id, "live"]]
    assert plaintext.rsplit("_", 1)[1] not in out
    assert run("list", "--partner", partner.name)[0].splitlines() == [lines[1]]
