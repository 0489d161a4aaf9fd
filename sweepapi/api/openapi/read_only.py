"""Views that only show something: every other method is refused in the API's words."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from sweepapi.api.errors.handlers import error_response
from sweepapi.errors import MethodNotAllowed

Params = ParamSpec("Params")
View = Callable[Concatenate[HttpRequest, Params], HttpResponse]


def read_only(view: View[Params]) -> View[Params]:
    """Refuse all but GET and HEAD."""

    @csrf_exempt  # a POST gets our 405, not Django's page about CSRF tokens
    @wraps(view)
    def checked(request: HttpRequest, /, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
        if request.method not in {"GET", "HEAD"}:
            return error_response(request, MethodNotAllowed())
        return view(request, *args, **kwargs)

    return checked
