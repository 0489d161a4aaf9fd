"""The EVM chain library, in plain Python without Django or Celery."""
