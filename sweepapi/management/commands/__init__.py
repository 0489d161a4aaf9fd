"""Commands for operations."""
