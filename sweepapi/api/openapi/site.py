"""Serves the documentation that ``make docs`` builds into files, and says so while there is none."""

import json
import mimetypes
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers

from sweepapi.api.openapi.read_only import read_only
from sweepapi.api.requests.negotiation import accepts_gzip

FOLDER = Path(settings.BASE_DIR, "var", "docs")
# What the build writes last: the hashes of the scripts within its pages.
SCRIPT_HASHES = "script-hashes.json"
_YEAR = 365 * 24 * 3600
_IMMUTABLE = "_astro/"  # whose names change with their contents
# Code is colored by style attributes, and the search runs in WebAssembly.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Site:
    """The files of one build, by path, and the policy under which its pages run."""

    files: dict[str, Path]
    policy: str


@read_only
def site(request: HttpRequest, path: str = "") -> HttpResponse:
    """Show a page of the documentation, or another file of it."""
    built = built_site()
    if built is None:
        return _without_site(request, path)
    name = f"{path}index.html" if not path or path.endswith("/") else path
    if name not in built.files:
        if f"{path}/index.html" in built.files:
            return HttpResponseRedirect(f"{request.path}/")
        raise Http404
    return _file(request, built, name)


def built_site() -> Site | None:
    """Return the newest build; None if there is none."""
    try:
        built_at = (FOLDER / SCRIPT_HASHES).stat().st_mtime_ns
    except FileNotFoundError:
        return None
    return _read(FOLDER, built_at)


@lru_cache(maxsize=1)
def _read(folder: Path, _built_at: int) -> Site:
    hashes = json.loads((folder / SCRIPT_HASHES).read_text(encoding="utf-8"))
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return Site(files, _CONTENT_SECURITY_POLICY.format(hashes=" ".join(f"'{one}'" for one in hashes)))


def _file(request: HttpRequest, built: Site, name: str) -> HttpResponse:
    zipped = built.files.get(f"{name}.gz")
    is_zipped = zipped is not None and accepts_gzip(request.headers.get("Accept-Encoding", ""))
    content = (zipped if zipped is not None and is_zipped else built.files[name]).read_bytes()
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    response = HttpResponse(content, content_type=f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
    if is_zipped:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Security-Policy"] = built.policy
    patch_cache_control(response, public=True, max_age=_YEAR if name.startswith(_IMMUTABLE) else 300)
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def _without_site(request: HttpRequest, path: str) -> HttpResponse:
    if path:
        raise Http404
    response = render(request, "sweepapi/no_site.html")
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY.format(hashes="")
    patch_cache_control(response, no_store=True)
    return response
