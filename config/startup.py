"""Makes web, Celery and beat refuse a wrong configuration, as the commands of ``manage.py`` do."""

from collections.abc import Collection

from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from sweepapi.startup.needs import missing


def refuse_wrong_configuration(*, needed: Collection[str]) -> None:
    """Run the system checks, except those that need the database, and look for what this process needs.

    Raises ``ImproperlyConfigured`` with all errors.
    """
    errors = [problem.msg for problem in run_checks() if problem.is_serious() and not problem.is_silenced()]
    errors += missing(needed)
    if errors:
        raise ImproperlyConfigured(" ".join(errors))
