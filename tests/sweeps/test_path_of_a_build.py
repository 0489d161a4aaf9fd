"""A build request enters few files of ``sweeps`` on its way from the view to the store, which writes its rows."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from sweeps.views.v2 import SweepViewSet
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

SWEEPS = f"{settings.BASE_DIR / 'sweeps'}/"
FIRST_CALL = SweepViewSet.build.__code__
LAST_STATEMENT = 'INSERT INTO "sweeps_offer" '


class Path:
    """The files whose functions are called, in order, from the view until the offer's row is stored."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}  # with the first function that is called in each
        self.is_on = False

    def profile(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call, as ``sys.setprofile`` reports it."""
        code = frame.f_code
        self.is_on = self.is_on or code is FIRST_CALL
        if self.is_on and event == "call" and code.co_filename.startswith(SWEEPS):
            self.files.setdefault(code.co_filename.removeprefix(SWEEPS), code.co_qualname)

    def watch_statement(self, execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        """End with the statement that stores the offer, as a database wrapper."""
        if sql.startswith(LAST_STATEMENT):
            sys.setprofile(None)
        return execute(sql, *arguments)


def test_a_build_enters_at_most_ten_files_on_its_way_to_the_store_and_four_of_it(app: PartnerApp) -> None:
    path, body = Path(), app.body({"USDC": 3, "DAI": 2}, output="ETH")
    with connection.execute_wrapper(path.watch_statement):
        sys.setprofile(path.profile)
        try:
            response = app.post_build(body)
            assert sys.getprofile() is None, "the offer was stored"
        finally:
            sys.setprofile(None)
    assert response.status_code == 201
    of_store = {file for file in path.files if file.startswith("store/")}
    entered = "\n".join(f"{file}: {function}" for file, function in path.files.items())
    assert (len(path.files.keys() - of_store) <= 10, len(of_store) <= 4) == (True, True), entered
