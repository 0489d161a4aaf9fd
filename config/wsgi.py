"""The WSGI entry point that gunicorn serves."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.startup import refuse_wrong_configuration
from sweepapi.startup.needs import WEB

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
# If this raises, gunicorn's worker fails to boot, and the master exits instead of starting another.
refuse_wrong_configuration(needed=WEB)
import_module("sweepapi.api.openapi.document").document()  # before the first request, which would wait for it
if settings.HEALTH_BIND:
    import_module("sweeps.probes").start("web")  # it needs the models, which are loaded by now
