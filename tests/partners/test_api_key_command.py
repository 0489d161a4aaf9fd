"""manage.py api_key: API keys from the command line."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from partners.models import ApiKey, Partner
from tests.factories.partners import PartnerFactory

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("api_key", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.usefixtures("two_chains")
def test_issue_prints_only_a_working_key_to_standard_output(partner: Partner) -> None:
    out, err = run("issue", "--partner", partner.name, "--name", "production")
    response = Client().get("/v2/partner", headers={"x-api-key": out.strip()})
    assert response.json()["data"]["name"] == partner.name
    assert out.strip() not in err
    assert ApiKey.objects.get().expires_at is None


def test_issue_can_set_an_expiry(partner: Partner) -> None:
    run("issue", "--partner", partner.name, "--name", "trial", "--expires-in-days", "30")
    api_key = ApiKey.objects.get()
    assert api_key.expires_at is not None
    assert (api_key.expires_at - api_key.created_at).days in (29, 30)


@pytest.mark.parametrize("days", ["0", "-1", "x", "1.5"])
def test_issue_refuses_an_expiry_that_is_not_a_number_of_days(partner: Partner, days: str) -> None:
    with pytest.raises(CommandError, match="expires-in-days"):
        run("issue", "--partner", partner.name, "--name", "trial", f"--expires-in-days={days}")


def test_issue_refuses_an_unknown_partner() -> None:
    with pytest.raises(CommandError, match="No partner named Nobody"):
        run("issue", "--partner", "Nobody", "--name", "x")


def test_revoke_refuses_the_key_from_now_on(partner: Partner) -> None:
    api_key, _ = ApiKey.issue(partner=partner, name="tests")
    out, _ = run("revoke", api_key.key_id)
    api_key.refresh_from_db()
    assert api_key.revoked_at is not None
    assert api_key.key_id in out


def test_revoke_refuses_an_unknown_key() -> None:
    with pytest.raises(CommandError, match="No key nonsense"):
        run("revoke", "nonsense")


def test_list_shows_states_but_not_secrets(partner: Partner) -> None:
    live, plaintext = ApiKey.issue(partner=partner, name="one")
    revoked, _ = ApiKey.issue(partner=PartnerFactory.create(), name="two")
    revoked.revoke()
    out, _ = run("list")
    lines = out.splitlines()
    assert [line.split()[:2] for line in lines] == [[revoked.key_id, "revoked"], [live.key_id, "live"]]
    assert plaintext.rsplit("_", 1)[1] not in out
    assert run("list", "--partner", partner.name)[0].splitlines() == [lines[1]]
