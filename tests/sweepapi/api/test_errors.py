"""The table of errors that partners read is the tree of errors in the code."""

import re
from pathlib import Path

from django.conf import settings

from sweepapi.api.errors import ApiError, FieldError, InvalidRequest, error_classes

ROW = re.compile(r"^\| `(\w+)` \| (\d{3}) \| (yes|no) \| (.+) \|$", re.MULTILINE)


def test_the_documented_table_is_the_code() -> None:
    text = Path(settings.BASE_DIR, "docs", "errors.md").read_text(encoding="utf-8")
    documented = [(code, int(status), retry == "yes", meaning) for code, status, retry, meaning in ROW.findall(text)]
    assert documented == [(e.code, e.status, e.retryable, e.default_message()) for e in error_classes()]


def test_codes_are_unique_and_in_snake_case() -> None:
    codes = [error.code for error in error_classes()]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)


def test_a_class_is_named_by_its_code() -> None:
    for error in error_classes():
        assert error.__name__ == "".join(word.capitalize() for word in error.code.split("_"))


def test_the_tree_has_one_level() -> None:
    assert all(not error.__subclasses__() for error in error_classes())


def test_a_message_and_details_of_ones_own_replace_the_default() -> None:
    assert InvalidRequest().message == "The request is not valid; the details say which fields and why."
    detail = FieldError("a", "b", "c")
    error = InvalidRequest("Mine.", details=[detail], retry_after_seconds=3)
    assert isinstance(error, ApiError)
    assert (error.message, error.details, error.retry_after_seconds) == ("Mine.", (detail,), 3)
