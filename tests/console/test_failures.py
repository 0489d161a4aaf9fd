"""A request to the console that fails is answered with a page that has its id."""

from http import HTTPStatus

import pytest
from django.contrib.auth.models import User

from console import search
from tests.operator_browser import ConsoleClient, reverse

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/no/such/page/", HTTPStatus.NOT_FOUND),
        (reverse("admin:sweeps_sweep_changelist") + "?tokens=1", HTTPStatus.BAD_REQUEST),
    ],
)
def test_a_page_that_fails_names_the_request(ops: ConsoleClient, path: str, status: HTTPStatus) -> None:
    answer = ops.get(path, headers={"x-request-id": "order-17"})
    assert answer.status_code == status
    assert "<code>order-17</code>" in answer.content.decode()


def test_a_page_that_is_forbidden_names_the_request() -> None:
    browser = ConsoleClient()
    browser.force_login(User.objects.create_user("no one in particular", is_staff=True))
    answer = browser.get(reverse("figures"), headers={"x-request-id": "order-18"})
    assert (answer.status_code, "<code>order-18</code>" in answer.content.decode()) == (HTTPStatus.FORBIDDEN, True)


def test_an_unexpected_error_shows_nothing_of_itself(ops: ConsoleClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_term: str) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(search, "FINDERS", [("sweeps.view_sweep", fail)])
    ops.raise_request_exception = False
    answer = ops.get(reverse("admin:search"), {"s": "x"}, headers={"x-request-id": "order-19"})
    text = answer.content.decode()
    assert (answer.status_code, "<code>order-19</code>" in text, "secret" in text) == (500, True, False)
