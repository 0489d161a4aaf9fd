"""Pages of logins that the library links and this project does not have."""

from django.http import Http404, HttpRequest, HttpResponse


def no_signup(_request: HttpRequest) -> HttpResponse:
    """Accounts are made by operators who may, and by no one for themselves."""
    raise Http404
