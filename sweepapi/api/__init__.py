"""The manners of the HTTP API: envelope, errors, strict input, pagination and the OpenAPI document."""
