"""What users do under chaos: each a story that is played against the service."""
