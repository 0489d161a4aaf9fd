"""Wraps the data of successful responses in the envelope; ``handlers`` does so for failures."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from rest_framework.renderers import BaseRenderer, JSONRenderer


class EnvelopeRenderer(JSONRenderer):
    """Renders ``{"ok": true, "data": …}``."""

    def render(
        self,
        data: Any,  # noqa: ANN401 a response's data has any shape
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 as DRF types it
        """Return the envelope as UTF-8 JSON."""
        return super().render({"ok": True, "data": data}, accepted_media_type, renderer_context)


class CsvRenderer(BaseRenderer):
    """Offers CSV to the negotiation; the view streams it."""

    media_type = "text/csv"
    format = "csv"


def answer(data: Any, status: int = 200) -> HttpResponse:  # noqa: ANN401 as above
    """Return the response that DRF makes of these data, rendered at once instead of by its template machinery."""
    return HttpResponse(EnvelopeRenderer().render(data), status=status, content_type=EnvelopeRenderer.media_type)
