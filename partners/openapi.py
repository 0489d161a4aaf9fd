"""Tells the OpenAPI document about the API key; loaded when the app is ready, since DRF's views must come first."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from partners.authentication import ApiKeyAuthentication


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes the x-api-key header; drf-spectacular finds this class by itself."""

    target_class = ApiKeyAuthentication
    name = "apiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:  # noqa: ARG002 drf-spectacular's
        """Return the OpenAPI security scheme."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "x-api-key",
            "description": "swp_<live|test>_<keyId>_<secret>, issued to your partner account and shown once.",
        }
