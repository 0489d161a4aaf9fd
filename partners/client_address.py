"""Which address a request comes from, behind proxies that we trust, and whether a key may be used from there."""

from collections.abc import Callable, Collection
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse

Address = IPv4Address | IPv6Address

MAX_NETWORK_LENGTH = 43  # 39 characters of an IPv6 address, and its prefix
_MAPPED_PREFIX = 96  # bits of an IPv6 address before an IPv4 address that is mapped to it


def client_address(request: HttpRequest) -> Address | None:
    """Return the address of the caller; None if no proxy that we trust says it.

    Each proxy appends the address that it was called from to X-Forwarded-For. What is left of the first address
    that isn't one of our proxies, read from the right, is the caller's own claim.
    """
    hops = [*request.headers.get("X-Forwarded-For", "").split(","), request.META.get("REMOTE_ADDR", "")]
    address = None
    for hop in reversed(hops):
        address = _address(hop.strip())
        if address is None or not is_in(address, settings.TRUSTED_PROXIES):
            break
    return address


class ForwardedHeadersMiddleware:
    """Forgets what a peer that is none of our proxies says about where a request came from, and how."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request as the peer's own, unless a proxy forwards it."""
        peer = _address(request.META.get("REMOTE_ADDR", ""))
        if peer is None or not is_in(peer, settings.TRUSTED_PROXIES):
            for name in [name for name in request.META if name.startswith("HTTP_X_FORWARDED_")]:
                del request.META[name]
        return self.get_response(request)


def is_in(address: Address, networks: Collection[str]) -> bool:
    """Return whether one of the networks, in CIDR notation, contains the address."""
    return any(address in parsed_network(text) for text in networks)


@lru_cache(maxsize=4096)
def parsed_network(text: str) -> IPv4Network | IPv6Network:
    """Return the network that this text is in CIDR notation; a single address is one, too. Raises ``ValueError``.

    One of IPv4 addresses that are mapped to IPv6 is that of the former, as addresses are.
    """
    network = ip_network(text)
    if isinstance(network, IPv6Network) and network.prefixlen >= _MAPPED_PREFIX:
        mapped = network.network_address.ipv4_mapped
        if mapped is not None:
            return IPv4Network((mapped, network.prefixlen - _MAPPED_PREFIX))
    return network


def validate_network(text: str) -> None:
    """Raise ``ValidationError`` for what is not a network."""
    try:
        parsed_network(text)
    except ValueError as error:
        raise ValidationError(str(error)) from error


def _address(text: str) -> Address | None:
    """Return the address, for an IPv4 address that is mapped to IPv6 the former; None if the text is not one."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
