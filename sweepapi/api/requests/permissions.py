"""Decides who may call a view."""

from collections.abc import Mapping
from typing import Any, Protocol

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from sweepapi.errors import FieldError, InsufficientScope


class ScopedView(Protocol):
    """A view that says which scope each of its actions needs; None is for every key."""

    scopes: Mapping[str, str | None]
    action: str | None  # None, or "metadata" for OPTIONS: the view does not have the method, which is answered later


class HasScope(BasePermission):
    """Allows requests with an API key that has the scope; DRF answers those without a key with NotAuthenticated."""

    def has_permission(self, request: Request, view: ScopedView) -> bool:  # type: ignore[override]  # views of ours
        """Return whether an API key was accepted; raise InsufficientScope if it may not do this."""
        requester: Any = request.auth
        if requester is None:
            return False
        if view.action in (None, "metadata"):
            return True
        scope = view.scopes[view.action]
        if scope is not None and scope not in requester.scopes:
            raise InsufficientScope(details=[FieldError("x-api-key", "required_scope", scope)])
        return True
