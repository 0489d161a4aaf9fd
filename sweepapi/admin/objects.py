"""The row that an admin action was called for, and the way back to its page."""

from typing import Any

from django.contrib.admin.utils import unquote
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from unfold.admin import ModelAdmin


def object_or_404(pages: ModelAdmin, request: HttpRequest, object_id: str) -> Any:  # noqa: ANN401 a row of the pages' model
    """Return the row as the admin reads it; Http404 if there is none, or if the id is malformed."""
    found = pages.get_object(request, unquote(object_id))
    if found is None:
        raise Http404
    return found


def back_to(pages: ModelAdmin, object_id: str) -> HttpResponse:
    """Have the dialog of an action reload the page that it was opened on."""
    page = reverse(f"admin:{pages.opts.app_label}_{pages.opts.model_name}_change", args=[object_id])
    return HttpResponse(headers={"HX-Redirect": page})
