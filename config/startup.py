"""Makes web, Celery and beat refuse a wrong configuration, as the commands of ``manage.py`` do."""

from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured


def refuse_wrong_configuration() -> None:
    """Run the system checks, except those that need the database; raises ``ImproperlyConfigured`` with all errors."""
    errors = [problem.msg for problem in run_checks() if problem.is_serious() and not problem.is_silenced()]
    if errors:
        raise ImproperlyConfigured(" ".join(errors))
