"""The console in a browser: a passkey from its enrolment to a login, and pages that break no policy, at two widths."""

from collections.abc import Iterator

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User

from dev.browser.browser import Browser
from dev.browser.page import Page
from lab.bench.web.pages import DESK_PIXELS
from tests.dev.browser.barriers import barriers
from tests.dev.browser.test_documentation import OVERFLOW, PHONE_PIXELS
from tests.factories.sweeps import SweepFactory
from tests.operator_browser import reverse, served

PALETTE = "document.querySelector('#search-input-command')"
PASSWORD = "a long password of an operator"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def console() -> Iterator[str]:
    User.objects.create_superuser("ada", password=PASSWORD)
    with served() as url:
        yield url


def log_in_by_password(page: Page, console: str) -> None:
    page.goto(f"{console}/login/")
    page.click("input[name=login]")
    page.type("ada")
    page.click("input[name=password]")
    page.type(PASSWORD)
    page.press("Enter")
    page.wait("location.pathname === '/factors/'")


def enrol_passkey(page: Page, console: str) -> None:
    page.goto(f"{console}{reverse('mfa_add_webauthn')}")
    page.click("input[name=passwordless]")
    page.click("#mfa_webauthn_add")
    page.wait("location.pathname === '/factors/recovery-codes/'")


def test_a_passkey_is_enrolled_after_the_first_login_and_then_logs_in_alone(browser: Browser, console: str) -> None:
    with browser.page() as page:
        page.add_passkeys()
        log_in_by_password(page, console)
        enrol_passkey(page, console)
        page.goto(f"{console}/")
        assert page.evaluate("document.querySelector('h1, h2') !== null")
        page.goto(f"{console}/logout/")
        page.click("main button[type=submit]")
        page.wait("location.pathname === '/login/'")
        page.click("#passkey_login")
        page.wait("location.pathname === '/'")
        assert page.faults() == []
    assert Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN, last_used_at__isnull=False).exists()


def test_the_palette_leads_from_a_reference_to_its_sweep(browser: Browser, console: str) -> None:
    sweep = SweepFactory.create(client_reference="order 17")
    with browser.page() as page:
        page.add_passkeys()
        log_in_by_password(page, console)
        enrol_passkey(page, console)
        page.goto(f"{console}/")
        page.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))")
        page.wait(f"{PALETTE}.checkVisibility()")
        page.evaluate(f"{PALETTE}.focus()")
        page.type("order 17")
        page.press("ArrowDown")  # it asks after a key, and not for text that comes without one
        page.wait("document.querySelector('#command-results-list a')")
        page.press("ArrowDown")
        page.wait("document.querySelector('#command-results-list .active')")
        page.press("Enter")
        page.wait(f"location.pathname === '{reverse('admin:sweeps_sweep_change', args=[sweep.pk])}'")
        assert page.faults() == []


def test_no_page_breaks_its_policy_or_overflows_and_those_of_logins_have_no_barriers(
    browser: Browser, console: str
) -> None:
    sweep = SweepFactory.create()
    names = (
        "admin:index",
        "admin:sweeps_sweep_changelist",
        "admin:partners_partner_changelist",
        "providers",
        "figures",
    )
    runbook = [reverse("runbook"), *(reverse("runbook_page", args=[name]) for name in ("loop-away", "flags"))]
    paths = [*map(reverse, names), reverse("admin:sweeps_sweep_change", args=[sweep.pk]), *runbook]
    logins = [reverse("mfa_index"), reverse("mfa_activate_totp"), reverse("mfa_view_recovery_codes")]
    found: dict[str, list[str]] = {}
    with browser.page() as page:
        page.add_passkeys()
        page.goto(f"{console}/login/")
        found["/login/"] = page.faults() + barriers(page)
        log_in_by_password(page, console)
        enrol_passkey(page, console)
        for path in [*paths, *logins]:
            for width, dark in ((DESK_PIXELS, False), (PHONE_PIXELS, True)):
                page.view(width=width, dark=dark)
                page.goto(console + path)
                wrong = page.faults() + (barriers(page) if path in [*logins, *runbook] else [])
                if page.evaluate(OVERFLOW):
                    wrong.append(f"too wide at {width} pixels")
                found[f"{path} at {width}"] = wrong
    assert {path: wrong for path, wrong in found.items() if wrong} == {}
