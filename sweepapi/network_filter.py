"""A filter of admin lists that offers networks by name."""

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import AllValuesFieldListFilter
from django.contrib.admin.views.main import ChangeList

from sweepapi import networks


class NetworkFilter(AllValuesFieldListFilter):
    """For a ``NetworkField``: ``list_filter = [("network", NetworkFilter)]``."""

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:
        for choice in super().choices(changelist):
            yield {**choice, "display": networks.current().name_of(str(choice["display"]))}
