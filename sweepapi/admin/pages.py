"""What all of the admin's pages have in common."""

from typing import Any

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin

MANY_ROWS = 100_000


class EstimatingPaginator(Paginator):  # type: ignore[type-arg] # generic in the stubs alone
    """Counts the rows of a whole large table as PostgreSQL estimates them: to count millions takes seconds."""

    @cached_property
    def count(self) -> int:
        """Return how many rows there are, or about how many."""
        if isinstance(self.object_list, QuerySet) and not self.object_list.query.where:
            with connection.cursor() as cursor:
                table = self.object_list.model._meta.db_table  # noqa: SLF001 Django documents it
                cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [table])
                (estimate,) = cursor.fetchone()
            if estimate > MANY_ROWS:
                return int(estimate)
        return super().count


class AdminPages(ModelAdmin):
    """The pages of a model, in the admin's own style."""

    paginator = EstimatingPaginator
    show_full_result_count = False  # beside the count of what a filter leaves

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Let a URL filter by what the list offers, and not by any column: counts would tell what a hidden one has."""
        filters = [_name_of(one) for one in self.get_list_filter(request)]
        offered = [name for name in (*filters, self.date_hierarchy) if name]
        is_offered = any(lookup == name or lookup.startswith(name + LOOKUP_SEP) for name in offered)
        return is_offered and super().lookup_allowed(lookup, value, request)


def _name_of(list_filter: Any) -> str:  # noqa: ANN401 a column, a column with a class, or a class with a name of its own
    if isinstance(list_filter, type):
        return str(list_filter.parameter_name)  # type: ignore[attr-defined]
    return list_filter if isinstance(list_filter, str) else str(list_filter[0])
