"""The two modes of keys and of everything that they reach: ``test`` on sandbox networks, ``live`` on all others.

A sweep, an entry or a message has the mode of its network, so no row stores it.
"""

from django.db.models import Q, TextChoices

from sweepapi import networks


class Mode(TextChoices):
    LIVE = "live"
    TEST = "test"


def mode_of(network: str) -> Mode:
    """Return the mode of a network; one that its file no longer names is live."""
    return Mode.TEST if network in networks.current().sandbox else Mode.LIVE


def in_mode(mode: Mode, field: str = "network") -> Q:
    """Return the condition that a row's network, which this field names, has the mode."""
    sandbox = Q(**{f"{field}__in": sorted(networks.current().sandbox)})
    return sandbox if mode is Mode.TEST else ~sandbox
