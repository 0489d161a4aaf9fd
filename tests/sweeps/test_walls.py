"""Boundaries that import contracts can't express: words of the rails, who writes a status, errors of HTTP."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

APPS = ("console", "sweeps", "indexer", "ledger", "partners")
FAMILIES = ("sweeps/rails/evm", "sweeps/rails/solana")  # with the rails of each
# As words or parts of identifiers: PermitNonces, legs_of, MAX_LEGS; but not "delegate" or "legal".
RAIL_WORDS = re.compile(r"(?i:nonce|permit2)|(?<![A-Za-z])legs?(?![a-z])|Legs?(?![a-z])|(?<![A-Z])LEGS?(?![A-Z])")
NAMES_OF_JSON_RPC = "sweeps/sandbox/rpc_params.py"  # where a transaction has a nonce
NAME_FOR_PARTNERS = "onLegFailure"  # a field of build requests
SWEEP_NAMES = {"sweep", "locked"}
HTTP_ERRORS = re.compile(
    r"rest_framework\.exceptions|django\.(http\.(response\.)?Http404|shortcuts\.get_|"
    r"core\.exceptions\.(PermissionDenied|BadRequest|Suspicious))"
)
HTTP_FILES = re.compile(r"^console/|/(views|serializers|admin)(\.py|/)")  # the console is pages alone


def sources(*apps: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of every source file of these apps but migrations."""
    for app in apps:
        for file in sorted(Path(settings.BASE_DIR / app).rglob("*.py")):
            if "migrations" not in file.parts:
                yield file.relative_to(settings.BASE_DIR).as_posix(), file.read_text(encoding="utf-8")


def rail_words() -> Iterator[str]:
    """Yield each line that contains a word of the rails, as file:line."""
    for path, text in sources(*APPS):
        for number, line in enumerate(text.splitlines(), start=1):
            if RAIL_WORDS.search(line.replace(NAME_FOR_PARTNERS, "")):
                yield f"{path}:{number}"


def status_writers() -> Iterator[str]:
    """Yield each assignment to the status of a sweep, as file:line."""
    for path, text in sources("sweeps", "indexer"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and node.attr == "status" and isinstance(node.ctx, ast.Store):
                owner = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
                if owner in SWEEP_NAMES:
                    yield f"{path}:{node.lineno}"


def imported(text: str) -> Iterator[str]:
    """Yield the full name of everything that a module imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            origin = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield from (origin + alias.name for alias in node.names)


def test_only_the_rails_use_the_words_nonce_leg_and_permit2() -> None:
    found = list(rail_words())
    for family in FAMILIES:
        assert any(place.startswith(family) for place in found), "the search finds the words where they are used"
    assert [place for place in found if not place.startswith((*FAMILIES, NAMES_OF_JSON_RPC))] == []


def test_only_transitions_assigns_the_status_of_a_sweep() -> None:
    writers = {place.partition(":")[0] for place in status_writers()}
    assert writers == {"sweeps/store/transitions.py"}, list(status_writers())


def test_authorizations_are_signed_behind_the_last_guard_only() -> None:
    signing = {path for path, text in sources(*APPS) if re.search(r"signer\.sign\b", text)}
    assert signing == {"sweeps/rails/evm_v5/issuing.py"}


def test_only_views_serializers_and_the_admin_know_errors_of_http() -> None:
    found = {path for path, text in sources(*APPS) if any(HTTP_ERRORS.match(name) for name in imported(text))}
    assert "sweeps/views/serializers/requests.py" in found, "the search finds them where they are used"
    assert {path for path in found if not HTTP_FILES.search(path)} == set()
