"""Finds the row that an admin action was called for."""

from typing import Any

from django.contrib.admin.utils import unquote
from django.http import Http404, HttpRequest
from unfold.admin import ModelAdmin


def object_or_404(pages: ModelAdmin, request: HttpRequest, object_id: str) -> Any:  # noqa: ANN401 a row of the pages' model
    """Return the row as the admin reads it; Http404 if there is none, or if the id is malformed."""
    found = pages.get_object(request, unquote(object_id))
    if found is None:
        raise Http404
    return found
