"""Sends unexpected errors to Sentry where SENTRY_DSN is set: what was raised and where, and nothing that was passed.

Local variables hold keys, bodies and addresses, and so do requests; of these only method and path are sent.
"""

from typing import Any

import sentry_sdk
from django.conf import settings


def start() -> None:
    """Report from now on, if SENTRY_DSN says where."""
    if not settings.SENTRY_DSN:
        return
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=settings.SPECTACULAR_SETTINGS["VERSION"],
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=without_request,
    )


def without_request(event: Any, _hint: Any) -> Any:  # noqa: ANN401 Sentry's own types
    """Return an event without what its request carried."""
    request = event.pop("request", {})
    kept = {"method": request.get("method"), "url": str(request.get("url", "")).partition("?")[0]}
    event.pop("user", None)
    event.pop("extra", None)
    return {**event, "request": kept} if request else event
