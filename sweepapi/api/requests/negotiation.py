"""Chooses what an answer is rendered as by the Accept header, and the parser by the body's Content-Type."""

import re
from collections.abc import Iterable, Mapping

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

PROBLEM_JSON = "application/problem+json"  # RFC 9457
_QUALITY = re.compile(r"q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)", re.ASCII)


class AcceptNegotiation(BaseContentNegotiation):
    """Content negotiation of RFC 9110: quality first, then the order in which the view lists its renderers."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """Return None, which DRF answers with 415, for any other Content-Type. Its parameters do not matter."""
        media_type = (request.content_type or "").split(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002 DRF's signature
    ) -> tuple[BaseRenderer, str]:
        """Return the preferred renderer; raise NotAcceptable if none is accepted. A missing header accepts all.

        A header that names only the form of failures says nothing of successes.
        """
        accepted = _media_ranges(request.headers.get("Accept", "").strip() or "*/*")
        if accepted.keys() == {PROBLEM_JSON} and accepted[PROBLEM_JSON]:
            accepted = {"*/*": 1.0}
        renderer = max(renderers, key=lambda offered: _quality(offered.media_type, accepted))
        if not _quality(renderer.media_type, accepted):
            raise NotAcceptable
        return renderer, renderer.media_type


def accepts_problems(header: str) -> bool:
    """Whether failures are to be problem details: named by the Accept header, and at least as welcome as JSON."""
    accepted = _media_ranges(header)
    quality = accepted.get(PROBLEM_JSON, 0.0)
    return quality > 0 and quality >= accepted.get("application/json", 0.0)


def accepts_gzip(header: str) -> bool:
    """Whether an answer may be compressed: gzip is named by the Accept-Encoding header, or everything is."""
    accepted = _media_ranges(header)
    return accepted.get("gzip", accepted.get("*", 0.0)) > 0


def _media_ranges(header: str) -> dict[str, float]:
    """Return the quality of each range; other parameters do not matter, because no renderer has variants."""
    ranges: dict[str, float] = {}
    for element in header.lower().split(","):
        media_range, *parameters = (part.strip() for part in element.split(";"))
        stated = (_QUALITY.fullmatch(parameter) for parameter in parameters)
        quality = next((float(match[1]) for match in stated if match), 1.0)
        ranges[media_range] = max(quality, ranges.get(media_range, 0.0))
    return ranges


def _quality(media_type: str, accepted: Mapping[str, float]) -> float:
    """Return the quality that the most specific matching range gives, 0 if none matches."""
    main_type = media_type.partition("/")[0]
    candidates = (media_type, f"{main_type}/*", "*/*")
    return next((accepted[candidate] for candidate in candidates if candidate in accepted), 0.0)
