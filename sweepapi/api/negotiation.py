"""The API speaks one format, so there is nothing to negotiate: any Accept header gets JSON, only JSON is accepted."""

from collections.abc import Iterable

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class AlwaysJson(BaseContentNegotiation):
    """Takes the view's first renderer, and the parser whose media type is the request's."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """Return None, which DRF answers with 415, for any other Content-Type. Its parameters do not matter."""
        media_type = (request.content_type or "").split(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002 DRF's signature
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002 DRF's signature
    ) -> tuple[BaseRenderer, str]:
        """Return the view's renderer."""
        renderer = next(iter(renderers))
        return renderer, renderer.media_type
