"""The table of errors that partners read is the tree of errors in the code."""

import re
from pathlib import Path

from django.conf import settings

from sweepapi.api.error_table import ERROR_TABLE
from sweepapi.errors import FieldError, InvalidRequest, SweepApiError

ROW = re.compile(r"^\| `(\w+)` \| (\d{3}) \| (yes|no) \| (.+) \|$", re.MULTILINE)


def test_the_documented_table_is_the_code() -> None:
    text = Path(settings.BASE_DIR, "docs", "errors.md").read_text(encoding="utf-8")
    documented = [(code, int(status), retry == "yes", meaning) for code, status, retry, meaning in ROW.findall(text)]
    assert documented == [(row.code, row.status, row.retryable, e.default_message()) for e, row in ERROR_TABLE.items()]


def test_codes_are_unique_and_in_snake_case() -> None:
    codes = [row.code for row in ERROR_TABLE.values()]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)


def test_a_class_is_named_by_its_code() -> None:
    for error, row in ERROR_TABLE.items():
        assert error.__name__ == "".join(word.capitalize() for word in row.code.split("_"))


def test_every_class_of_the_tree_has_a_row_and_every_row_a_class() -> None:
    assert set(SweepApiError.__subclasses__()) == ERROR_TABLE.keys()


def test_the_tree_has_one_level_in_one_file() -> None:
    for error in SweepApiError.__subclasses__():
        assert not error.__subclasses__()
        assert error.__module__ == "sweepapi.errors"


def test_a_message_and_details_of_ones_own_replace_the_default() -> None:
    assert InvalidRequest().message == "The request is invalid; details lists each field and the reason."
    detail = FieldError("a", "b", "c")
    error = InvalidRequest("Mine.", details=[detail], retry_after_seconds=3)
    assert isinstance(error, SweepApiError)
    assert (error.message, error.details, error.retry_after_seconds) == ("Mine.", (detail,), 3)
