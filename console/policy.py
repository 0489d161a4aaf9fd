"""The Content-Security-Policy of the console's pages."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

# The look of the pages computes styles, and its templates' expressions are evaluated in the browser.
COMMON = (
    "default-src 'none'; img-src 'self' data:; font-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
)
OF_PAGES = COMMON + "script-src 'self' 'unsafe-eval'"
OF_PLAIN_PAGES = COMMON + "script-src 'self'"
LOGINS = ("/login/", "/logout/", "/reauthenticate/", "/factors/", "/password/", "/identity/", "/inactive/")
PLAIN = (*LOGINS, "/runbook/")  # what evaluates nothing


class ContentSecurityPolicyMiddleware:
    """Says to the browser that scripts come from files of ours alone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_login = request.path.startswith(LOGINS)
        policy = OF_PLAIN_PAGES if request.path.startswith(PLAIN) else OF_PAGES
        issuer = getattr(settings, "OIDC_ISSUER", "")  # of the console's own settings
        if is_login and issuer:  # to which the form of its button leads
            policy = policy.replace("form-action 'self'", f"form-action 'self' {_origin(issuer)}")
        response.headers["Content-Security-Policy"] = policy
        return response


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
