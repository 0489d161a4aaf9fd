"""What all of the admin's pages have in common."""

from typing import Any

from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from unfold.admin import ModelAdmin


class AdminPages(ModelAdmin):
    """The pages of a model, in the admin's own style."""

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
