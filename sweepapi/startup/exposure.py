"""Development switches, which are for this machine only: where others can reach the service they are refused."""

from collections.abc import Collection, Iterator
from ipaddress import ip_address

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

SWITCHES = ("DEBUG", "INSECURE_HTTP", "WEBHOOK_ALLOW_PRIVATE")


def problems() -> Iterator[str]:
    """Yield a sentence for each switch that is on although other hosts' names are served, and if all names are."""
    if "*" in settings.ALLOWED_HOSTS:
        yield "ALLOWED_HOSTS must name the hosts that the API is served under, and not all with *."
    is_local = settings.ALLOWED_HOSTS and all(map(is_loopback, settings.ALLOWED_HOSTS))
    if not is_local:
        for switch in _switched_on():
            yield f"{switch} is for local development: with it, ALLOWED_HOSTS must name loopback alone, as localhost."


def refuse_public_bind(addresses: Collection[object]) -> None:
    """Raise ``ImproperlyConfigured`` if a switch is on and others reach an address, as gunicorn spells it."""
    hosts = [str(address[0]) for address in addresses if isinstance(address, tuple)]  # the others are on this machine
    if not all(map(is_loopback, hosts)):
        for switch in _switched_on():
            raise ImproperlyConfigured(f"{switch} is for local development: with it, BIND must be on loopback.")


def is_loopback(host: str) -> bool:
    """Whether a name or an address, in brackets or without, leads to this machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _switched_on() -> Iterator[str]:
    return (switch for switch in SWITCHES if getattr(settings, switch))
