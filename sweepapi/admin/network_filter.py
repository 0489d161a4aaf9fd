"""A filter of admin lists that offers networks by name."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.contrib.admin import AllValuesFieldListFilter
from django.contrib.admin.views.main import ChangeList

from sweepapi import networks

if TYPE_CHECKING:
    from django.contrib.admin.filters import _ListFilterChoices


class NetworkFilter(AllValuesFieldListFilter):
    """For a ``NetworkField``: ``list_filter = [("network", NetworkFilter)]``."""

    def choices(self, changelist: ChangeList) -> Iterator["_ListFilterChoices"]:
        for choice in super().choices(changelist):
            choice["display"] = networks.current().name_of(str(choice["display"]))  # "All" is not a network and stays
            yield choice
