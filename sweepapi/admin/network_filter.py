"""A filter of admin lists that offers the networks of our files: to learn which a table has takes reading it all."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.contrib.admin import ChoicesFieldListFilter
from django.contrib.admin.views.main import ChangeList

from sweepapi import networks

if TYPE_CHECKING:
    from django.contrib.admin.filters import _ListFilterChoices


class NetworkFilter(ChoicesFieldListFilter):
    """For a ``NetworkField``: ``list_filter = [("network", NetworkFilter)]``."""

    def choices(self, changelist: ChangeList) -> Iterator["_ListFilterChoices"]:
        chosen = self.lookup_val or ()
        everything = changelist.get_query_string(remove=[self.lookup_kwarg])
        yield {"selected": not chosen, "query_string": everything, "display": "All"}
        for network, name in networks.current().names.items():
            query = changelist.get_query_string({self.lookup_kwarg: network}, [self.lookup_kwarg_isnull])
            yield {"selected": network in chosen, "query_string": query, "display": name}
