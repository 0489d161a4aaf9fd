"""Who may call a view."""

from rest_framework.permissions import BasePermission
from rest_framework.request import Request


class HasPartner(BasePermission):
    """Lets in requests whose API key named a partner; DRF answers the rest with MissingApiKey."""

    def has_permission(self, request: Request, view: object) -> bool:  # noqa: ARG002 DRF's signature
        """Tell whether an API key was accepted."""
        return request.auth is not None
