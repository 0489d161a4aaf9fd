"""The pages of the console for requests that fail: what happened, and the id under which the log tells more."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from structlog.contextvars import get_contextvars

SENTENCES = {
    HTTPStatus.BAD_REQUEST: "The console does not understand this request.",
    HTTPStatus.FORBIDDEN: "Your role does not reach this page, or its form was too old: reload it, and send it again.",
    HTTPStatus.NOT_FOUND: "The console has no page at this address.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something failed that the console does not expect. Nothing was half done.",
}


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 Django's signature
    return _page(request, HTTPStatus.BAD_REQUEST)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 as above
    return _page(request, HTTPStatus.FORBIDDEN)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 as above
    return _page(request, HTTPStatus.NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    return _page(request, HTTPStatus.INTERNAL_SERVER_ERROR)


def _page(request: HttpRequest, status: HTTPStatus) -> HttpResponse:
    context = {
        "title": status.phrase,
        "sentence": SENTENCES[status],
        "request_id": get_contextvars().get("request_id", ""),
    }
    return render(request, "console/failure.html", context, status=status)
