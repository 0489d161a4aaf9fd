"""A list of the admin is filtered by what it offers: by counts, a URL could read a hidden column bit by bit."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.test import Client

from tests.operator_browser import reverse

pytestmark = pytest.mark.django_db

PAGES = {pages.opts.model_name: pages for pages in admin.site._registry.values() if not pages.opts.proxy}  # noqa: SLF001 - Django offers no other way


def status(client: Client, name: str, /, **lookup: str) -> int:
    page = reverse(f"admin:{PAGES[name].opts.app_label}_{name}_changelist")
    return client.get(f"{page}?{urlencode(lookup)}").status_code


@pytest.mark.parametrize("name", PAGES)
def test_no_list_is_filtered_by_a_column_that_it_offers_no_filter_of(ops: Client, name: str) -> None:
    pages: Any = PAGES[name]
    columns = [one for one in pages.list_filter if not isinstance(one, type)]
    offered = {one if isinstance(one, str) else one[0] for one in columns} | {pages.date_hierarchy}
    columns = [field.name for field in pages.opts.get_fields() if field.name not in offered]
    assert columns
    for column in columns:
        for lookup in ("", "__startswith", "__isnull", "__gt", "__pk"):
            assert status(ops, name, **{f"{column}{lookup}": "1"}) == 400, column + lookup


@pytest.mark.parametrize(
    "lookup",
    [
        *("digest", "digest__startswith", "digest__regex", "digest__gte", "key_id__endswith"),
        *(
            "partner__payout_wallet__startswith",
            "partner__rate_limits__isnull",
            "partner__api_keys__digest__startswith",
        ),
        *("replaced_by__digest__startswith", "mode__digest"),
    ],
)
def test_the_digest_of_a_key_is_not_found_out_by_lookups(ops: Client, lookup: str) -> None:
    assert status(ops, "apikey", **{lookup: "a"}) in (302, 400)


def test_a_list_is_filtered_by_what_it_offers(ops: Client) -> None:
    for lookup in ({"mode__exact": "test"}, {"partner__id__exact": "019bb286-3ae0-7b00-811c-fdc880dd81d4"}):
        assert status(ops, "apikey", **lookup) == 200
