"""Describes the API key in the OpenAPI document; imported when the app is ready, after DRF's views."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from partners.authentication import ApiKeyAuthentication


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Registers itself with drf-spectacular when it is defined."""

    target_class = ApiKeyAuthentication
    name = "apiKey"

    def get_security_requirement(self, auto_schema: Any) -> dict[str, list[str]]:  # noqa: ANN401 drf-spectacular's own
        """Return the scope that the operation needs, which OpenAPI 3.1 allows for keys as well."""
        scope = auto_schema.view.scopes[auto_schema.view.action]
        return {self.name: [] if scope is None else [scope]}

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:  # noqa: ARG002 drf-spectacular's signature
        return {
            "type": "apiKey",
            "in": "header",
            "name": "x-api-key",
            "description": "swp_<live|test>_<keyId>_<secret>, issued to your partner account and shown once.",
        }
