"""What a caller with a key, or without one, can do to the service on purpose."""
