"""The Celery application that web, worker and beat share."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# As aliases: named by the setting broker_transport instead, kombu would speak plain text to a rediss:// URL.
TRANSPORT_ALIASES.update(redis="sweepapi.broker:Transport", rediss="sweepapi.broker:Transport")

app = Celery("sweepapi")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
