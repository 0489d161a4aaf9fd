"""Decides who may call a view."""

from rest_framework.permissions import BasePermission
from rest_framework.request import Request


class HasPartner(BasePermission):
    """Allows requests whose API key belongs to a partner; DRF answers the rest with NotAuthenticated."""

    def has_permission(self, request: Request, view: object) -> bool:  # noqa: ARG002 DRF's signature
        """Return whether an API key was accepted."""
        return request.auth is not None
