"""What the service knows about EVM chains, in plain Python: no Django, no Celery."""
