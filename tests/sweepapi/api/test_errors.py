"""Every error has a row in the table, every field code a meaning, and partners read both in docs/errors.md."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from pytest_django import Settings
from rest_framework import serializers

from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.input.field_codes import FIELD_CODES, public_code
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.errors import MAX_DETAILS, FieldError, InvalidRequest, SweepApiError

SNAKE_CASE = re.compile(r"[a-z]+(_[a-z]+)*")
APPS = ("sweepapi", "partners", "ledger", "sweeps", "indexer")
# Codes of DRF's DateTimeField, whose parsing ours replaces.
NOT_RAISED = {"date", "make_aware", "overflow"}
# Where a call takes its code, if not by name.
POSITION_OF_CODE = {"FieldError": 1, "Mismatch": 1, "ErrorDetail": 1, "ValidationError": 1, "fail": 0}


def test_the_committed_document_is_what_the_tables_generate(settings: Settings, tmp_path: Path) -> None:
    committed = Path(settings.BASE_DIR, "docs", "errors.md").read_text(encoding="utf-8")
    (tmp_path / "docs").mkdir()
    settings.BASE_DIR = tmp_path
    call_command("errors_doc")
    assert (tmp_path / "docs" / "errors.md").read_text(encoding="utf-8") == committed


def test_every_class_of_the_tree_has_a_row_and_every_row_a_class() -> None:
    assert set(SweepApiError.__subclasses__()) == ERROR_TABLE.keys()


def test_the_tree_has_one_level_in_one_file() -> None:
    for error in SweepApiError.__subclasses__():
        assert not error.__subclasses__()
        assert error.__module__ == "sweepapi.errors"


def test_codes_are_unique_and_in_snake_case() -> None:
    codes = [row.code for row in ERROR_TABLE.values()]
    assert len(codes) == len(set(codes))
    assert all(SNAKE_CASE.fullmatch(code) for code in [*codes, *FIELD_CODES])


def test_a_class_is_named_after_its_code() -> None:
    for error, row in ERROR_TABLE.items():
        assert error.__name__ == "".join(word.capitalize() for word in row.code.split("_"))


def test_a_message_of_its_own_replaces_the_default() -> None:
    assert InvalidRequest().message == "The request is invalid; details lists each field and the reason."
    detail = FieldError("a", "b", "c")
    error = InvalidRequest("Mine.", details=[detail], retry_after_seconds=3)
    assert (error.message, error.details, error.retry_after_seconds) == ("Mine.", (detail,), 3)


def test_an_error_keeps_a_bounded_number_of_details() -> None:
    assert len(InvalidRequest(details=[FieldError("a", "b", "c")] * (MAX_DETAILS + 1)).details) == MAX_DETAILS


def codes_raised(tree: ast.AST) -> Iterator[str]:
    """Yield the literal codes of calls that report a field."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in POSITION_OF_CODE:
                position = POSITION_OF_CODE[name]
                named = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
                for argument in [*node.args[position : position + 1], *named]:
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                        yield argument.value


def test_every_field_code_in_the_source_is_documented() -> None:
    raised = {
        (path.relative_to(settings.BASE_DIR).as_posix(), public_code(code))
        for app in APPS
        for path in Path(settings.BASE_DIR, app).rglob("*.py")
        for code in codes_raised(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert ("sweepapi/api/input/reading.py", "duplicate_field") in raised
    assert ("sweepapi/api/input/fields.py", "bad_checksum") in raised
    assert {(path, code) for path, code in raised if code not in FIELD_CODES} == set()


def subclasses(serializer: type[StrictSerializer]) -> Iterator[type[StrictSerializer]]:
    for subclass in serializer.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def fields_of(serializer: serializers.BaseSerializer[Any]) -> Iterator[serializers.Field[Any, Any, Any, Any]]:
    for field in getattr(serializer, "fields", {}).values():
        yield field
        inner = getattr(field, "child", field)
        yield inner
        if isinstance(inner, serializers.BaseSerializer):
            yield from fields_of(inner)


def test_every_code_that_a_field_of_a_request_can_fail_with_is_documented() -> None:
    import_module(settings.ROOT_URLCONF)  # and with it the serializers of every endpoint
    codes = {
        public_code(code)
        for request in subclasses(StrictSerializer)
        for field in fields_of(request())
        for code in field.error_messages
    }
    assert codes - NOT_RAISED - FIELD_CODES.keys() == set()
