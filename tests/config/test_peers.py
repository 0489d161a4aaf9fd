"""What a peer's headers say of where the application is mounted, and how the request came, is not believed."""

from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http import wsgi
from gunicorn.http.parser import RequestParser

from config import gunicorn


def environment(*headers: str, peer: Any) -> dict[str, Any]:
    """Return what an application is given of a request from this peer."""
    settings = Config()
    for name in ("forwarded_allow_ips", "forwarder_headers", "secure_scheme_headers"):
        settings.set(name, getattr(gunicorn, name))
    received = "\r\n".join(["GET /v2/status HTTP/1.1", "Host: api.example", *headers, "", ""]).encode()
    request = next(RequestParser(settings, iter([received]), peer))
    _, environ = wsgi.create(request, None, peer, ("127.0.0.1", 8000), settings)
    return dict(environ)


@pytest.mark.parametrize("peer", [("127.0.0.1", 4000), ("::1", 4000, 0, 0), ("192.0.2.1", 4000), "", b""])
def test_no_peer_says_where_the_application_is_mounted_or_that_it_came_by_tls(peer: Any) -> None:
    said = ["SCRIPT_NAME: /v2", "Script-Name: /v2", "PATH_INFO: /admin/", "X-Forwarded-Proto: https"]
    environ = environment(*said, "X-Forwarded-Ssl: on", "X-Forwarded-Protocol: ssl", peer=peer)
    assert (environ["SCRIPT_NAME"], environ["PATH_INFO"]) == ("", "/v2/status")
    assert environ["wsgi.url_scheme"] == "http"
