"""The WSGI entry point of the console that gunicorn serves."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.startup import refuse_wrong_configuration
from sweepapi.startup.needs import CONSOLE

os.environ["DJANGO_SETTINGS_MODULE"] = "config.console.settings"  # the package has named the API's by now

application = get_wsgi_application()
refuse_wrong_configuration(needed=CONSOLE)
if settings.HEALTH_BIND:
    import_module("sweeps.probes").start("console")
