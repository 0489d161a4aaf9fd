"""The code that all endpoints share: envelope, errors, strict input, pagination and the OpenAPI document."""
