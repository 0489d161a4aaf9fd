"""What all endpoints of the HTTP API share: envelope, errors, strict input, pagination and the OpenAPI document."""
